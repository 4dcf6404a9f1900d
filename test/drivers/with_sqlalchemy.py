# SQLAlchemy, over psycopg 2; constraints over psycopg 3 and asyncpg as well
import asyncio
import os
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ExcludeConstraint
from sqlalchemy.exc import SQLAlchemyError


def check(what, got, expected):
    print(f'ok - {what}' if got == expected else f'not ok - {what}: {got!r}')


class Simhash(sa.types.UserDefinedType):
    cache_ok = True

    def get_col_spec(self, **kw):
        return 'simhash'

    def bind_processor(self, dialect):
        return lambda value: None if value is None else str(value)

    def bind_expression(self, value):
        return sa.cast(value, self)

    def result_processor(self, dialect, coltype):
        return lambda value: None if value is None else int(value)

    class comparator_factory(sa.types.UserDefinedType.Comparator):
        def distance(self, other):
            return self.op('<~>', return_type=sa.Integer())(other)


docs = sa.Table('docs', sa.MetaData(),
                sa.Column('id', sa.Integer, primary_key=True), sa.Column('fp', Simhash))


class SimhashBits(Simhash):
    cache_ok = True

    def __init__(self, bits):
        self.bits = bits

    def get_col_spec(self, **kw):
        return f'simhash_bits({self.bits})'

    def bind_processor(self, dialect):
        return lambda value: None if value is None else value.hex()

    def result_processor(self, dialect, coltype):
        return lambda value: None if value is None else bytes.fromhex(value)


texts = sa.Table('texts', sa.MetaData(),
                 sa.Column('id', sa.Integer, primary_key=True), sa.Column('body', sa.Text))
images = sa.Table('images', sa.MetaData(),
                  sa.Column('id', sa.Integer, primary_key=True), sa.Column('pdq', SimhashBits(256)))

articles = sa.Table('articles', sa.MetaData(),
                    sa.Column('body', sa.Text),
                    sa.Column('fp', Simhash, sa.Computed('simhash_minhash(body)', persisted=True)),
                    sa.Index('articles_body', 'body', postgresql_using='simhash',
                             postgresql_ops={'body': 'simhash_text_ops'}),
                    sa.Index('articles_fp', 'fp', postgresql_using='simhash'),
                    ExcludeConstraint((sa.column('fp'), '%%'), using='simhash'))


def exclusion(operator):
    """A statement that makes a table with an exclusion constraint."""
    return sa.schema.CreateTable(sa.Table(
        'excluding', sa.MetaData(), sa.Column('fp', Simhash),
        ExcludeConstraint((sa.column('fp'), operator), using='simhash'), prefixes=['TEMPORARY']))


engine = sa.create_engine('postgresql+psycopg2://')
with engine.begin() as conn:
    fp = 17841137466214345717
    conn.execute(docs.insert().values(id=10, fp=fp))

    distance = docs.c.fp.distance(fp)
    near = conn.execute(sa.select(docs.c.id, distance).where(distance <= 3)
                        .order_by(distance).limit(10)).fetchall()

    some = conn.execute(sa.text('SELECT id FROM docs WHERE fp % ANY (CAST(:some AS simhash[]))'),
                        {'some': [fp, 1]}).fetchall()

    computed = conn.execute(sa.text('''
        SELECT simhash_minhash(CAST(:body AS text)), simhash_minhash(CAST(:bytes AS bytea)),
               simhash_minhash(CAST(:features AS text[])), simhash_minhash(CAST(:hashes AS bigint[]))'''),
        {'body': 'hello world', 'bytes': bytes.fromhex('00015c2780ff616263646566'),
         'features': ['alpha', 'beta'], 'hashes': [-1, -1, 5]}).fetchone()

    back = conn.execute(sa.select(docs.c.fp).where(docs.c.id == 10)).scalar()

    check('nearest first', [row[1] for row in near], [0, 0, 1])
    check('any of an array', sorted(row[0] for row in some), [1, 2, 3, 10])
    check('computed', tuple(computed), ('3568961919840134528', '720769818233651409',
                                        '7023365908306380860', '18218831152844919349'))
    check('read as an int', back, fp)
    check('NULL', conn.execute(sa.select(docs.c.fp).where(docs.c.id == 4)).scalar(), None)
    check('IN', conn.execute(sa.select(docs.c.id).where(docs.c.fp.in_([fp, 1]))
                             .order_by(docs.c.id)).scalars().all(), [1, 3, 10])
    check('text() without the type', conn.execute(
        sa.text('SELECT fp FROM docs WHERE id = 10')).scalar(), str(fp))
    check('a negative number', conn.execute(
        sa.select(docs.c.id).where(docs.c.fp == fp - 2**64).order_by(docs.c.id)).scalars().all(), [1, 10])

    for body in ('hello world', 'Hello, world!'):
        conn.execute(sa.text('INSERT INTO corpus (body) VALUES (:body) ON CONFLICT DO NOTHING'),
                     {'body': body})
    check('kept out', conn.execute(sa.text('SELECT body FROM corpus')).scalars().all(), ['hello world'])

with engine.begin() as conn:
    body = 'The Harbor Bridge is closed until Monday; and buses take the tunnel!'
    alike = conn.execute(sa.select(texts.c.id).where(texts.c.body.op('=~=')(body))).scalars().all()

    pdq = bytes.fromhex('0f' * 32)
    conn.execute(images.insert().values(id=10, pdq=pdq))
    distance = images.c.pdq.distance(pdq)
    near = conn.execute(sa.select(images.c.id, images.c.pdq).where(distance <= 31)
                        .order_by(distance)).fetchall()
    by_bytes = conn.execute(sa.text(
        'SELECT id FROM images WHERE pdq % CAST(CAST(:pdq AS bytea) AS simhash_bits) ORDER BY id'),
        {'pdq': pdq}).scalars().all()

    check('a text', alike, [1])
    check('any of some texts', conn.execute(sa.text('SELECT id FROM texts WHERE body =~= ANY (:some)'),
                                            {'some': [body, '...']}).scalars().all(), [1])
    check('hexadecimal digits, read as bytes', sorted(tuple(row) for row in near),
          [(1, pdq), (2, pdq[:28] + bytes(4)), (10, pdq)])
    check('bytes', by_bytes, [1, 2, 10])
    check('an equal one', conn.execute(sa.select(images.c.id).where(images.c.pdq == pdq)
                                       .order_by(images.c.id)).scalars().all(), [1, 10])
    check('array of digits', conn.execute(
        sa.text('SELECT id FROM images WHERE pdq % ANY (CAST(:some AS simhash_bits[])) ORDER BY id'),
        {'some': [pdq.hex(), 'f0' * 32]}).scalars().all(), [1, 2, 3, 10])
    try:
        with conn.begin_nested():
            conn.execute(images.insert().values(id=20, pdq=pdq[1:]))
            check('too few bytes', 'no error', None)
    except SQLAlchemyError as e:
        check('too few bytes', e.orig.pgcode, '22026')

with engine.begin() as conn:
    articles.create(conn)
    check('indexes', conn.execute(sa.text(
        "SELECT pg_get_indexdef(indexrelid, 1, true) || ' ' || opcname FROM pg_index JOIN pg_opclass o ON o.oid = indclass[0] "
        "WHERE indexrelid IN ('articles_body'::regclass, 'articles_fp'::regclass) ORDER BY 1")).scalars().all(),
          ['body simhash_text_ops', 'fp simhash_ops'])
    conn.execute(articles.insert().values(body='hello world'))
    try:
        with conn.begin_nested():
            conn.execute(articles.insert().values(body='Hello, world!'))
            check('an exclusion constraint', 'no error', None)
    except SQLAlchemyError as e:
        check('an exclusion constraint', e.orig.pgcode, '23P01')
    articles.drop(conn)

# what the page warns of
with engine.connect() as conn:
    try:
        conn.execute(sa.text('SELECT :fp::simhash'), {'fp': str(fp)})
        check(':: behind a parameter', 'no error', None)
    except SQLAlchemyError as e:
        check(':: behind a parameter', e.orig.pgcode, '42601')

for driver in 'psycopg2', 'psycopg':
    try:
        __import__(driver)
    except ImportError:
        print(f'ok - the operator of a constraint with {driver} # SKIP the driver is not installed')
        continue
    for operator, works in ('%', False), ('%%', True):
        try:
            with sa.create_engine(f'postgresql+{driver}://').begin() as conn:
                conn.execute(exclusion(operator))
            got = True
        except (KeyError, TypeError, ValueError, SQLAlchemyError):
            got = False
        check(f'a constraint with the operator {operator}, {driver}', got, works)


async def with_asyncpg():
    # unlike libpq, it takes a directory only as a parameter
    engine = create_async_engine('postgresql+asyncpg://', connect_args={'host': os.environ['PGHOST']})
    for operator, works in ('%', True), ('%%', False):
        try:
            async with engine.begin() as conn:
                await conn.execute(exclusion(operator))
            got = True
        except SQLAlchemyError:
            got = False
        check(f'a constraint with the operator {operator}, asyncpg', got, works)
    await engine.dispose()


try:
    import asyncpg
    import greenlet
    from sqlalchemy.ext.asyncio import create_async_engine
    asyncio.run(with_asyncpg())
except ImportError:
    print('ok - the operator of a constraint with asyncpg # SKIP the driver is not installed')
