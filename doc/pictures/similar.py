"""The way of a lookup by =~=: a text, its shingles, seven bands, the index, the texts."""

import os
import sys

from data import TOP
from svg import Picture

sys.path.insert(0, os.path.join(TOP, 'test', 'reference'))
from simhash_reference import bands, hashes_of, jaccard, shingles       # noqa: E402

QUERY = 'the bridge is closed until Monday; buses take the tunnel and the ferry runs all night'
STORED = (
    'UPDATE: The bridge is closed until Monday! Buses take the tunnel, and the ferry runs all night.',
    'The bridge is open until Monday. Buses take the tunnel, and the ferry runs all night.',
    'Thank you!',
)
NUMBER, NEAR, ALIKE = 7, 7, 0.8         # what =~= asks for
LEFT, WIDTH, HEIGHT, BANDS = 24, 68, 23, 150
RESULT = BANDS + NUMBER * (WIDTH + 6) + 10


def bands_of(text):
    """The prefix and the other bits of each band."""
    digits = bands(hashes_of(shingles(text, 2, 'word')), 3, NUMBER)
    return [(digits[i + 2:i + 8], int(digits[i + 8:i + 16], 16)) for i in range(0, len(digits), 16)]


def draw(file):
    query = bands_of(QUERY)
    p = Picture(900, 470, 'How a text is looked up',
                'The runs of two words of a text give its seven bands. The index returns the rows that '
                'share one of them. Their texts are compared with the one that is looked for, and '
                'those that share four fifths of their runs of three words are found.')

    def boxes(y, own, shared=()):
        for i, (prefix, _) in enumerate(own):
            x = BANDS + i * (WIDTH + 6)
            p.rect(x, y, WIDTH, HEIGHT, 'p-hot l-hot' if i in shared else 'p-0', 4)
            p.text(x + WIDTH / 2, y + 16, prefix, 'mono ' + ('f-hot' if i in shared else 'f-0'), 13, 'middle')

    p.text(LEFT, 36, "*WHERE body =~= 'the bridge is closed until Monday; …'*", 'mono f-ink', 16)

    p.text(LEFT, 76, '*1. The text*', size=15)
    p.text(BANDS, 76, QUERY, size=14)

    p.text(LEFT, 116, '*2. Shingles*', size=15)
    p.text(LEFT, 134, 'two words each', 'f-dim', 13)
    x, y = BANDS, 100
    for shingle in shingles(QUERY, 2, 'word'):
        width = 7.2 * len(shingle) + 14
        if x + width > 876:
            x, y = BANDS, y + 28
        p.rect(x, y, width, 23, 'p-2', 4)
        p.text(x + width / 2, y + 16, shingle, 'f-2', 13, 'middle')
        x += width + 6

    top = 184
    p.text(LEFT, top + 16, '*3. Bands*', size=15)
    boxes(top, query)
    p.text(RESULT, top + 16, 'an edit leaves some', 'f-dim', 14)

    p.text(LEFT, top + 58, '*4. The index* has a table for each band, and returns the rows that share one.', size=15)
    p.text(LEFT, top + 78, '*5. Their texts are compared:* at least %s of the runs of three words must be '
           'shared.' % ALIKE, size=15)
    for n, text in enumerate(STORED):
        y = top + 106 + n * 58
        own = bands_of(text)
        shared = [i for i in range(NUMBER)
                  if own[i][0] == query[i][0] and (own[i][1] ^ query[i][1]).bit_count() <= NEAR]
        share = jaccard(QUERY, text)
        found = shared and share >= ALIKE
        p.text(LEFT, y, text, 'f-ink' if shared else 'f-dim', 14)
        boxes(y + 8, own, shared)
        p.text(LEFT, y + 24, '%d shared' % len(shared), 'f-hot' if shared else 'f-dim', 14)
        p.text(RESULT, y + 24,
               '*share %.2f: found*' % share if found else
               '*share %.2f: not found*' % share if shared else 'none: never read',
               'f-2' if found else 'f-hot' if shared else 'f-dim', 15)
    p.save(file)
