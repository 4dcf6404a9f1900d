"""What fingerprints find, by radius: a panel for each corpus of test/bench/quality."""

from math import log10

from data import rows
from plot import Axis
from svg import Picture

# variant in the data, name, color
WAYS = (('simhash, char 4', 'simhash_compute', '1'),
        ('minhash, word 2', 'simhash_minhash', '0'))
COLUMNS, CELL, ROW, TOP = 4, 216, 208, 66


def panel(p, left, top, name, data):
    x = Axis(0, 10, left + 40, left + 196)
    found = Axis(0, 1, top + 88, top + 28)
    wrong = Axis(0, log10(10001), top + 172, top + 116)        # of log10(1 + n)
    p.text(left + 40, top + 14, name, 'bold f-ink', 14)
    for value, text in ((0, '0'), (0.5, '.5'), (1, '1')):
        p.line(x.start, found(value), x.end, found(value), 'l-faint', 0.5)
        p.text(x.start - 5, found(value) + 4, text, 'f-dim', 12, 'end')
    for value, text in ((0, '0'), (10, '10'), (100, '100'), (1000, '1k'), (10000, '10k')):
        y = wrong(log10(1 + value))
        p.line(x.start, y, x.end, y, 'l-faint', 0.5)
        p.text(x.start - 5, y + 4, text, 'f-dim', 12, 'end')
    p.text(x.end, found(0) - 5, 'found', 'f-dim', 12, 'end')
    p.text(x.start, wrong.end - 6, 'wrong pairs', 'f-dim', 12)
    for axis in (found, wrong):
        for r in (0, 3, 6, 10):
            p.line(x(r), axis.start, x(r), axis.start + 4, 'l-dim')
        p.line(x.start, axis.start, x.end, axis.start, 'l-dim')
    for r in (0, 3, 6, 10):
        p.text(x(r), wrong.start + 17, str(r), 'f-dim', 12, 'middle')
    for variant, _, color in WAYS:
        points = sorted((int(r['radius']), float(r['found']), int(r['wrong']))
                        for r in data if r['fingerprint'] == variant)
        assert [q[0] for q in points] == list(range(11)), (name, variant)
        p.path([(x(r), found(f)) for r, f, w in points], 'l-' + color, 2)
        p.path([(x(r), wrong(log10(1 + w))) for r, f, w in points], 'l-' + color, 2)


def draw(file):
    # the texts without spaces were fingerprinted by an earlier version, in another way
    data = [r for r in rows('quality') if r['corpus'] != 'descriptions, no spaces']
    corpora = list(dict.fromkeys(r['corpus'] for r in data))
    rows_of_panels = (len(corpora) + COLUMNS) // COLUMNS       # room for one more, the legend
    p = Picture(900, TOP + rows_of_panels * ROW + 6,
                'Near-duplicates that are found, and wrong pairs, by radius',
                'For each of %d collections of real documents two plots: the share of near-duplicates '
                'that are within the radius, and the number of pairs within it that are not similar.'
                % len(corpora))
    p.text(24, 32, '*Found and wrong by radius:* the share of the near-duplicates that are found, and '
           'the', size=16)
    p.text(24, 54, 'number of wrong pairs, in collections of up to 4,000 documents, at radius 0 to 10',
           size=16)
    for n, corpus in enumerate(corpora):
        panel(p, 8 + n % COLUMNS * CELL, TOP + n // COLUMNS * ROW, corpus,
              [r for r in data if r['corpus'] == corpus])
    n = len(corpora)
    left, top = 8 + n % COLUMNS * CELL + 40, TOP + n // COLUMNS * ROW
    for place, (_, name, color) in enumerate(WAYS):
        y = top + 34 + 26 * place
        p.line(left, y - 5, left + 44, y - 5, 'l-' + color, 2.5)
        p.text(left + 54, y, name, 'f-' + color, 15)
    y = top + 34 + 26 * len(WAYS) + 4
    p.text(left, y, 'near-duplicates: J >= 0.9; wrong: J < 0.5,', 'f-dim', 13)
    p.text(left, y + 20, 'of the runs of three words', 'f-dim', 13)
    p.text(left, y + 40, 'comparing the texts removes the wrong pairs', 'f-dim', 13)
    p.save(file)
