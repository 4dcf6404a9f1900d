"""Texts, their fingerprints, and in how many bits these differ from the first one."""

import os
import sys

from data import TOP
from svg import Picture

sys.path.insert(0, os.path.join(TOP, 'test', 'reference'))
from simhash_reference import hashes_of, jaccard, minhash, shingles       # noqa: E402

# what differs from the first text is between asterisks
BRIDGE = ('The Harbor Bridge will be closed to all traffic from %s until Monday morning while',
          'crews replace the bearings of the northern pier. Buses will be rerouted through the %s.')
TEXTS = (
    (BRIDGE[0] % 'Friday evening', BRIDGE[1] % 'tunnel'),
    ('*UPDATE:* ' + BRIDGE[0] % 'Friday evening', BRIDGE[1] % 'tunnel'),
    (BRIDGE[0] % '*Saturday* evening', BRIDGE[1] % 'tunnel'),
    ('Beat the eggs with the sugar until pale. Melt the butter and the chocolate over hot water, let',
     'them cool, and stir them in. Fold in the flour and bake for 25 minutes at 350 degrees.'),
)
LEFT, CELL, HEIGHT = 24, 10, 22
VERDICT = LEFT + 64 * CELL + 16


def plain(lines):
    return ' '.join(lines).replace('*', '')


def draw(file):
    p = Picture(900, 408, 'Near-duplicates have near fingerprints',
                'Four texts with their fingerprints, 64 bits each. Two differ from the first text in a '
                'word, and their fingerprints in few bits. An unrelated text differs in half of '
                'the bits.')
    p.text(LEFT, 36, '*Near-duplicates have near fingerprints:* bits that differ from the first text', size=18)
    prints = [minhash(hashes_of(shingles(plain(t), 2, 'word'))) for t in TEXTS]
    for n, (text, fp) in enumerate(zip(TEXTS, prints)):
        y = 70 + n * 88
        for line, words in enumerate(text):
            p.text(LEFT, y + line * 18, words, size=14)
        y += 28
        bits = [(i, fp >> (63 - i) & 1, (fp ^ prints[0]) >> (63 - i) & 1) for i in range(64)]
        for one, differs, color in ((1, 0, 'f-0'), (0, 0, 'p-0'), (1, 1, 'f-hot'), (0, 1, 'p-hot')):
            cells = [(LEFT + i * CELL, y, CELL - 1.5, HEIGHT)
                     for i, bit, other in bits if (bit, other) == (one, differs)]
            if cells:
                p.rects(cells, color + (' l-hot' if differs else ''))
        distance = sum(differs for _, _, differs in bits)
        if n == 0:
            continue
        share = jaccard(plain(TEXTS[0]), plain(text))
        p.text(VERDICT, y + 16, '*%d %s,* share %.2f' % (distance, 'bit' if distance == 1 else 'bits', share),
               'f-2' if share > 0 else 'f-dim', 15)
    p.save(file)
