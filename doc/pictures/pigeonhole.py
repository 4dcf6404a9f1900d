"""The front page's picture: four blocks, three differing bits, one equal block."""

from svg import Picture

BITS, BLOCKS, BLOCK = 64, 4, 16
STORED = 0x9E3779B97F4A7C15             # any number will do
DIFFERENT = (52, 39, 6)                 # bits of the query that differ: one block has none


def bits(value):
    """From the left as they are read, so the first block is that of the highest bits."""
    return '{:064b}'.format(value)


def draw(file):
    query = STORED
    for bit in DIFFERENT:
        query ^= 1 << bit
    stored, query = bits(STORED), bits(query)
    differing = [i for i in range(BITS) if stored[i] != query[i]]
    equal = [b for b in range(BLOCKS) if not any(i // BLOCK == b for i in differing)]
    assert len(differing) == 3 and len(equal) == 1
    equal = equal[0]

    p = Picture(900, 440, 'Four blocks, three differing bits',
                'Two 64-bit fingerprints that differ in 3 bits. The bits are cut into four blocks, so '
                'at least one block is equal. The index has four tables, each of which is sorted by '
                'a different block, and the row is found in the table of the equal block.')
    left, cell, gap = 136, 11, 10

    def x_of(i):
        return left + i * cell + i // BLOCK * gap

    p.text(24, 38, '*3 differing bits cannot touch all 4 blocks:* at least one block is equal', size=18)
    for row, (name, value) in enumerate((('stored row', stored), ('query', query))):
        y = 64 + row * 42
        p.text(left - 14, y + 20, name, size=15, anchor='end')
        for b in range(BLOCKS):
            if b == equal:
                p.rect(x_of(b * BLOCK) - 3, y - 3, BLOCK * cell + 6, 34, 'p-%d l-%d' % (b, b), 4, 2.5)
            else:
                p.rect(x_of(b * BLOCK) - 1, y - 1, BLOCK * cell + 2, 30, 'p-%d' % b, 3)
        for i, bit in enumerate(value):
            marked = row == 1 and i in differing
            if marked:
                p.rect(x_of(i) - 1, y + 1, cell + 2, 26, 'f-hot', 3)
            p.text(x_of(i) + cell / 2, y + 20, bit,
                   'mono bold f-card' if marked else 'mono f-%d' % (i // BLOCK), 14, 'middle')
    for b in range(BLOCKS):
        x = x_of(b * BLOCK) + BLOCK * cell / 2
        n = sum(i // BLOCK == b for i in differing)
        p.text(x, 162, '%s: %s' % ('ABCD'[b], 'equal' if n == 0 else '%d bit differs' % n),
               'bold f-%d' % b if n == 0 else 'f-%d' % b, 15, 'middle')

    # the tables: each with another block in front
    top, row_height = 230, 38
    p.text(24, top - 20, '*The index has 4 permuted tables,* each sorted by a different block first', size=18)
    for t in range(BLOCKS):
        y = top + t * row_height
        order = [t] + [b for b in range(BLOCKS) if b != t]
        found = t == equal
        p.text(left - 14, y + 19, 'table %d' % (t + 1), 'f-ink' if found else 'f-dim', 15, 'end')
        for place, b in enumerate(order):
            x = left + place * 122
            first = place == 0
            width = 116
            p.rect(x, y, width, 27, 'p-%d l-%d' % (b, b) if first else 'p-%d' % b, 3,
                   (3 if found else 1.5) if first else None)
            p.text(x + width / 2, y + 19, 'ABCD'[b], 'f-%d' % b + (' bold' if first else ''), 14,
                   'middle')
        x = left + 4 * 122 + 10
        if found:
            p.arrow(x + 34, y + 14, x + 2, y + 14, 'ink', 2)
            p.text(x + 44, y + 19, '%s is equal: *found here*' % 'ABCD'[t], size=15)
        else:
            p.text(x + 44, y + 19, '%s differs' % 'ABCD'[t], 'f-dim', 15)
    p.text(24, top + 4 * row_height + 30,
           'A lookup reads one short range of each table and finds every row within 3 bits.', size=15)
    p.save(file)
