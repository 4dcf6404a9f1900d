# SQLAlchemy, over psycopg 2
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
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
        SELECT simhash_compute(CAST(:body AS text)), simhash_compute(CAST(:bytes AS bytea)),
               simhash_compute(CAST(:features AS text[])), simhash_compute(CAST(:hashes AS bigint[]))'''),
        {'body': 'hello world', 'bytes': bytes.fromhex('00015c2780ff616263646566'),
         'features': ['alpha', 'beta'], 'hashes': [-1, -1, 5]}).fetchone()

    back = conn.execute(sa.select(docs.c.fp).where(docs.c.id == 10)).scalar()

    check('nearest first', [row[1] for row in near], [0, 0, 1])
    check('any of an array', sorted(row[0] for row in some), [1, 2, 3, 10])
    check('computed', tuple(computed), ('16466961135796483157', '6543727426300257695',
                                        '2911580687780127296', '18446744073709551615'))
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

# what the page warns of
with engine.connect() as conn:
    try:
        conn.execute(sa.text('SELECT :fp::simhash'), {'fp': str(fp)})
        check(':: behind a parameter', 'no error', None)
    except SQLAlchemyError as e:
        check(':: behind a parameter', e.orig.pgcode, '42601')
