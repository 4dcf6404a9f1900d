#!/usr/bin/env python3
"""Write unicode17.py, what the reference implementation knows of characters.

usage: generate_unicode.py [DIRECTORY] > unicode17.py

The files of the Unicode Character Database are read from a directory, by default
/usr/share/unicode, where Debian's package unicode-data has them.  This shares
nothing with src/text/generate_unicode.pl.
"""

import re
import sys

DIRECTORY = sys.argv[1] if len(sys.argv) > 1 else '/usr/share/unicode'

# written without spaces between words
WITHOUT_SPACES = """Ahom Balinese Javanese Kawi Khitan_Small_Script Khmer Lao Myanmar
    New_Tai_Lue Nushu Tai_Le Tai_Tham Tai_Viet Tangut Thai Yi""".split()


def lines(name):
    with open('%s/%s' % (DIRECTORY, name), encoding='utf-8') as file:
        for line in file:
            fields = [f.strip() for f in line.split('#')[0].split(';')]
            if len(fields) > 1:
                yield fields


def hexadecimal(text):
    return [int(c, 16) for c in text.split()]


def codes(*values, file):
    """All code points that have one of the values."""
    result = set()
    for fields in lines(file):
        if fields[1] in values:
            first, _, last = fields[0].partition('..')
            result.update(range(int(first, 16), int(last or first, 16) + 1))
    return result


def ranges(of):
    """Code points as text: the first of each run and the last."""
    runs = []
    for code in sorted(of):
        if runs and code == runs[-1][1] + 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return ' '.join('%X' % a if a == b else '%X-%X' % (a, b) for a, b in runs)


def sequences(of):
    """Code points and what replaces them as text: code=codes, without the code where it follows
    the one before, and first-last/step=code where the code grows with the code point."""
    items, last = [], None
    rest = sorted(of)
    while rest:
        code, codes = rest[0], of[rest[0]]
        run, step = 1, 1 if code + 1 in of else 2
        while (len(codes) == 1 and rest[run:run + 1] == [code + run * step] and
               of[rest[run]] == [codes[0] + run * step]):
            run += 1
        if run > 1:
            last = code + (run - 1) * step
            items.append('%X-%X%s=%X' % (code, last, '/2' if step == 2 else '', codes[0]))
        else:
            items.append(('' if code - 1 == last else '%X=' % code) + '+'.join('%X' % c for c in codes))
            last = code
        rest = rest[run:]
    return ' '.join(items)


def show(name, comment, text):
    print('\n# %s\n%s = """' % (comment, name))
    print(re.sub(r'(.{1,116})( |$)', r'    \1\n', text), end='"""\n')


def main():
    category, combining, decomposition = {}, {}, {}
    first = None
    for f in lines('UnicodeData.txt'):
        code = int(f[0], 16)
        if f[1].endswith(', First>'):
            first = code
            continue
        for c in range(first if f[1].endswith(', Last>') else code, code + 1):
            category[c] = f[2]
        combining.setdefault(f[3], set()).add(code)
        if f[5] and f[5][0] != '<':
            decomposition[code] = hexadecimal(f[5])

    ignorable = codes('Default_Ignorable_Code_Point', file='DerivedCoreProperties.txt')
    unassigned = set(range(0x110000)) - set(category)
    dropped = (codes('Noncharacter_Code_Point', 'Pattern_Syntax', file='PropList.txt') |
               codes('Extended_Pictographic', file='emoji/emoji-data.txt') |
               set(range(0x20A0, 0x20D0)))
    letters = unassigned - dropped
    ideographs = letters & (set(range(0x20000, 0x40000)) | set(range(0xF900, 0xFB00)))
    scripts = codes(*WITHOUT_SPACES, file='Scripts.txt')
    letters_of = {c for c in category if category[c][0] == 'L'}
    numbers = {c for c in category if category[c][0] == 'N'}
    digits = {c for c in category if category[c] == 'Nd'}
    marks = {c for c in category if category[c][0] == 'M'}
    excluded = codes('Full_Composition_Exclusion', file='DerivedNormalizationProps.txt')

    with open(DIRECTORY + '/Scripts.txt', encoding='utf-8') as file:
        version = re.search(r'[0-9.]+[0-9]', file.readline())[0]
    print('"""What Unicode %s says of characters.  Written by generate_unicode.py.\n\n'
          'Of the data: Copyright (c) 1991-2025 Unicode, Inc.; see LICENSE.unicode in src/text.\n"""' % version)
    show('IGNORABLE', 'Default_Ignorable_Code_Point', ranges(ignorable))
    show('KEPT', 'letters, marks and numbers, and what is unassigned and taken for a letter',
         ranges((letters_of | marks | numbers | letters) - ignorable))
    show('IDEOGRAPHS', 'of the script Han, or unassigned and taken for one',
         ranges(codes('Han', file='Scripts.txt') & (letters_of | numbers) | ideographs))
    show('UNSPACED', 'letters of scripts without spaces', ranges((scripts & letters_of) - ignorable))
    show('DIGITS', 'of general category Nd: ten by ten in the order of their values', ranges(digits))
    show('UNASSIGNED', 'general category Cn', ranges(unassigned))
    show('COMBINING', 'combining classes: class=code points',
         ';'.join('%s=%s' % (c, ranges(combining[c])) for c in sorted(combining, key=int) if c != '0'))
    show('DECOMPOSITIONS', 'canonical ones, one step', sequences(decomposition))
    show('EXCLUDED', 'of these, what is not composed again', ranges(excluded & set(decomposition)))
    show('FOLDINGS', 'case foldings of statuses C and F',
         sequences({int(f[0], 16): hexadecimal(f[2]) for f in lines('CaseFolding.txt') if f[1] in 'CF'}))


if __name__ == '__main__':
    main()
