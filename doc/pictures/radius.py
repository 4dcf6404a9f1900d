"""How many pages a lookup reads, by its radius, for three schemes."""

from data import rows, thousands
from plot import Axis, grid, marker
from svg import Picture

# the scheme, its options in words, its color and mark
SCHEMES = (('2,1', 'blocks = 2, distance = 1', '1', 'diamond'),
           ('4,3', 'blocks = 4, distance = 3 (default)', '0', 'circle'),
           ('6,3', 'blocks = 6, distance = 3', '3', 'square'))
LAST = 20                       # from an earlier radius on, all read one whole table
SHOWN = ((3, 726), (8, 798), (10, 872))     # radii of the key, and where they stand


def draw(file):
    data = rows('radius')
    table = int(data[0]['table_pages'])
    p = Picture(900, 470, 'Pages that a lookup reads, by radius',
                'The number of pages grows with the radius until it would exceed that of one table; '
                'from there on one table is read from end to end.')
    x = Axis(0, LAST, 86, 876)
    y = Axis(1, 4000, 400, 60, log=True)
    p.text(24, 32, '*Pages that a lookup reads,* by radius: never more than one permuted table has',
           size=17)
    grid(p, x, y, [(r, str(r)) for r in range(0, LAST + 1, 2)],
         [(n, thousands(n)) for n in (1, 10, 100, 1000)])
    p.text(476, 446, 'radius: how many of the 64 bits may differ; beyond %d the pages are the same' % LAST,
           'f-ink', 14, 'middle')
    p.text(26, 230, 'pages', 'f-ink', 14, 'middle', -90)
    p.line(x.start, y(table), x.end, y(table), 'l-hot', 2.5)
    p.text(x.start + 8, y(table) - 9, 'all %s pages of one permuted table' % thousands(table), 'f-hot', 14)
    top = 282
    p.text(430, top, 'options of the index', 'f-dim', 14)
    for radius, place in SHOWN:
        p.text(place, top, 'radius %d' % radius, 'f-dim', 14, 'end')
    for n, (scheme, name, color, shape) in enumerate(SCHEMES):
        pages = {int(r['radius']): float(r['pages']) for r in data if r['scheme'] == scheme}
        assert sorted(pages) == list(range(65))
        # from where on all of one table is read, the lines are one
        whole = min(r for r, v in pages.items() if v >= 0.99 * table)
        assert whole < LAST and all(v >= 0.99 * table for r, v in pages.items() if r >= whole)
        points = [(x(r), y(pages[r])) for r in range(whole + 1)]
        p.path(points, 'l-' + color, 2.5)
        for at in points:
            marker(p, shape, at[0], at[1], color, 4)
        at = top + 24 + n * 22
        marker(p, shape, 414, at - 5, color, 5)
        p.text(430, at, name, 'f-' + color, 14)
        for radius, place in SHOWN:
            p.text(place, at, '%.1f' % pages[radius] if pages[radius] < 100 else thousands(round(pages[radius])),
                   'f-ink', 14, 'end')
    p.text(430, top + 24 + len(SCHEMES) * 22, '%s random fingerprints' % thousands(int(data[0]['rows'])),
           'f-dim', 14)
    p.save(file)
