"""Time of a lookup, of a build and of all pairs, by number of rows."""

from data import rows
from plot import Axis, curve, grid
from svg import Picture

# for each panel: its title, the bounds of the axis, and for each line what was
# measured, the way, its name, color and mark
PANELS = (
    ('One lookup', (1e-6, 100), (
        ('look-up 3', 'sequential scan', 'sequential scan', '3', 'diamond'),
        ('look-up 3', 'four covering btrees', 'four B-trees, radius 3', '1', 'square'),
        ('nearest 10', 'simhash', 'simhash, nearest 10', 'hot', 'ring'),
        ('look-up 8', 'simhash', 'simhash, radius 8', '2', 'triangle'),
        ('look-up 3', 'simhash', 'simhash, radius 3', '0', 'circle'))),
    ('CREATE INDEX', (1e-2, 1000), (
        ('build', 'four covering btrees', 'four covering B-trees', '1', 'square'),
        ('build', 'one btree', 'one B-tree on bigint', '3', 'diamond'),
        ('build', 'simhash', 'simhash', '0', 'circle'))),
    ('All pairs, distance 3', (1e-2, 10000), (
        ('pairs 3', 'self-join', 'self-join with the index', '2', 'triangle'),
        ('pairs 3', 'in memory, library', 'in-memory library', '3', 'diamond'),
        ('pairs 3', 'in memory, tuned', 'the same, tuned', '1', 'square'),
        ('pairs 8', 'simhash', 'simhash_find_all, distance 8', 'hot', 'ring'),
        ('pairs 3', 'simhash', 'simhash_find_all', '0', 'circle'))),
)
TIMES = ((1e-6, '1 \u00b5s'), (1e-5, '10 \u00b5s'), (1e-4, '100 \u00b5s'), (1e-3, '1 ms'),
         (1e-2, '10 ms'), (1e-1, '0.1 s'), (1, '1 s'), (10, '10 s'), (100, '100 s'),
         (1e3, '1,000 s'), (1e4, '10,000 s'))
ROWS = {10 ** 5: '100k', 10 ** 6: '1M', 10 ** 7: '10M'}


def draw(file):
    data = [r for r in rows('growth') if r['bits'] == '64']
    most = max(int(r['rows']) for r in data)
    p = Picture(900, 521, 'Time by number of rows',
                'Three panels, both axes logarithmic: CPU time of a lookup, of an index build and of '
                'the search for all pairs, for 100,000 to 10,000,000 rows, beside the alternatives.')
    p.text(24, 32, '*Time by number of rows,* beside the alternatives (CPU time, logarithmic axes)',
           size=16)
    for n, (title, (low, high), lines) in enumerate(PANELS):
        left = 24 + n * 292
        x = Axis(7e4, 1.5e7, left + 62, left + 268, log=True)
        y = Axis(low, high, 370, 86, log=True)
        p.text(left + 62, 66, title, 'bold f-ink', 15)
        grid(p, x, y, list(ROWS.items()),
             [t for t in TIMES if low <= t[0] <= high])
        for place, (measured, way, name, color, shape) in enumerate(lines):
            points = sorted((int(r['rows']), float(r['cpu'])) for r in data
                            if r['measured'] == measured and r['way'] == way)
            assert all(low <= s <= high for _, s in points), (way, points)
            ours = place == len(lines) - 1
            curve(p, [(x(r), y(s)) for r, s in points], color, shape, 3 if ours else 2)
            at = 414 + place * 21
            curve(p, [(left + 12, at - 5), (left + 36, at - 5)], color, shape, 2)
            if points[-1][0] < most:
                name += ' (to %s)' % ROWS[points[-1][0]]
            p.text(left + 48, at, name, ('bold f-' if ours else 'f-') + color, 13)
    p.save(file)
