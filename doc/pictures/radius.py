"""How many pages a look-up reads, by its radius, for three schemes."""

from data import rows, thousands
from plot import Axis, grid, marker
from svg import Picture

SCHEMES = (('2,1', '(2,1): 2 tables', '1', 'diamond'),
           ('4,3', '(4,3): 4 tables, the default', '0', 'circle'),
           ('6,3', '(6,3): 20 tables', '3', 'square'))


def draw(file):
    data = rows('radius')
    table = int(data[0]['table_pages'])
    p = Picture(900, 470, 'Pages that a look-up reads, by radius',
                'The number of pages grows with the radius until it would exceed that of one table; '
                'from there on one table is read from end to end.')
    x = Axis(0, 64, 86, 876)
    y = Axis(1, 4000, 400, 60, log=True)
    p.text(24, 32, '*Pages that a look-up reads,* by radius: never more than one table has', size=17)
    grid(p, x, y, [(r, str(r)) for r in (0, 3, 6, 10, 16, 24, 32, 40, 48, 56, 64)],
         [(n, thousands(n)) for n in (1, 10, 100, 1000)])
    p.text(476, 446, 'radius: how many of the 64 bits may differ', 'f-ink', 14, 'middle')
    p.text(26, 230, 'pages', 'f-ink', 14, 'middle', -90)
    p.line(x.start, y(table), x.end, y(table), 'l-hot', 2.5)
    p.text(x.end, y(table) - 9, 'all %s pages of one table' % thousands(table), 'f-hot', 14, 'end')
    for n, (scheme, name, color, shape) in enumerate(SCHEMES):
        points = [(int(r['radius']), float(r['pages'])) for r in data if r['scheme'] == scheme]
        assert len(points) == 65
        # from where on all of one table is read, the lines are one
        whole = [r for r, v in points if v >= 0.99 * table][0]
        assert all(v >= 0.99 * table for r, v in points if r >= whole)
        p.path([(x(r), y(v)) for r, v in points if r <= whole], 'l-' + color, 2.5)
        for r, v in points[:whole + 1]:
            marker(p, shape, x(r), y(v), color, 4)
        at = 256 + n * 20
        marker(p, shape, 470, at - 5, color, 5)
        p.text(486, at, name, 'f-' + color, 15)
        three = [v for r, v in points if r == 3][0]
        p.text(870, at, '%.1f pages at radius 3' % three, 'f-ink', 14, 'end')
    p.text(470, 234, '%s random fingerprints' % thousands(int(data[0]['rows'])), 'f-dim', 14)
    p.save(file)
