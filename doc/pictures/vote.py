"""Two texts, what their features vote for, and their fingerprints."""

import os
import sys
from collections import Counter

from data import TOP
from svg import Picture

sys.path.insert(0, os.path.join(TOP, 'test', 'reference'))
from simhash_reference import compute_text, shingles, xxh3_64       # noqa: E402

TEXT = ('The meeting of the committee has been moved to Thursday, March 4, at %s in the morning, '
        'in room 12.')
TEXTS = (TEXT % 'ten', TEXT % 'six')
SHOWN = 4                       # features of each text
LEFT, CELL = 176, 11


def bit(value, i):
    """Bit i from the left."""
    return value >> (63 - i) & 1


def strip(p, value, y, height):
    """64 cells, blue where a bit is set."""
    for one, color in ((1, 'f-0'), (0, 'p-1')):
        p.rects([(LEFT + i * CELL, y, CELL - 1, height) for i in range(64) if bit(value, i) == one],
                color)


def draw(file):
    p = Picture(900, 566, 'How a text becomes a fingerprint',
                'Each run of four letters has a hash of 64 bits. Each bit of a hash is a vote for 1 or '
                'for 0. The fingerprint has the majority of each column. Two similar texts have most '
                'votes in common, so their fingerprints differ in few bits.')
    prints = [compute_text(t) for t in TEXTS]
    features = [shingles(t) for t in TEXTS]
    common = Counter(features[0]) & Counter(features[1])
    y = 16
    for which, text in enumerate(TEXTS):
        fp = prints[which]
        hashes = [xxh3_64(f.encode()) for f in features[which]]
        sums = [sum(1 if bit(h, i) else -1 for h in hashes) for i in range(64)]
        assert fp == sum(1 << 63 - i for i in range(64) if sums[i] > 0)
        p.text(24, y + 22, '\u201c%s\u201d' % text, size=15)
        y += 40
        own = [f for f in features[which] if f not in common]
        shown = ([f for f in features[which] if f in common][:SHOWN - 2]
                 + own[len(own) // 2 - 1:][:SHOWN - 2])
        for f in shown:
            h = xxh3_64(f.encode())
            p.text(LEFT - 14, y + 14, f, 'mono ' + ('f-hot bold' if f in own else 'f-ink'), 14, 'end')
            strip(p, h, y + 2, 15)
            y += 20
        p.text(LEFT - 14, y + 14, 'and %d more' % (len(hashes) - SHOWN), 'f-dim', 14, 'end')
        if which == 0:
            p.text(LEFT, y + 14, 'Each row is the hash of a run of four letters. Each bit of it is a '
                   'vote:', 'f-dim', 13)
            # a key, as the colors are others on a dark page
            for x, bit_shown, color in ((LEFT + 500, 'for 1', 'f-0'), (LEFT + 566, 'for 0', 'p-1')):
                p.rect(x, y + 2, CELL - 1, 15, color)
                p.text(x + CELL + 5, y + 14, bit_shown, 'f-dim', 13)
        y += 24
        # the votes: up for 1, down for 0
        height, scale = 56, 27 / max(map(abs, sums))
        middle = y + height / 2
        p.text(LEFT - 14, middle - 3, 'votes for 1', 'f-0', 13, 'end')
        p.text(LEFT - 14, middle + 14, 'votes for 0', 'f-1', 13, 'end')
        p.line(LEFT, middle, LEFT + 64 * CELL, middle, 'l-faint')
        for sign, color in ((1, 'f-0'), (-1, 'f-1')):
            p.rects([(LEFT + i * CELL + 1, middle - max(s, 0) * scale, CELL - 3, abs(s) * scale)
                     for i, s in enumerate(sums) if s * sign > 0], color)
        y += height + 8
        p.text(LEFT - 14, y + 17, '*fingerprint*', size=14, anchor='end')
        strip(p, fp, y, 24)
        for i in range(64):
            p.text(LEFT + i * CELL + (CELL - 1) / 2, y + 17, str(bit(fp, i)),
                   'mono ' + ('f-card' if bit(fp, i) else 'f-1'), 12, 'middle')
        if which == 0:
            y_first = y
        y += 46
        if which == 0:
            p.line(24, y - 6, 876, y - 6, 'l-faint')
            y += 6
    differing = [i for i in range(64) if bit(prints[0] ^ prints[1], i)]
    for i in differing:
        for top in (y_first, y - 46):
            p.rect(LEFT + i * CELL - 1.5, top - 2, CELL + 2, 28, 'none l-hot', 2, 2.5)
    p.text(24, y + 4, '*%d of 64 bits differ,* where the votes were close: %d of %d runs of four '
           'letters are the same.' % (len(differing), sum(common.values()), len(features[0])), size=15)
    p.save(file)
