"""Properties of characters, and their normalization.

The tables are those of unicode17, not Python's own, whose version of Unicode differs
from one Python to the next.
"""

import re

import unicode17 as tables


def ranges(text):
    for item in text.split():
        first, _, last = item.partition('-')
        yield int(first, 16), int(last or first, 16)


def matcher(text):
    return re.compile('[%s]' % ''.join('\\U%08x-\\U%08x' % r for r in ranges(text))).match


def sequences(text):
    """Code points and what they are replaced by, as sequences() of generate_unicode has written them."""
    code = 0
    for item in text.split():
        run, _, codes = item.rpartition('=')
        first, last, step = re.fullmatch('([^-]*)-?([^/]*)/?(.*)', run).groups()
        begin = int(first, 16) if first else code + 1
        for code in range(begin, int(last or '%X' % begin, 16) + 1, int(step or 1)):
            yield chr(code), ''.join(chr(int(c, 16) + code - begin) for c in codes.split('+'))


is_ignorable = matcher(tables.IGNORABLE)
is_kept = matcher(tables.KEPT)
is_ideograph = matcher(tables.IDEOGRAPHS)
is_unspaced = matcher(tables.UNSPACED)
DIGITS = {chr(code): (code - first) % 10
          for first, last in ranges(tables.DIGITS) for code in range(first, last + 1)}

COMBINING = {chr(code): int(number)
             for number, _, codes in (c.partition('=') for c in tables.COMBINING.split(';'))
             for first, last in ranges(codes) for code in range(first, last + 1)}
DECOMPOSITIONS = dict(sequences(tables.DECOMPOSITIONS))
FOLDINGS = dict(sequences(tables.FOLDINGS))
COMPOSITIONS = {pair: c for c, pair in DECOMPOSITIONS.items()
                if not any(a <= ord(c) <= b for a, b in ranges(tables.EXCLUDED))}

# Hangul: leading consonants, vowels and trailing consonants, of which there may be none
for i in range(19 * 21):
    DECOMPOSITIONS[chr(0xAC00 + 28 * i)] = chr(0x1100 + i // 21) + chr(0x1161 + i % 21)
    COMPOSITIONS[DECOMPOSITIONS[chr(0xAC00 + 28 * i)]] = chr(0xAC00 + 28 * i)
    for j in range(1, 28):
        pair = chr(0xAC00 + 28 * i) + chr(0x11A7 + j)
        DECOMPOSITIONS[chr(0xAC00 + 28 * i + j)] = pair
        COMPOSITIONS[pair] = chr(0xAC00 + 28 * i + j)


to_decomposed = str.maketrans(DECOMPOSITIONS)
to_folded = str.maketrans(FOLDINGS)
several_marks = re.compile('[%s]{2,}' % ''.join(COMBINING))


def decompose(text):
    """Normalization form D."""
    while True:
        further = text.translate(to_decomposed)
        if further == text:
            break
        text = further
    return several_marks.sub(lambda marks: ''.join(sorted(marks[0], key=COMBINING.get)), text)


def compose(text):
    """Canonical composition of a text in normalization form D."""
    result = []
    starter = None
    for c in text:
        number = COMBINING.get(c, 0)
        if starter is not None:
            last = 0 if starter == len(result) - 1 else COMBINING.get(result[-1], 0)
            adjacent = starter == len(result) - 1
            pair = COMPOSITIONS.get(result[starter] + c)
            if pair and (adjacent or last < number):
                result[starter] = pair
                continue
        result.append(c)
        if number == 0:
            starter = len(result) - 1
    return ''.join(result)


def fold(text):
    """NFC(fold(NFD(text)))."""
    if text.isascii():
        return text.lower()
    return compose(decompose(decompose(text).translate(to_folded)))
