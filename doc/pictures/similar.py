"""The way of a lookup by =~=: a text, its shingles, 64 bits, the index, the texts."""

import os
import sys

from data import TOP
from svg import Picture

sys.path.insert(0, os.path.join(TOP, 'test', 'reference'))
from simhash_reference import hashes_of, jaccard, minhash, shingles       # noqa: E402

QUERY = 'the bridge is closed until Monday; buses take the tunnel and the ferry runs all night'
STORED = (
    'UPDATE: The bridge is closed until Monday! Buses take the tunnel, and the ferry runs all night.',
    'The bridge is open until Monday. Buses take the tunnel, and the ferry runs all night.',
    'Thank you!',
)
NEAR, ALIKE = 10, 0.8                   # what =~= asks for
LEFT, CELL, HEIGHT, BITS = 24, 7, 20, 150


def fingerprint(text):
    return minhash(hashes_of(shingles(text, 2, 'word')))


def draw(file):
    query = fingerprint(QUERY)
    p = Picture(900, 466, 'How a text is looked up',
                'The runs of two words of a text give its fingerprint of 64 bits. The index returns the '
                'rows whose fingerprints differ in at most 10 bits. Their texts are compared with the '
                'one that is looked for, and those that share four fifths of their runs of three '
                'words are found.')

    def bits(y, fp):
        for one, differs, color in ((1, 0, 'f-0'), (0, 0, 'p-0'), (1, 1, 'f-hot'), (0, 1, 'p-hot')):
            cells = [(BITS + i * CELL, y, CELL - 1.2, HEIGHT) for i in range(64)
                     if (fp >> (63 - i) & 1, (fp ^ query) >> (63 - i) & 1) == (one, differs)]
            if cells:
                p.rects(cells, color + (' l-hot' if differs else ''))

    p.text(LEFT, 36, "*WHERE body =~= 'the bridge is closed until Monday; \u2026'*", 'mono f-ink', 16)

    p.text(LEFT, 76, '*1. The text*', size=15)
    p.text(BITS, 76, QUERY, size=14)

    p.text(LEFT, 116, '*2. Shingles*', size=15)
    p.text(LEFT, 134, 'two words each', 'f-dim', 13)
    x, y = BITS, 100
    for shingle in shingles(QUERY, 2, 'word'):
        width = 7.2 * len(shingle) + 14
        if x + width > 876:
            x, y = BITS, y + 28
        p.rect(x, y, width, 23, 'p-2', 4)
        p.text(x + width / 2, y + 16, shingle, 'f-2', 13, 'middle')
        x += width + 6

    top = 184
    p.text(LEFT, top + 15, '*3. Its 64 bits*', size=15)
    bits(top, query)
    p.text(BITS + 64 * CELL + 14, top + 15, 'a small edit changes few of them', 'f-dim', 14)

    p.text(LEFT, top + 56, '*4. The index* returns the rows that differ in at most %d bits.' % NEAR, size=15)
    p.text(LEFT, top + 76, '*5. Their texts are compared:* at least %s of the runs of three words must be '
           'shared.' % ALIKE, size=15)
    for n, text in enumerate(STORED):
        y = top + 104 + n * 58
        fp = fingerprint(text)
        distance, share = (fp ^ query).bit_count(), jaccard(QUERY, text)
        near = distance <= NEAR
        p.text(LEFT, y, text, 'f-ink' if near else 'f-dim', 14)
        bits(y + 8, fp)
        p.text(LEFT, y + 23, '%d bits differ' % distance, 'f-hot' if near else 'f-dim', 14)
        found = near and share >= ALIKE
        p.text(BITS + 64 * CELL + 14, y + 23,
               '*share %.2f: found*' % share if found else
               '*share %.2f: not found*' % share if near else 'too far: never read',
               'f-2' if found else 'f-hot' if near else 'f-dim', 15)
    p.save(file)
