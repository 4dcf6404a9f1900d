"""A split of a real index: the pages before and after, and its WAL records."""

from data import leaf_capacity, rows
from svg import Picture


def draw(file):
    pages = rows('split')
    records = [r['pages'].split() for r in rows('split_wal')]
    before = {r['block']: r for r in pages if r['at'] == 'before'}
    after = {r['block']: r for r in pages if r['at'] == 'after'}
    new = [b for b in after if b not in before][0]
    parent = [b for b in before if before[b]['page_type'] == 'inner'][0]
    left = [b for b in before if b != parent][0]
    next_one = before[left]['right_block']
    assert after[left]['right_block'] == new and after[new]['right_block'] == next_one
    assert after[left]['high'] == after[new]['low'] and before[left]['high'] == after[new]['high']
    assert set(records[0]) == {left, new, parent}

    p = Picture(900, 560, 'A split',
                'A full leaf is split. Its upper part moves to a new page at the end of the index; '
                'right links and bounds still cover all keys; one WAL record has the leaf, the new '
                'page and the parent.')

    def key(digits):
        digits = digits.rstrip('0')
        return digits if len(digits) <= 8 else digits[:8] + '\u2026'

    def leaf(x, y, row, width, color, fill, name):
        p.rect(x, y, width, 86, 'f-card l-%s' % color, 4, 2)
        p.rect(x + 1, y + 60, (width - 2) * fill, 25, 'p-%s' % color)
        p.text(x + width / 2, y + 22, '*leaf %s*%s' % (row['block'], name), size=15, anchor='middle')
        p.text(x + 10, y + 47, 'low ' + key(row['low']), 'mono f-%s' % color, 13)
        p.text(x + width - 10, y + 47, 'high ' + key(row['high']), 'mono f-%s' % color, 13, 'end')
        p.text(x + width / 2, y + 78, '%s entries' % row['entries'], size=14, anchor='middle')

    def inner(x, y, row, width):
        p.rect(x, y, width, 52, 'p-dim l-dim', 4, 1.5)
        p.text(x + width / 2, y + 22, '*page %s,* level 1' % row['block'], size=15, anchor='middle')
        p.text(x + width / 2, y + 42, '%s downlinks' % row['entries'], size=14, anchor='middle')

    # before
    p.text(24, 36, '*Before:* the leaf is full', size=17)
    inner(180, 52, before[parent], 246)
    leaf(180, 136, before[left], 246, '0', int(before[left]['entries']) / leaf_capacity(before[left]), '')
    p.arrow(300, 104, 300, 134)
    p.rect(752, 136, 124, 86, 'f-card l-faint', 4, 1.5)
    p.text(814, 183, 'leaf %s' % next_one, 'f-dim', 15, 'middle')
    p.arrow(426, 179, 750, 179, '0', 2)
    p.text(588, 169, 'right link', 'f-0', 14, 'middle')
    p.line(24, 246, 876, 246, 'l-faint')

    # after, with the record around what it changes
    p.text(24, 278, '*After:* the upper part is on a new page, and the row that had no room is '
           'inserted', size=17)
    p.rect(160, 294, 570, 216, 'none l-hot', 10, 2)
    inner(180, 312, after[parent], 246)
    leaf(180, 404, after[left], 246, '0', int(after[left]['entries']) / leaf_capacity(after[left]), '')
    leaf(462, 404, after[new], 246, '1', int(after[new]['entries']) / leaf_capacity(after[new]), ', new')
    p.arrow(300, 364, 300, 402)
    p.path([(408, 364), (408, 386), (585, 386), (585, 396)], 'l-dim', 1.5)
    p.head_of_arrow(585, 402, 0, 1)
    p.text(440, 379, 'new downlink: %s' % key(after[new]['low']), 'f-1', 14)
    p.arrow(426, 447, 460, 447, '0', 2)
    p.rect(752, 404, 124, 86, 'f-card l-faint', 4, 1.5)
    p.text(814, 451, 'leaf %s' % next_one, 'f-dim', 15, 'middle')
    p.arrow(708, 447, 750, 447, '1', 2)
    p.text(440, 334, '*one WAL record:* %d pages' % len(records[0]), 'f-hot', 15)
    for line, words in enumerate(('Together the', 'two leaves', 'cover the same', 'range of keys',
                                  'as before.')):
        p.text(24, 416 + 18 * line, words, 'f-dim', 14)
    p.text(24, 540, '*The next record* holds the insert itself: one entry on a leaf of each of the '
           '%d tables.' % len(records[1]), size=15)
    p.save(file)
