"""Hashes of 256 bits: each part is searched within fewer bits, and the whole value decides."""

from hashlib import sha256

from svg import Picture

BITS, PARTS, PART, RADIUS = 256, 4, 64, 31
ACROSS, CELL = 16, 9                    # of the bits of a part
LEFT, STEP = 138, 157
ROWS = (('a near row', (9, 5, 8, 9)),   # how many bits of each part differ from the query
        ('met by chance', (33, 29, 6, 35)),
        ('any other row', (31, 36, 28, 33)))


def differing(name, part, n):
    """Which n bits of a part: any will do, as long as they are always the same."""
    order = sorted(range(PART), key=lambda bit: sha256(b'%s %d %d' % (name.encode(), part, bit)).digest())
    return set(order[:n])


def draw(file):
    within = (RADIUS + 1) // PARTS - 1
    assert PARTS * (within + 1) > RADIUS and sum(ROWS[0][1]) == RADIUS
    p = Picture(900, 468, 'Hashes of 256 bits in four parts',
                'Three rows of 256 bits, cut into four parts of 64 bits, with the bits that differ from '
                'the query. The near row differs in 31 bits, so one of its parts differs in at most 7, and '
                'the tables of this part find it. A row that is met by chance in one part is compared and '
                'dropped. Any other row is not met.')
    p.text(24, 38, '*%d differing bits cannot be %d in each of %d parts:* in one part, at most %d differ'
           % (RADIUS, within + 1, PARTS, within), size=18)
    for part in range(PARTS):
        x = LEFT + part * STEP
        p.rect(x, 60, ACROSS * CELL, 48, 'p-%d' % part, 4)
        p.text(x + ACROSS * CELL / 2, 80, 'part %d: bits %d to %d' % (part + 1, part * PART + 1, (part + 1) * PART),
               'f-%d' % part, 12, 'middle')
        p.text(x + ACROSS * CELL / 2, 99, 'within %d bits' % within, 'bold f-%d' % part, 14, 'middle')
    p.text(LEFT - 14, 88, 'searched', size=15, anchor='end')
    right = LEFT + PARTS * STEP + 2

    for n, (name, counts) in enumerate(ROWS):
        y = 134 + n * 94
        height = PART // ACROSS * CELL
        met = [part for part in range(PARTS) if counts[part] <= within]
        shade = 'f-ink' if met else 'f-dim'
        p.text(LEFT - 14, y + 24, name, shade, 15, 'end')
        for part in range(PARTS):
            x = LEFT + part * STEP
            if part in met:
                p.rect(x - 5, y - 5, ACROSS * CELL + 10, height + 10, 'p-%d l-%d' % (part, part), 4, 2.5)
            else:
                p.rect(x, y, ACROSS * CELL, height, 'p-dim', 3)
            marked = differing(name, part, counts[part])
            assert len(marked) == counts[part]
            p.rects([(x + bit % ACROSS * CELL + 1, y + bit // ACROSS * CELL + 1, CELL - 2, CELL - 2)
                     for bit in sorted(marked)], 'f-hot')
            p.text(x + ACROSS * CELL / 2, y + height + 22,
                   '%d differ%s' % (counts[part], ': met here' if part in met else ''),
                   'bold f-%d' % part if part in met else 'f-dim', 14, 'middle')
        if not met:
            p.text(right, y + 24, 'not met', 'f-dim', 15)
        elif sum(counts) <= RADIUS:
            p.text(right, y + 16, '%d in all:' % sum(counts), size=15)
            p.text(right, y + 36, 'returned', 'bold f-ink', 15)
        else:
            p.text(right, y + 16, '%d in all:' % sum(counts), size=15)
            p.text(right, y + 36, 'dropped', 'bold f-ink', 15)
    p.text(24, 426, 'Each part has the tables of an index of %d bits. A row that one part meets is a '
           'candidate:' % PART, size=15)
    p.text(24, 449, 'its whole value is compared, so every row within %d bits is returned, and no other.' % RADIUS,
           size=15)
    p.save(file)
