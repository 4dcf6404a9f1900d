#!/usr/bin/env python3
"""The regression test of the test vectors.

usage: make_sql.py > sql/text_vectors.sql

Prints no test but what differs, and exits with status 1, if the reference
implementation has other results than those pinned.
"""

import json
import os
import sys
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'reference'))
from simhash_reference import evaluate

HEAD = """\
--
-- The test vectors of test/vectors/vectors.jsonl; made by make_sql.py there.
-- These results are frozen.
--
CREATE TEMPORARY TABLE vectors (form text, name text, expected text, result text);
"""

# Kind of call; the columns of VALUES after name and expected; the result
KINDS = [
    ('text', 'document',
     'simhash_compute(document)'),
    ('text, options', 'document, shingle, unit',
     'simhash_compute(document, shingle, unit)'),
    ('bytea', 'document',
     'simhash_compute(document)'),
    ('bytea, shingle', 'document, shingle',
     'simhash_compute(document, shingle)'),
    ('tsvector', 'document',
     'simhash_compute(document::tsvector)'),
    ('text[]', 'features',
     'simhash_compute(features::text[])'),
    ('text[], weights', 'features, weights',
     'simhash_compute(features::text[], weights::float8[])'),
    ('bigint[]', 'hashes',
     'simhash_compute(hashes::bigint[])'),
    ('bigint[], weights', 'hashes, weights',
     'simhash_compute(hashes::bigint[], weights::float8[])'),
    ('hash', 'document',
     'simhash_hash(document)'),
    ('shingles', 'document, shingle, unit',
     "array_to_string(simhash_shingles(document, shingle, unit), '|')"),
    ('passage_keys', 'document',
     "nullif(array_to_string(simhash_passage_keys(document), ' '), '')"),
    ('passages', 'a, b, min_words',
     "(SELECT string_agg(format('%s %s %s', a_word, b_word, words), '|' ORDER BY a_word) "
     'FROM simhash_passages(a, b, min_words))'),
    ('minhash of text', 'document',
     'simhash_minhash(document)'),
    ('minhash of text, options', 'document, shingle, unit',
     'simhash_minhash(document, shingle, unit)'),
    ('minhash of bytea', 'document',
     'simhash_minhash(document)'),
    ('minhash of bytea, shingle', 'document, shingle',
     'simhash_minhash(document, shingle)'),
    ('minhash of tsvector', 'document',
     'simhash_minhash(document::tsvector)'),
    ('minhash of text[]', 'features',
     'simhash_minhash(features::text[])'),
    ('minhash of bigint[]', 'hashes',
     'simhash_minhash(hashes::bigint[])'),
    ('minhash_bits of text', 'document, bits',
     'simhash_minhash_bits(document, bits)'),
    ('minhash_bits of text, options', 'document, bits, shingle, unit',
     'simhash_minhash_bits(document, bits, shingle, unit)'),
    ('minhash_bits of bytea', 'document, bits',
     'simhash_minhash_bits(document, bits)'),
    ('minhash_bits of bytea, shingle', 'document, bits, shingle',
     'simhash_minhash_bits(document, bits, shingle)'),
    ('minhash_bits of tsvector', 'document, bits',
     'simhash_minhash_bits(document::tsvector, bits)'),
    ('minhash_bits of text[]', 'features, bits',
     'simhash_minhash_bits(features::text[], bits)'),
    ('minhash_bits of bigint[]', 'hashes, bits',
     'simhash_minhash_bits(hashes::bigint[], bits)'),
]

# What else must give the same; the rows come from where the others came from.
MORE = {
    'text': [
        ('features of text', 'simhash_compute(simhash_shingles(document))'),
    ],
    'text, options': [
        ('features of text',
         'simhash_compute(simhash_shingles(document, shingle, unit))'),
        ('aggregate of text', '(SELECT simhash_agg(simhash_hash(f)) '
         'FROM unnest(simhash_shingles(document, shingle, unit)) f)'),
    ],
    'bigint[]': [
        ('aggregate', '(SELECT simhash_agg(h) FROM unnest(hashes::bigint[]) h)'),
    ],
    'bigint[], weights': [
        ('aggregate, weights', '(SELECT simhash_weighted_agg(h, w) '
         'FROM unnest(hashes::bigint[], weights::float8[]) u (h, w))'),
    ],
    'text[], weights': [
        ('aggregate of features', '(SELECT simhash_weighted_agg(simhash_hash(f), w) '
         'FROM unnest(features::text[], weights::float8[]) u (f, w))'),
    ],
    'minhash of text, options': [
        ('minhash of features of text',
         'simhash_minhash(simhash_shingles(document, shingle, unit))'),
        ('minhash, aggregate of text', '(SELECT simhash_minhash_agg(simhash_hash(f)) '
         'FROM unnest(simhash_shingles(document, shingle, unit)) f)'),
    ],
    'minhash of text[]': [
        ('minhash, aggregate of features', '(SELECT simhash_minhash_agg(simhash_hash(f)) '
         'FROM unnest(features::text[]) f)'),
    ],
    'minhash of bigint[]': [
        ('minhash, aggregate',
         '(SELECT simhash_minhash_agg(h) FROM unnest(hashes::bigint[]) h)'),
    ],
    'minhash_bits of text, options': [
        ('minhash_bits of features of text',
         'simhash_minhash_bits(simhash_shingles(document, shingle, unit), bits)'),
        ('minhash_bits, aggregate of text',
         '(SELECT simhash_minhash_bits_agg(simhash_hash(f), bits) '
         'FROM unnest(simhash_shingles(document, shingle, unit)) f)'),
    ],
    'minhash_bits of bigint[]': [
        ('minhash_bits, aggregate',
         '(SELECT simhash_minhash_bits_agg(h, bits) FROM unnest(hashes::bigint[]) h)'),
    ],
}

TAIL = """
-- what differs: nothing
SELECT * FROM vectors WHERE result IS DISTINCT FROM expected ORDER BY form, name;
SELECT form, count(*), count(expected) AS not_null FROM vectors GROUP BY form ORDER BY form COLLATE "C";
"""


def plain(c):
    """Does a character look the same in every editor?"""
    return (c == ' ' or unicodedata.category(c)[0] in 'LNPS' and
            unicodedata.normalize('NFC', c) == c and
            not '\u1100' <= c < '\u1200' and c not in '\u3164\uffa0')


def text_literal(text):
    quoted = text.replace("'", "''")
    if all(map(plain, text)):
        return "'%s'" % quoted
    return "U&'%s'" % ''.join(
        c if plain(c) and c != '\\' else
        '\\\\' if c == '\\' else
        '\\%04X' % ord(c) if c <= '\uffff' else '\\+%06X' % ord(c)
        for c in quoted)


def array_literal(items):
    return text_literal('{%s}' % ','.join(
        '"%s"' % item.replace('\\', '\\\\').replace('"', '\\"')
        if isinstance(item, str) else repr(item) for item in items))


def tsvector_literal(lexemes):
    return text_literal(' '.join(
        "'%s'%s" % (lexeme.replace('\\', '\\\\').replace("'", "''"),
                    ':' * bool(positions) + ','.join(map(str, positions)))
        for lexeme, positions in lexemes.items()))


def repeated(vector, literal):
    if 'repeat' in vector:
        return 'repeat(%s, %d)' % (literal, vector['repeat'])
    return literal


def call(vector):
    """The kind of call and its arguments, as SQL."""
    kind, arguments = call_of_form(vector)
    if 'function' in vector:
        kind = vector['function'] + ' of ' + kind
    if vector.get('function') == 'minhash_bits':
        arguments.insert(1, str(vector['bits']))
    return kind, arguments


def call_of_form(vector):
    form = vector['form']
    if form == 'tsvector':
        return form, [tsvector_literal(vector['lexemes'])]
    if 'series' in vector:
        return form, ["ARRAY(SELECT generate_series(bigint '%s', '%s', '%s'))::text" %
                      tuple(vector['series'])]
    if form == 'passages':
        return form, [text_literal(vector['a']), text_literal(vector['b']),
                      str(vector.get('min_words', 13))]
    if form in ('text[]', 'bigint[]'):
        if form == 'text[]':
            arguments = [array_literal(vector['features'])]
        else:
            arguments = [array_literal([int(h) for h in vector['hashes']])]
        if 'weights' in vector:
            return form + ', weights', arguments + [array_literal(vector['weights'])]
        return form, arguments
    if form == 'bytea':
        document = "decode(%s, 'hex')" % repeated(vector, "'%s'" % vector['document'])
        if 'shingle' in vector:
            return form + ', shingle', [document, str(vector['shingle'])]
        return form, [document]
    document = repeated(vector, text_literal(vector['document']))
    if form == 'shingles' or form == 'text' and 'shingle' in vector:
        kind = form if form == 'shingles' else form + ', options'
        return kind, [document, str(vector.get('shingle', 4)),
                      "'%s'" % vector.get('unit', 'char')]
    return form, [document]


def main():
    sys.stdout.reconfigure(encoding='utf-8')
    with open(os.path.join(HERE, 'vectors.jsonl'), encoding='utf-8') as file:
        vectors = [json.loads(line) for line in file]
    rows = {}
    wrong = 0
    for vector in vectors:
        expected = vector['result']
        result = evaluate(vector)
        if (None if result is None else str(result)) != expected:
            print('%s, %s: pinned %s, computed %s' % (
                vector['form'], vector['name'], expected, result), file=sys.stderr)
            wrong += 1
        kind, arguments = call(vector)
        rows.setdefault(kind, []).append('(%s)' % ', '.join(
            [text_literal(vector['name']),
             'NULL' if expected is None else text_literal(expected), *arguments]))
    if wrong:
        sys.exit(1)

    print(HEAD, end='')
    for kind, columns, result in KINDS:
        values = ',\n\t'.join(rows.pop(kind))
        # several results a row, so that the values stand here once
        results = [(kind, result), *MORE.get(kind, [])]
        print('\nINSERT INTO vectors SELECT form, name, expected, result')
        print('FROM (VALUES\n\t' + values)
        print(') AS v (name, expected, %s),\nLATERAL (VALUES' % columns)
        print(',\n'.join("\t('%s', %s::text)" % r for r in results))
        print(') AS r (form, result);')
    assert not rows
    print(TAIL, end='')


if __name__ == '__main__':
    main()
