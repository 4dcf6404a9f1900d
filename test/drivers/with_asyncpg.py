# asyncpg, without and with a codec
import asyncio
import os
import asyncpg


def check(what, got, expected):
    print(f'ok - {what}' if got == expected else f'not ok - {what}: {got!r}')


def value_of(row):
    return [value for value in row]


async def as_strings(conn):
    async def values(query, *args):
        return [value for row in await conn.fetch(query, *args) for value in row]

    async def error(query, *args):
        try:
            return await values(query, *args)
        except (asyncpg.PostgresError, asyncpg.InterfaceError) as e:
            return type(e).__name__

    fp = '17841137466214345717'
    await conn.execute('INSERT INTO docs VALUES ($1, $2::simhash)', 10, fp)

    near = await conn.fetch('''
        SELECT id, fp <~> $1::simhash AS distance FROM docs
         WHERE fp <~> $1::simhash <= $2::int
         ORDER BY fp <~> $1::simhash LIMIT 10''', fp, 3)

    some = await conn.fetch('SELECT id FROM docs WHERE fp % ANY ($1::simhash[])', [fp, '1'])

    computed = await conn.fetchrow('''
        SELECT simhash_minhash($1::text) AS of_text,
               simhash_minhash($2::bytea) AS of_bytes,
               simhash_minhash($3::text[]) AS of_features,
               simhash_minhash($4::bigint[]) AS of_hashes''',
                                   'hello world', bytes.fromhex('00015c2780ff616263646566'),
                                   ['alpha', 'beta'], [-1, -1, 5])

    row = await conn.fetchrow('SELECT fp, fp::bigint AS signed FROM docs WHERE id = 10')
    unsigned = int(row['fp'])
    same = row['signed'] & (2**64 - 1)

    body = 'The Harbor Bridge is closed until Monday; and buses take the tunnel!'
    check('strings: a text', await values('SELECT id FROM texts WHERE body =~= $1', body), [1])
    check('strings: any of some texts',
          await values('SELECT id FROM texts WHERE body =~= ANY ($1)', [body, '...']), [1])
    await conn.execute('INSERT INTO texts VALUES (10, $1) ON CONFLICT DO NOTHING', body)
    check('strings: a text that is kept out', await values('SELECT count(*) FROM texts'), [3])
    check('strings: hexadecimal digits', await values(
        'SELECT id FROM images WHERE pdq <~> $1::simhash_bits(256) <= $2::int ORDER BY id', '0f' * 32, 31), [1, 2])
    check('strings: read as digits', await values('SELECT pdq FROM images WHERE id = 1'), ['0f' * 32])
    check('strings: bytes of another type', await values(
        'SELECT id FROM images WHERE pdq % $1::bytea::simhash_bits ORDER BY id', bytes.fromhex('0f' * 32)), [1, 2])
    check('strings: too few digits', await error('SELECT $1::simhash_bits(256)', '0f' * 31), 'StringDataLengthMismatchError')

    check('strings: nearest first', [r['distance'] for r in near], [0, 0, 1])
    check('strings: any of an array', sorted(r['id'] for r in some), [1, 2, 3, 10])
    check('strings: computed', list(computed.values()), [
        '3568961919840134528', '720769818233651409',
        '7023365908306380860', '18218831152844919349'])
    check('strings: read as a string', row['fp'], fp)
    check('strings: read exactly', (unsigned, same), (int(fp), int(fp)))

    for value in (str(int(fp) - 2**64), '0xF79873FFC69E6BF5'):
        check(f'strings: written as {value!r}', await values(
            'SELECT fp FROM docs WHERE fp = $1::simhash LIMIT 1', value), [fp])
    check('strings: written as a bigint', await values(
        'SELECT id FROM docs WHERE fp <~> $1::bigint <= 3 ORDER BY 1', int(fp) - 2**64), [1, 2, 10])
    check('strings: an index by its name', await values(
        'SELECT count(*) > 0 FROM simhash_find_all($1::regclass)', 'docs_fp'), [True])

    # what the page warns of
    check('strings: an int', await error('SELECT $1::simhash', int(fp)), 'DataError')
    check('strings: array without a type', await error('SELECT simhash_minhash($1)', ['a']), 'DataError')
    check('strings: bytes without a type', await error('SELECT simhash_minhash($1)', b'a'), 'DataError')
    try:
        await conn.copy_records_to_table('docs', records=[(20, fp)])
        check('strings: binary COPY', 'no error', None)
    except asyncpg.InternalClientError as e:
        check('strings: binary COPY', 'no binary format encoder' in str(e), True)

    for body in ('hello world', 'Hello, world!'):
        await conn.execute('INSERT INTO corpus (body) VALUES ($1) ON CONFLICT DO NOTHING', body)
    check('strings: kept out', await values('SELECT body FROM corpus'), ['hello world'])
    await conn.execute('DELETE FROM docs WHERE id >= 10')


async def as_integers(conn):
    await conn.set_type_codec('simhash', format='binary',
                              encoder=lambda fp: fp.to_bytes(8, 'big'),
                              decoder=lambda data: int.from_bytes(data, 'big'))
    fp = 17841137466214345717
    await conn.execute('INSERT INTO docs VALUES ($1, $2::simhash)', 10, fp)
    await conn.copy_records_to_table('docs', records=[(20, fp), (21, 2**64 - 1)])
    found = await conn.fetch('SELECT id, fp FROM docs WHERE fp = ANY ($1::simhash[])', [fp, 1])

    await conn.set_type_codec('simhash_bits', format='binary', encoder=bytes, decoder=bytes)
    pdq = bytes.fromhex('0f' * 32)
    await conn.execute('INSERT INTO images VALUES ($1, $2)', 10, pdq)
    await conn.copy_records_to_table('images', records=[(20, pdq)])
    images = await conn.fetch('SELECT id, pdq FROM images WHERE pdq % ANY ($1::simhash_bits[])', [pdq])

    check('bytes: found', sorted(value_of(r) for r in images),
          [[1, pdq], [2, pdq[:28] + bytes(4)], [10, pdq], [20, pdq]])
    check('integers: any of an array', sorted(value_of(r) for r in found),
          [[1, fp], [3, 1], [10, fp], [20, fp]])
    check('integers: COPY', await conn.fetchval('SELECT fp FROM docs WHERE id = 21'), 2**64 - 1)


async def main():
    # it takes a directory only as the argument
    conn = await asyncpg.connect(host=os.environ['PGHOST'])
    await as_strings(conn)
    await as_integers(conn)
    await conn.close()

asyncio.run(main())
