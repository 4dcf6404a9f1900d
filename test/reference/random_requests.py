#!/usr/bin/env python3
"""Random requests for simhash_reference.py, the same for the same seed.

usage: random_requests.py NUMBER SEED > requests

The first NUMBER are texts over all code points: pieces of one
script after the other, combining marks in any order, Hangul by parts, characters
that fold to several, invisible ones.  A fifth as many follow of each other form,
and as many of all of these for simhash_minhash, and a fifth of that for
simhash_minhash_bits and for simhash_bands.
"""

import json
import random
import sys
import unicodedata

import unicode17
from characters import COMBINING, DECOMPOSITIONS, DIGITS, FOLDINGS, is_ideograph, is_kept, ranges


def codes(text):
    return {code for first, last in ranges(text) for code in range(first, last + 1)}


UNASSIGNED = codes(unicode17.UNASSIGNED)
KNOWN = [code for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]
ASSIGNED = [chr(code) for code in KNOWN if code not in UNASSIGNED]
LETTERS = [c for c in ASSIGNED if is_kept(c)]
BLOCKS = {}
for c in ASSIGNED:
    if is_kept(c) or not 0xE000 <= ord(c) < 0xF900 and ord(c) < 0xF0000:
        BLOCKS.setdefault(ord(c) >> 7, []).append(c)
# as many small scripts as parts of the great ones
SMALL = [b for b in BLOCKS if not is_ideograph(BLOCKS[b][-1]) and
         not 0xAC00 <= ord(BLOCKS[b][-1]) < 0xD7A4 and
         not 0x17000 <= ord(BLOCKS[b][-1]) < 0x19000]
GREAT = [b for b in BLOCKS if b not in set(SMALL)]
MARKS = list(COMBINING)
COMMON_MARKS = [chr(code) for code in range(0x300, 0x370)]
COMPOSED = [c for c in LETTERS if c in DECOMPOSITIONS]
FOLDING = list(FOLDINGS)
EXPANDING = [c for c in FOLDING if len(FOLDINGS[c]) > 1]
UNSPACED = [chr(code) for low, high in ranges(unicode17.UNSPACED)
            for code in range(low, min(high, low + 100) + 1)]
INVISIBLE = [chr(code) for low, high in ranges(unicode17.IGNORABLE)
             for code in range(low, min(high, low + 300) + 1)]
ZEROS = [c for c in DIGITS if DIGITS[c] == 0]
SEPARATORS = [' ', '-', '.', '\n', '\t', '\u3000', '\u2028', '\ue000', '\ufffd',
              '\uffff', '\U0010ffff', '\u0378', '"', '\\', '|', '\x7f', '\u20ac']


def script(r):
    block = BLOCKS[r.choice(GREAT if r.random() < 0.2 else SMALL)]
    return ''.join(r.choices(block, k=r.randint(1, 12)))


def unspaced(r):
    """Letters and marks of scripts without spaces."""
    start = r.randrange(len(UNSPACED) - 60)
    return ''.join(r.choices(UNSPACED[start:start + 60] + MARKS[:3], k=r.randint(2, 30)))


def sequence(r):
    """A base and marks in any order."""
    base = r.choice([r.choice(COMPOSED), r.choice(LETTERS), chr(r.randint(97, 122))])
    marks = r.choices(r.choice([MARKS, COMMON_MARKS]), k=r.randint(1, 5))
    if r.random() < 0.2:
        marks.append('\u0345')
    r.shuffle(marks)
    return base + ''.join(marks)


def hangul(r):
    kinds = [(0x1100, 0x115F), (0x1160, 0x11A7), (0x11A7, 0x11FF), (0xAC00, 0xD7A3),
             (0xA960, 0xA97C), (0xD7B0, 0xD7C6), (0xD7CB, 0xD7FB)]
    if r.random() < 0.6:
        kinds = kinds[:3] if r.random() < 0.5 else [kinds[3], kinds[2]]
        return ''.join(chr(r.randint(*kind)) for kind in kinds)
    return ''.join(chr(r.randint(*r.choice(kinds))) for i in range(r.randint(1, 6)))


def latin(r):
    word = ''.join(r.choices('abcdeGHIß ıİſﬁ1', k=r.randint(1, 15)))
    return r.choice([str.upper, str.lower, str.title, str.casefold, str])(word)


PIECES = [
    script, script, script, unspaced, sequence, sequence, hangul, latin,
    lambda r: r.choice(COMPOSED),
    lambda r: r.choice(FOLDING),
    lambda r: r.choice(EXPANDING),
    lambda r: r.choice(INVISIBLE),
    lambda r: r.choice(SEPARATORS),
    lambda r: chr(r.choice(KNOWN)),
]


def text(r, most=12):
    pieces = [r.choice(PIECES)(r) for i in range(r.randint(0, most))]
    form = r.choice([None, None, None, 'NFC', 'NFD', 'NFKC', 'NFKD'])
    result = ''.join(pieces)
    return unicodedata.normalize(form, result) if form else result


def options(r):
    return {'shingle': r.choice([1, 2, 3, 4, 5, 7, 16, 63, 64, r.randint(1, 64)]),
            'unit': r.choice(['char', 'word'])}


def number(r):
    """Digits, mostly of one script, perhaps in a word."""
    zero = r.choice([48, 48, ord(r.choice(ZEROS))])
    digits = ''.join(chr(zero + r.choice([0, 0, 1, 7])) for i in range(r.randint(1, 4)))
    if r.random() < 0.2:
        digits += r.choice(list(DIGITS))
    return r.choice(['', '', 'rtx', '\u0e01', '\u200b']) + digits + r.choice(['', '', 'x', '\u4e00', '.5', '\u0301', '\u0e01'])


def titles(r):
    """Two titles of nearly the same words, with nearly the same numbers in any order."""
    words = [lexeme(r) for i in range(r.randint(0, 12))]
    numbers = [number(r) for i in range(r.choice([0, 1, 2, 3]))]
    others = [r.choice([n, n, n, '0' + n, number(r)]) for n in numbers]
    edited = [w for w in words if r.random() < 0.9] + [lexeme(r)] * (r.random() < 0.3)
    r.shuffle(others)
    return ' '.join(words + numbers), ' '.join(edited + others)


def weight(r):
    kind = r.randrange(7)
    if kind == 0:
        return r.choice([0.0, -0.0, 1.0, -1.0])
    if kind == 1:                       # halves of the unit of rounding
        return r.randint(-20, 20) * 2.0 ** -33
    if kind == 2:
        return r.randint(-3, 3) + r.choice([1, 3, 5]) * 2.0 ** -33
    if kind == 3:
        return r.choice([-1, 1]) * 2.0 ** r.uniform(-70, 62.9)
    if kind == 4:
        return float(r.randint(-5, 5))
    return r.uniform(-2, 2)


def weights(r, number):
    return r.choice([None, [weight(r) for i in range(number)]])


def lexeme(r):
    return ''.join(r.choices(LETTERS, k=r.randint(1, 8)))


def requests(r, number):
    for i in range(number):
        yield text(r) if r.random() < 0.4 else {
            'form': 'text', 'document': text(r), **options(r)}
    others = number // 5
    for i in range(others):
        yield {'form': 'shingles', 'document': text(r), **options(r)}
    for i in range(others):
        yield {'form': 'hash', 'document': text(r, r.choice([1, 2, 5, 12, 80]))}
    for i in range(others):
        size = r.choice([0, 1, 7, 8, 9, r.randint(0, 300), r.randint(0, 5000)])
        yield {'form': 'bytea', 'document': r.randbytes(size).hex(),
               'shingle': r.choice([8, 8, r.randint(1, 64)])}
    for i in range(others):
        yield {'form': 'tsvector', 'lexemes': {
            lexeme(r): r.sample(range(1, 16383), r.choice([0, 1, 2, r.randint(0, 255)]))
            for i in range(r.randint(0, 9))}}
    for i in range(others):
        size = r.randint(0, 12)
        yield {'form': 'text[]', 'features': [text(r, 3) for i in range(size)],
               'weights': weights(r, size)}
    for i in range(others):
        size = r.randint(0, 12)
        yield {'form': 'bigint[]', 'hashes':
               [str(r.randint(-1 << 63, (1 << 63) - 1)) for i in range(size)],
               'weights': weights(r, size)}
    for i in range(others):
        shared = text(r)
        yield {'form': 'jaccard', 'a': text(r, 3) + shared + text(r, 2),
               'b': text(r, 2) + shared + text(r, 3),
               'shingle': r.choice([1, 2, 3, 4]), 'unit': r.choice(['char', 'word'])}
    for i in range(others):
        shared = text(r)
        yield {'form': 'containment', 'a': shared + text(r, 2), 'b': text(r, 2) + shared,
               'shingle': r.choice([1, 2, 3, 4]), 'unit': r.choice(['char', 'word'])}
    for i in range(others):
        yield {'form': 'passage_keys', 'document': text(r, 40)}
    for i in range(others):
        # pieces that come again, in any order
        pieces = [text(r, 4) + ' ' for i in range(r.randint(1, 6))]
        yield {'form': r.choice(['passages', 'passage_words']), 'a': ''.join(r.choices(pieces, k=r.randint(0, 9))),
               'b': ''.join(r.choices(pieces, k=r.randint(0, 9))),
               'min_words': r.choice([1, 2, 3, 5, 8, 13, 13, 20, 64])}
    for i in range(others):
        a, b = titles(r)
        yield {'form': 'title_bands', 'document': a}
        yield {'form': 'similar_titles', 'a': a, 'b': b, 'similarity': r.choice([0.7, 0.75, 0.8, 0.9, 1])}


def minhash_requests(r, number):
    for i in range(number):
        yield {'form': 'text', 'document': text(r),
               **({} if r.random() < 0.4 else options(r))}
    others = number // 5
    for i in range(others):
        size = r.choice([0, 1, 7, 8, 9, r.randint(0, 300), r.randint(0, 5000)])
        yield {'form': 'bytea', 'document': r.randbytes(size).hex(),
               **r.choice([{}, {'shingle': r.randint(1, 64)}])}
    for i in range(others):
        yield {'form': 'tsvector', 'lexemes': {
            lexeme(r): r.choice([[], [1], [1, 2]]) for i in range(r.randint(0, 200))}}
    for i in range(others):
        yield {'form': 'text[]',
               'features': [text(r, 3) for i in range(r.randint(0, 12))]}
    for i in range(others):
        # large sets and small ones, and numbers that look alike
        size = r.choice([r.randint(0, 12), r.randint(0, 400), r.randint(0, 3000)])
        unit = r.choice([1, 1, 1 << r.randint(0, 63), 0x9E3779B97F4A7C15])
        most = r.choice([size, (1 << 64) - 1])
        yield {'form': 'bigint[]', 'hashes':
               [str((r.randint(0, most) * unit + (1 << 63)) % (1 << 64) - (1 << 63))
                for i in range(size)]}


def main():
    number, seed = map(int, sys.argv[1:])
    sys.stdout.reconfigure(encoding='utf-8')
    for request in requests(random.Random(seed), number):
        print(json.dumps(request, ensure_ascii=False))
    for request in minhash_requests(random.Random(seed), number):
        print(json.dumps({'function': 'minhash', **request}, ensure_ascii=False))
    r = random.Random(seed)
    for request in minhash_requests(r, number // 5):
        bits = r.choice([8, 64, 72, 128, 200, 256, 256, 576, 1024, 4096])
        print(json.dumps({'function': 'minhash_bits', 'bits': bits, **request},
                         ensure_ascii=False))
    for request in minhash_requests(r, number // 5):
        request.update(r.choice([{}, {'minima': r.randint(1, 8), 'bands': r.randint(1, 64)}]))
        print(json.dumps({'function': 'bands', **request}, ensure_ascii=False))


if __name__ == '__main__':
    main()
