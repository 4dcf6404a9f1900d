#!/usr/bin/env python3
"""Draw all pictures of this directory, or those that are named.

usage: draw.py [-o DIRECTORY] [NAME...]

They are made of data/*.csv, which programs in test/bench have measured, of
test/reference, and of the sources.  Needs Python 3.10 or later and nothing
besides its standard library.
"""

import importlib
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

NAMES = ('similar', 'distance', 'vote', 'pigeonhole', 'wide', 'page', 'lookup', 'split', 'radius',
         'growth', 'texts', 'quality')


def main(arguments):
    directory = HERE
    if arguments[:1] == ['-o']:
        directory = arguments[1]
        arguments = arguments[2:]
    for name in arguments or NAMES:
        if name not in NAMES:
            sys.exit('no picture "%s"' % name)
        importlib.import_module(name).draw(os.path.join(directory, name + '.svg'))


if __name__ == '__main__':
    main(sys.argv[1:])
