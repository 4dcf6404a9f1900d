"""What the pictures are made of: measured figures, and sizes in the sources."""

import csv
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, '..', '..')


def rows(name):
    """The rows of data/NAME.csv as dictionaries; lines with # are comments."""
    with open(os.path.join(HERE, 'data', name + '.csv'), encoding='utf-8') as f:
        return list(csv.DictReader(line for line in f if not line.startswith('#')))


SIZES = {'uint64': 8, 'ShPermuted': 8, 'uint32': 4, 'uint16': 2, 'uint8': 1, 'BlockNumber': 4, 'ItemPointerData': 6,
         'BlockIdData': 4}
PAGE = 8192
HEADER = 24                             # SizeOfPageHeaderData


def struct(name):
    """The members of a struct of src/index/page.h: name, offset, size."""
    with open(os.path.join(TOP, 'src', 'index', 'page.h'), encoding='utf-8') as f:
        body = re.search(r'typedef struct %s\n\{(.*?)\n\}' % name, f.read(), re.S).group(1)
    members, offset = [], 0
    for line in re.sub(r'/\*.*?\*/', '', body, flags=re.S).split(';')[:-1]:
        type_name, member = line.split()
        size = SIZES[type_name]
        align = min(size, 8) if size != 6 else 2
        offset = (offset + align - 1) // align * align
        members.append((member, offset, size))
        offset += size
    return members


def size_of(name):
    """Size of a struct, up to the alignment of the server."""
    member, offset, size = struct(name)[-1]
    return (offset + size + 7) // 8 * 8


def leaf_capacity(page):
    """Entries of a full leaf, each of which also has a bit for its mark."""
    width = int(page['key_width']) + int(page['row_width'])
    return ((PAGE - HEADER - size_of('ShIdxOpaqueData') - 1) * 8) // (width * 8 + 1)


def thousands(n):
    return '{:,}'.format(n)
