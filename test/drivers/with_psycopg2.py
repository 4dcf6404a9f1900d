# psycopg 2
import io
import psycopg2


def check(what, got, expected):
    print(f'ok - {what}' if got == expected else f'not ok - {what}: {got!r}')


conn = psycopg2.connect('')
conn.autocommit = True
cur = conn.cursor()


def values(query, args=None):
    cur.execute(query, args)
    return [value for row in cur.fetchall() for value in row]


def error(query, args):
    try:
        return values(query, args)
    except psycopg2.Error as e:
        return e.pgcode


fp = 17841137466214345717
cur.execute('INSERT INTO docs VALUES (%s, CAST(%s AS simhash))', (10, fp))

cur.execute('''
    SELECT id, fp <~> CAST(%(fp)s AS simhash) AS distance FROM docs
     WHERE fp <~> CAST(%(fp)s AS simhash) <= %(radius)s
     ORDER BY fp <~> CAST(%(fp)s AS simhash) LIMIT 10''', {'fp': fp, 'radius': 3})
near = cur.fetchall()

cur.execute('SELECT id FROM docs WHERE fp %% ANY (%s::simhash[])', ([fp, 1],))
some = cur.fetchall()

cur.execute('''
    SELECT simhash_minhash(%s::text), simhash_minhash(%s::bytea),
           simhash_minhash(%s::text[]), simhash_minhash(%s::bigint[])''',
            ('hello world', bytes.fromhex('00015c2780ff616263646566'),
             ['alpha', 'beta'], [-1, -1, 5]))
computed = cur.fetchone()

cur.execute('SELECT fp, fp::bigint FROM docs WHERE id = 10')
text, signed = cur.fetchone()
unsigned = int(text)
same = signed & (2**64 - 1)

body = 'The Harbor Bridge is closed until Monday; and buses take the tunnel!'
pdq = bytes.fromhex('0f' * 32)
cur.execute('SELECT id FROM texts WHERE body =~= %s', (body,))
alike = cur.fetchall()

cur.execute('SELECT id FROM texts WHERE body =~= ANY (%s)', ([body, '...'],))
any_alike = cur.fetchall()

cur.execute('INSERT INTO images VALUES (%s, %s)', (10, pdq.hex()))
cur.execute('SELECT id FROM images WHERE pdq <~> %s::simhash_bits(256) <= %s', (pdq.hex(), 31))
images = cur.fetchall()

cur.execute('SELECT id, pdq FROM images WHERE pdq %% %s::bytea::simhash_bits ORDER BY id', (pdq,))
by_bytes = [(id, bytes.fromhex(digits)) for id, digits in cur]

check('a text', alike, [(1,)])
check('any of some texts', any_alike, [(1,)])
check('hexadecimal digits', sorted(images), [(1,), (2,), (10,)])
check('bytes', by_bytes[0] + by_bytes[2], (1, pdq, 10, pdq))
check('array of digits', values('SELECT id FROM images WHERE pdq %% ANY (%s::simhash_bits[]) ORDER BY 1',
                                ([pdq.hex(), 'f0' * 32],)), [1, 2, 3, 10])
check('too few digits', error('SELECT id FROM images WHERE pdq %% %s::simhash_bits(256)', ('0f' * 31,)), '22026')
cur.execute('INSERT INTO texts VALUES (10, %s) ON CONFLICT DO NOTHING', (body,))
check('a text that is kept out', values('SELECT count(*) FROM texts'), [3])

check('nearest first', [distance for _, distance in near], [0, 0, 1])
check('any of an array', sorted(some), [(1,), (2,), (3,), (10,)])
check('computed', computed, ('3568961919840134528', '720769818233651409',
                             '7023365908306380860', '18218831152844919349'))
check('read as a string', text, str(fp))
check('read exactly', (unsigned, same), (fp, fp))

for value in (str(fp), fp - 2**64, str(fp - 2**64), '0xF79873FFC69E6BF5'):
    check(f'written as {value!r}',
          values('SELECT fp FROM docs WHERE fp = CAST(%s AS simhash) LIMIT 1', (value,)), [str(fp)])
check('array of strings and negative numbers',
      values('SELECT id FROM docs WHERE fp = ANY (%s::simhash[]) ORDER BY 1', ([str(fp), '-1'],)) +
      values('SELECT id FROM docs WHERE fp = ANY (%s::simhash[]) ORDER BY 1', ([fp - 2**64, -1],)),
      [1, 10, 1, 10])
check('an index by its name', values('SELECT count(*) > 0 FROM simhash_find_all(%s::regclass)', ('docs_fp',)), [True])

# what the page warns of
check('a negative number before ::',
      error('SELECT id FROM docs WHERE fp = %s::simhash', (fp - 2**64,)), '42883')
check('an array of strings without a type',
      error('SELECT id FROM docs WHERE fp = ANY (%s)', ([str(fp)],)), '42883')
cur.execute('SET enable_seqscan = off')
for radius, index_used in ((3, True), (3.0, False)):
    plan = values('EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE fp <~> CAST(%s AS simhash) <= %s', (fp, radius))
    check(f'a radius of type {type(radius).__name__}', 'Index Cond' in ' '.join(plan), index_used)

for body in ('hello world', 'Hello, world!'):
    cur.execute('INSERT INTO corpus (body) VALUES (%s) ON CONFLICT DO NOTHING', (body,))
check('kept out', values('SELECT body FROM corpus'), ['hello world'])

cur.copy_expert('COPY docs (id, fp) FROM STDIN', io.StringIO(f'20\t{fp}\n21\t-1\n'))
check('COPY', values('SELECT fp FROM docs WHERE id >= 20 ORDER BY id'),
      [str(fp), '18446744073709551615'])
