"""Time of a look-up, of a build and of all pairs, by number of rows."""

from data import rows
from plot import Axis, curve, grid
from svg import Picture

# for each panel: what was measured, its title, the bounds of the axis, and the ways
PANELS = (
    ('look-up', 'One look-up, radius 3', (1e-6, 100), (
        ('sequential scan', 'sequential scan', '3', 'diamond'),
        ('four btrees', 'four B-trees on 16-bit blocks', '1', 'square'),
        ('simhash', 'simhash', '0', 'circle'))),
    ('build', 'CREATE INDEX', (1e-2, 1000), (
        ('four btrees', 'four B-trees on 16-bit blocks', '1', 'square'),
        ('one btree', 'one B-tree on bigint', '3', 'diamond'),
        ('simhash', 'simhash', '0', 'circle'))),
    ('pairs', 'All pairs, distance 3', (1e-2, 10000), (
        ('self-join', 'self-join with the index', '2', 'triangle'),
        ('in memory, library', 'in-memory library', '3', 'diamond'),
        ('in memory, tuned', 'the same, tuned', '1', 'square'),
        ('simhash', 'simhash_find_all', '0', 'circle'))),
)
TIMES = ((1e-6, '1 \u00b5s'), (1e-5, '10 \u00b5s'), (1e-4, '100 \u00b5s'), (1e-3, '1 ms'),
         (1e-2, '10 ms'), (1e-1, '0.1 s'), (1, '1 s'), (10, '10 s'), (100, '100 s'),
         (1e3, '1,000 s'), (1e4, '10,000 s'))
ROWS = {10 ** 5: '100k', 10 ** 6: '1M', 10 ** 7: '10M', 10 ** 8: '100M'}


def draw(file):
    data = rows('growth')
    most = max(int(r['rows']) for r in data)
    p = Picture(900, 500, 'Time by number of rows',
                'Three panels, both axes logarithmic: CPU time of a look-up, of an index build and of '
                'the search for all pairs, for 100,000 to 100,000,000 rows, beside the alternatives.')
    p.text(24, 32, '*Time by number of rows,* beside the alternatives (CPU time, logarithmic axes)',
           size=16)
    for n, (measured, title, (low, high), ways) in enumerate(PANELS):
        left = 24 + n * 292
        x = Axis(7e4, 1.5e8, left + 62, left + 268, log=True)
        y = Axis(low, high, 370, 86, log=True)
        p.text(left + 62, 66, title, 'bold f-ink', 15)
        grid(p, x, y, list(ROWS.items()),
             [t for t in TIMES if low <= t[0] <= high])
        for place, (way, name, color, shape) in enumerate(ways):
            points = sorted((int(r['rows']), float(r['cpu'])) for r in data
                            if r['measured'] == measured and r['way'] == way)
            assert all(low <= s <= high for _, s in points), (way, points)
            ours = place == len(ways) - 1
            curve(p, [(x(r), y(s)) for r, s in points], color, shape, 3 if ours else 2)
            at = 414 + place * 21
            curve(p, [(left + 12, at - 5), (left + 36, at - 5)], color, shape, 2)
            if points[-1][0] < most:
                name += ' (to %s)' % ROWS[points[-1][0]]
            p.text(left + 48, at, name, ('bold f-' if ours else 'f-') + color, 13)
    p.save(file)
