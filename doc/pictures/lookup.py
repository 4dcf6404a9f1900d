"""A lookup of a real index: four probes, of which one finds the row."""

from data import rows, thousands
from svg import Picture


def grouped(digits):
    return [digits[i:i + 4] for i in range(0, 16, 4)]


def draw(file):
    tables = rows('lookup')
    query = tables[0]['query']
    p = Picture(900, 470, 'A lookup',
                'The query is permuted for each of the four tables. Remembered inner pages lead to one '
                'leaf of each table. There the entries with the same prefix are compared, and the heap '
                'is visited only for a match.')
    p.text(24, 36, '*WHERE fp <~> 0x%s <= 3*' % query, 'mono f-ink', 16)
    heads = ((24, 'query, permuted', 'prefix first'), (254, 'inner page', 'remembered'),
             (390, 'leaf', 'with its low and high key'), (612, 'compared', 'same prefix'),
             (770, 'heap', 'visited'))
    for x, head, more in heads:
        p.text(x, 76, head, 'bold f-ink', 15)
        p.text(x, 94, more, 'f-dim', 14)

    top, step = 118, 78
    for t, row in enumerate(tables):
        y = top + t * step
        middle = y + 25
        order = [t] + [b for b in range(4) if b != t]
        for place, (b, digits) in enumerate(zip(order, grouped(row['permuted']))):
            x = 24 + place * 50
            p.rect(x, y + 9, 48, 32, 'p-%d l-%d' % (b, b) if place == 0 else 'p-%d' % b, 3,
                   2 if place == 0 else None)
            p.text(x + 24, y + 30, digits, 'mono f-%d' % b + (' bold' if place == 0 else ''), 13,
                   'middle')
        p.arrow(224, middle, 252, middle)
        p.rect(254, y, 98, 50, 'p-dim l-faint', 4, 1.5)
        p.text(303, y + 30, 'page ' + row['parent'], 'f-ink', 14, 'middle')
        p.arrow(352, middle, 388, middle)
        p.rect(390, y, 184, 50, 'p-%d l-%d' % (t, t), 4, 1.5)
        p.text(482, y + 21, 'page %s, %s entries' % (row['block'], row['entries']), size=13,
               anchor='middle')
        p.text(482, y + 40, '%s\u2026 to %s\u2026' % (row['low'][:4], row['high'][:4]),
               'mono f-%d' % t, 13, 'middle')
        p.arrow(574, middle, 608, middle)
        p.text(634, y + 30, row['same_prefix'], 'bold f-ink', 15, 'end')
        p.text(640, y + 30, 'entries', 'f-ink', 14)
        if int(row['own']) > 0:
            p.arrow(700, middle, 766, middle, 'hot', 2.5)
            p.rect(768, y, 108, 50, 'p-hot l-hot', 4, 2.5)
            p.text(822, y + 30, '%s row%s' % (row['own'], '' if row['own'] == '1' else 's'),
                   'bold f-ink', 15, 'middle')
        else:
            p.text(770, y + 30, 'no row', 'f-dim', 14)
    compared = sum(int(r['same_prefix']) for r in tables)
    total = sum(int(r['entries']) for r in tables)
    p.text(24, 452, '*Read: 4 leaves,* one from each table. Of their %s entries, the %d that share the '
           'prefix are compared.' % (thousands(total), compared), size=15)
    p.save(file)
