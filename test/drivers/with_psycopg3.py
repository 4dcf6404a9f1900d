# psycopg 3
import psycopg


def check(what, got, expected):
    print(f'ok - {what}' if got == expected else f'not ok - {what}: {got!r}')


def run(conn, mode):
    def values(query, args=None, **options):
        return [value for row in conn.execute(query, args, **options) for value in row]

    def error(query, args):
        try:
            return values(query, args)
        except psycopg.Error as e:
            return e.sqlstate

    fp = 17841137466214345717
    conn.execute('INSERT INTO docs VALUES (%s, CAST(%s AS simhash))', (10, fp))

    near = conn.execute('''
        SELECT id, fp <~> CAST(%(fp)s AS simhash) AS distance FROM docs
         WHERE fp <~> CAST(%(fp)s AS simhash) <= %(radius)s
         ORDER BY fp <~> CAST(%(fp)s AS simhash) LIMIT 10''',
                        {'fp': fp, 'radius': 3}).fetchall()

    some = conn.execute('SELECT id FROM docs WHERE fp %% ANY (%s::simhash[])',
                        ([fp, 1],)).fetchall()

    computed = conn.execute('''
        SELECT simhash_minhash(%s::text), simhash_minhash(%s::bytea),
               simhash_minhash(%s::text[]), simhash_minhash(%s::bigint[])''',
                            ('hello world', bytes.fromhex('00015c2780ff616263646566'),
                             ['alpha', 'beta'], [-1, -1, 5])).fetchone()

    text, signed = conn.execute('SELECT fp, fp::bigint FROM docs WHERE id = 10').fetchone()
    unsigned = int(text)
    same = signed & (2**64 - 1)

    body = 'The Harbor Bridge is closed until Monday; and buses take the tunnel!'
    alike = conn.execute('SELECT id FROM texts WHERE body =~= %s', (body,)).fetchall()
    any_alike = conn.execute('SELECT id FROM texts WHERE body =~= ANY (%s)', ([body, '...'],)).fetchall()

    pdq = bytes.fromhex('0f' * 32)
    conn.execute('INSERT INTO images VALUES (%s, %s)', (10, pdq.hex()))
    images = conn.execute('SELECT id FROM images WHERE pdq <~> %s::simhash_bits(256) <= %s',
                          (pdq.hex(), 31)).fetchall()
    by_bytes = [(id, bytes.fromhex(digits)) for id, digits in conn.execute(
        'SELECT id, pdq FROM images WHERE pdq %% %s::bytea::simhash_bits ORDER BY id', (pdq,))]

    digits = '0xf79873ffc69e6bf5'
    conn.execute('INSERT INTO photos VALUES (%s, CAST(%s AS simhash))', (10, digits))
    photos = conn.execute('SELECT id, hash FROM photos WHERE hash <~> %s::simhash <= %s ORDER BY id',
                          (digits, 3)).fetchall()

    check(f'{mode}: a column of numbers with sign', photos, [(1, fp - 2**64), (10, fp - 2**64)])
    check(f'{mode}: a number without sign in such a column',
          error('INSERT INTO photos VALUES (%s, %s)', (11, fp)), '22003')
    check(f'{mode}: a text', alike, [(1,)])
    check(f'{mode}: any of some texts', any_alike, [(1,)])
    check(f'{mode}: hexadecimal digits', sorted(images), [(1,), (2,), (10,)])
    check(f'{mode}: bytes', by_bytes[0] + by_bytes[2], (1, pdq, 10, pdq))
    check(f'{mode}: array of digits', values('SELECT id FROM images WHERE pdq %% ANY (%s::simhash_bits[]) ORDER BY 1',
                                            ([pdq.hex(), 'f0' * 32],)), [1, 2, 3, 10])
    check(f'{mode}: too few digits', error('SELECT id FROM images WHERE pdq %% %s::simhash_bits(256)',
                                           ('0f' * 31,)), '22026')
    conn.execute('INSERT INTO texts VALUES (10, %s) ON CONFLICT DO NOTHING', (body,))
    check(f'{mode}: a text that is kept out', values('SELECT count(*) FROM texts'), [3])
    with conn.cursor().copy('COPY images (id, pdq) FROM STDIN') as copy:
        copy.write_row((20, pdq.hex()))
    with conn.cursor().copy('COPY images (id, pdq) FROM STDIN (FORMAT BINARY)') as copy:
        copy.set_types(['int4', 'bytea'])
        copy.write_row((21, pdq))
    check(f'{mode}: binary COPY of bytes', values('SELECT pdq FROM images WHERE id = 21'), [pdq.hex()])
    if mode != 'client':
        check(f'{mode}: read in the binary format',
              values('SELECT pdq FROM images WHERE id = 21', binary=True), [pdq])
    check(f'{mode}: COPY of digits', values('SELECT pdq FROM images WHERE id = 20'), [pdq.hex()])
    conn.execute('DELETE FROM images WHERE id >= 10')

    check(f'{mode}: nearest first', [distance for _, distance in near], [0, 0, 1])
    check(f'{mode}: any of an array', sorted(some), [(1,), (2,), (3,), (10,)])
    check(f'{mode}: computed', computed, ('3568961919840134528', '720769818233651409',
                                          '7023365908306380860', '18218831152844919349'))
    check(f'{mode}: read as a string', text, str(fp))
    check(f'{mode}: read exactly', (unsigned, same), (fp, fp))

    for value in (str(fp), fp - 2**64, str(fp - 2**64), '0xF79873FFC69E6BF5'):
        check(f'{mode}: written as {value!r}', values(
            'SELECT fp FROM docs WHERE fp = CAST(%s AS simhash) LIMIT 1', (value,)), [str(fp)])
    check(f'{mode}: array of strings and negative numbers',
          values('SELECT id FROM docs WHERE fp = ANY (%s::simhash[]) ORDER BY 1', ([str(fp), '-1'],)) +
          values('SELECT id FROM docs WHERE fp = ANY (%s::simhash[]) ORDER BY 1', ([fp - 2**64, -1],)),
          [1, 10, 1, 10])
    check(f'{mode}: an index by its name',
          values('SELECT count(*) > 0 FROM simhash_find_all(%s::regclass)', ('docs_fp',)), [True])

    # what the page warns of
    if mode == 'client':
        check(f'{mode}: a negative number before ::',
              error('SELECT id FROM docs WHERE fp = %s::simhash', (fp - 2**64,)), '42883')
    check(f'{mode}: array taken as text', values('SELECT simhash_minhash(%s)', (['alpha', 'beta'],)),
          values("SELECT simhash_minhash('{alpha,beta}'::text)"))

    for body in ('hello world', 'Hello, world!'):
        conn.execute('INSERT INTO corpus (body) VALUES (%s) ON CONFLICT DO NOTHING', (body,))
    check(f'{mode}: kept out', values('SELECT body FROM corpus'), ['hello world'])

    # the guard of doc/guards.md
    told = []
    body = 'Harbor Ltd. is customer 4711, and its invoices are due in four weeks'
    for user in (1, 2):
        with conn.transaction():
            conn.execute("SELECT pg_advisory_xact_lock('memories'::regclass::int, %s)", (user,))
            near = conn.execute('SELECT near_duplicate_of(%s, %s)', (user, body)).fetchone()[0]
            if near is None:
                conn.execute('INSERT INTO memories (user_id, body) VALUES (%s, %s)', (user, body))
        told.append(near)
    check(f'{mode}: a guard that advises', told + values('SELECT user_id FROM memories ORDER BY 1'), [1, None, 1, 2])
    conn.execute('DELETE FROM memories WHERE user_id = 2')

    with conn.cursor().copy('COPY docs (id, fp) FROM STDIN') as copy:
        copy.write_row((20, fp))
        copy.write_row((21, -1))
    check(f'{mode}: COPY', values('SELECT fp FROM docs WHERE id >= 20 ORDER BY id'),
          [str(fp), '18446744073709551615'])
    conn.execute('DELETE FROM docs WHERE id >= 10')
    conn.execute('DELETE FROM photos WHERE id >= 10')


with psycopg.connect(autocommit=True) as conn:
    run(conn, 'server')
with psycopg.connect(autocommit=True, prepare_threshold=0) as conn:
    run(conn, 'prepared')
with psycopg.connect(autocommit=True, cursor_factory=psycopg.ClientCursor) as conn:
    run(conn, 'client')
