"""A leaf page of a real index, byte by byte."""

from data import HEADER, PAGE, leaf_capacity, rows, size_of, struct
from svg import Picture

LEFT, WIDTH = 24, 852


def draw(file):
    page = rows('page')[0]
    entries, in_order = int(page['entries']), int(page['sorted'])
    special = PAGE - size_of('ShIdxOpaqueData')
    capacity = leaf_capacity(page)
    fp, tid = int(page['key_width']), int(page['row_width'])
    assert in_order < entries <= capacity
    fps_end = HEADER + fp * entries
    tids_start = special - tid * entries
    p = Picture(900, 486, 'A leaf page',
                'A leaf has two arrays: fingerprints of %d bytes that grow up from the header, and TIDs '
                'of %d bytes that grow down from the special area. The first entries are sorted, later '
                'ones are appended. The special area has the bounds of the page and its right link.'
                % (fp, tid))

    def x(offset):
        return LEFT + offset * WIDTH / PAGE

    def box(start, end, y, height, classes):
        p.rect(x(start), y, x(end) - x(start), height, classes)

    p.text(24, 36, '*Leaf %s of table 0:* %d entries of at most %d, of which the first %d are sorted'
           % (page['block'], entries, capacity, in_order), size=17)
    y, height = 96, 64
    box(0, HEADER, y, height, 'f-dim')
    box(HEADER, HEADER + fp * in_order, y, height, 'p-0')
    box(HEADER + fp * in_order, fps_end, y, height, 'f-0')
    box(tids_start, special - tid * in_order, y, height, 'f-2')
    box(special - tid * in_order, special, y, height, 'p-2')
    box(special, PAGE, y, height, 'f-3')
    p.rect(LEFT, y, WIDTH, height, 'none l-dim', None, 1.5)
    for center, what, width, color in (
            (x(HEADER + fp * in_order / 2), '*fingerprints,* permuted, sorted', fp, 'f-0'),
            (x(special - tid * in_order / 2), '*TIDs,* in the same order', tid, 'f-2')):
        p.text(center, y + 28, what, color, 15, 'middle')
        p.text(center, y + 48, '%d of %d bytes' % (in_order, width), color, 14, 'middle')

    # offsets above
    for offset, name, anchor in ((HEADER, 'header: %d bytes' % HEADER, 'start'),
                                 (special, 'special area: byte %d' % special, 'end')):
        p.line(x(offset), y - 4, x(offset), y - 12, 'l-dim')
        p.text(x(offset), y - 18, name, 'f-dim', 13, anchor)
    # growth below
    p.arrow(x(fps_end) - 70, y + height + 16, x(fps_end), y + height + 16, '0', 2)
    p.arrow(x(tids_start) + 70, y + height + 16, x(tids_start), y + height + 16, '2', 2)
    p.text(x(fps_end) - 78, y + height + 21, 'grow up', 'f-0', 14, 'end')
    p.text(x(tids_start) + 78, y + height + 21, 'grow down', 'f-2', 14)

    # the middle, larger
    first, last = HEADER + fp * (in_order - 6), special - tid * (in_order - 6)
    zoom_top, zoom_height = 250, 66
    p.path([(x(first), y + height + 34), (LEFT, zoom_top - 10)], 'l-faint', 1)
    p.path([(x(last), y + height + 34), (LEFT + WIDTH, zoom_top - 10)], 'l-faint', 1)
    scale = WIDTH / (last - first)

    def z(offset):
        return LEFT + (offset - first) * scale

    for some, kind in ((range(in_order - 6, in_order), 'p'), (range(in_order, entries), 'f')):
        p.rects([(z(HEADER + fp * i) + 0.5, zoom_top, fp * scale - 1, zoom_height)
                 for i in some], kind + '-0')
        p.rects([(z(special - tid * (i + 1)) + 0.5, zoom_top, tid * scale - 1, zoom_height)
                 for i in some], kind + '-2')
    # the marks are where no full page has an entry
    marks, bits = HEADER + fp * capacity, (capacity + 7) // 8
    assert marks + bits <= special - tid * capacity
    p.rect(z(marks), zoom_top, bits * scale, zoom_height, 'p-hot')
    p.rect(z(first), zoom_top, WIDTH, zoom_height, 'none l-dim', None, 1.5)
    below = zoom_top + zoom_height
    appended = '%d appended' % (entries - in_order)
    p.text((z(HEADER + fp * in_order) + z(fps_end)) / 2, below + 20, appended, 'f-0', 14, 'middle')
    p.text((z(tids_start) + z(special - tid * in_order)) / 2, below + 20, 'their TIDs', 'f-2', 14,
           'middle')
    p.text(z(marks + bits / 2), below + 20, 'a bit for each entry:', 'f-hot', 13, 'middle')
    p.text(z(marks + bits / 2), below + 37, 'the row is dead', 'f-hot', 13, 'middle')
    p.text(z(marks), zoom_top - 8, 'byte %d' % marks, 'f-hot', 13)
    p.text(z(fps_end) - 4, zoom_top - 8, 'byte %d' % fps_end, 'f-dim', 13, 'end')
    p.text(z(tids_start) + 4, zoom_top - 8, 'byte %d' % tids_start, 'f-dim', 13)
    for start, end in ((fps_end, marks), (marks + bits, tids_start)):
        p.text((z(start) + z(end)) / 2, zoom_top + 38, 'free', 'f-dim', 13, 'middle')

    # the special area
    top = 402
    members = struct('ShIdxOpaqueData')
    # what fits; the others are named below
    names = {'low_fp': 'low', 'high_fp': 'high', 'low_tid': 'low TID', 'high_tid': 'high TID',
             'right': 'right', 'low_group': 'low grp', 'high_group': 'high grp'}
    unit = WIDTH / (PAGE - special)
    p.text(24, top - 12, '*Special area:* the page holds keys from low up to, but not including, high; '
           'right is the next page', size=15)
    for member, offset, size in members:
        p.rect(LEFT + offset * unit, top, size * unit - 1.5, 30, 'p-3', 2)
        center = LEFT + (offset + size / 2) * unit
        if member in names:
            p.text(center, top + 20, names[member], 'f-3', 13, 'middle')
        else:
            p.line(center, top + 30, center, top + 36, 'l-3')
    assert [m[0] for m in members if m[0] not in names] == ['tree', 'level', 'flags', 'sorted', 'page_id']
    p.text(LEFT + WIDTH, top + 52, 'tree, level, flags, sorted = %d, page id' % in_order, 'f-3', 13,
           'end')
    p.text(LEFT, top + 52, 'low = %s\u2026, high = %s\u2026, right = %s'
           % (page['low'][:5], page['high'][:5], page['right_block']), 'f-3', 13)
    p.save(file)
