"""Time of a lookup, of a build and of the search for all duplicates, by number of texts."""

from data import rows
from growth import ROWS, TIMES
from plot import Axis, curve, grid
from svg import Picture

# for each panel: its title, what was measured, and the bounds of the axis
PANELS = (('One lookup, median', 'lookup, p50', (1e-5, 100)),
          ('CREATE INDEX', 'build', (1e-1, 1000)),
          ('All duplicates', 'find_duplicates', (1e-1, 1000)))
# the way, its name, color and mark
LINES = (('scan', 'sequential scan with =~=', '3', 'diamond'),
         ('trgm', 'pg_trgm, GIN', '2', 'triangle'),
         ('bands', 'MinHash, 14 bands of 8, B-tree', 'hot', 'ring'),
         ('md5', 'md5, B-tree (equal texts only)', '1', 'square'),
         ('simhash', 'simhash, =~=', '0', 'circle'))


def draw(file):
    data = rows('texts')
    p = Picture(900, 500, 'Time by number of texts',
                'Three panels, both axes logarithmic: elapsed time of a lookup, of an index build and of the search for all '
                'duplicates, for 100,000 to 10,000,000 texts of 900 characters, beside the alternatives.')
    p.text(24, 32, '*Time by number of texts,* 900 characters on average (elapsed time, logarithmic axes)', size=16)
    for n, (title, measured, (low, high)) in enumerate(PANELS):
        left = 24 + n * 292
        x = Axis(7e4, 1.5e7, left + 62, left + 268, log=True)
        y = Axis(low, high, 370, 86, log=True)
        p.text(left + 62, 66, title, 'bold f-ink', 15)
        grid(p, x, y, list(ROWS.items()), [t for t in TIMES if low <= t[0] <= high])
        for way, _, color, shape in LINES:
            points = sorted((int(r['rows']), float(r['seconds'])) for r in data
                            if r['measured'] == measured and r['way'] == way)
            assert all(low <= s <= high for _, s in points), (way, points)
            if points:
                curve(p, [(x(r), y(s)) for r, s in points], color, shape, 3 if way == 'simhash' else 2)
    for place, (way, name, color, shape) in enumerate(LINES):
        left, at = 36 + place % 3 * 292, 424 + place // 3 * 26
        curve(p, [(left, at - 5), (left + 24, at - 5)], color, shape, 2)
        p.text(left + 36, at, name, ('bold f-' if way == 'simhash' else 'f-') + color, 13)
    p.save(file)
