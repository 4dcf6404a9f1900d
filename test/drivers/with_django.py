# Django, over psycopg 3 or, without it, psycopg 2
import os
import django
from django.conf import settings

settings.configure(INSTALLED_APPS=[], DATABASES={'default': {
    'ENGINE': 'django.db.backends.postgresql', 'HOST': os.environ['PGHOST'],
    'PORT': os.environ['PGPORT'], 'USER': os.environ['PGUSER'],
    'NAME': os.environ['PGDATABASE']}})
django.setup()

from django.contrib.postgres.indexes import PostgresIndex
from django.db import DataError, ProgrammingError, connection, models
from django.db.models import F, Func, Value


def check(what, got, expected):
    print(f'ok - {what}' if got == expected else f'not ok - {what}: {got!r}')


class SimhashField(models.Field):
    def db_type(self, connection):
        return 'simhash'

    def get_prep_value(self, value):
        return None if value is None else str(value)

    def get_placeholder(self, value, compiler, connection):
        return '%s' if hasattr(value, 'as_sql') else 'CAST(%s AS simhash)'

    def from_db_value(self, value, expression, connection):
        return None if value is None else int(value)


class Distance(Func):
    arg_joiner = ' <~> '
    template = '(%(expressions)s)'
    output_field = models.IntegerField()


class Doc(models.Model):
    id = models.IntegerField(primary_key=True)
    fp = SimhashField(null=True)

    class Meta:
        app_label = 'app'
        db_table = 'docs'


class PdqField(SimhashField):
    def db_type(self, connection):
        return 'simhash_bits(256)'

    def get_prep_value(self, value):
        return None if value is None else value.hex()

    def get_placeholder(self, value, compiler, connection):
        return '%s' if hasattr(value, 'as_sql') else 'CAST(%s AS simhash_bits(256))'

    def from_db_value(self, value, expression, connection):
        return None if value is None else bytes.fromhex(value)


class Image(models.Model):
    id = models.IntegerField(primary_key=True)
    pdq = PdqField(null=True)

    class Meta:
        app_label = 'app'
        db_table = 'images'


class SimhashIndex(PostgresIndex):
    suffix = 'simhash'


class Text(models.Model):
    id = models.IntegerField(primary_key=True)
    body = models.TextField()

    class Meta:
        app_label = 'app'
        db_table = 'texts'
        indexes = [SimhashIndex(fields=['body'], name='texts_alike', opclasses=['simhash_text_ops'])]


fp = 17841137466214345717
Doc.objects.create(id=10, fp=fp)

distance = Distance(F('fp'), Value(fp, output_field=SimhashField()))
near = (Doc.objects.annotate(distance=distance).filter(distance__lte=3)
        .order_by('distance').values_list('id', 'distance')[:10])

some = Doc.objects.raw('SELECT * FROM docs WHERE fp %% ANY (%s::simhash[])', [[fp, 1]])

with connection.cursor() as cur:
    cur.execute('''
        SELECT simhash_minhash(%s::text), simhash_minhash(%s::bytea),
               simhash_minhash(%s::text[]), simhash_minhash(%s::bigint[])''',
                ['hello world', bytes.fromhex('00015c2780ff616263646566'),
                 ['alpha', 'beta'], [-1, -1, 5]])
    computed = cur.fetchone()

back = Doc.objects.get(id=10).fp

check('nearest first', [row[1] for row in near], [0, 0, 1])
check('any of an array', sorted(doc.id for doc in some), [1, 2, 3, 10])
check('computed', computed, ('3568961919840134528', '720769818233651409',
                             '7023365908306380860', '18218831152844919349'))
check('read as an int', back, fp)
check('NULL', Doc.objects.get(id=4).fp, None)
check('equal', sorted(Doc.objects.filter(fp=fp).values_list('id', flat=True)), [1, 10])
check('IN', sorted(Doc.objects.filter(fp__in=[fp, 1]).values_list('id', flat=True)), [1, 3, 10])
check('a negative number', sorted(Doc.objects.filter(fp=fp - 2**64).values_list('id', flat=True)), [1, 10])
check('updated', Doc.objects.filter(id=10).update(fp=2**64 - 1), 1)
check('bulk', [doc.fp for doc in Doc.objects.bulk_create([Doc(id=20, fp=fp)])], [fp])
check('read again', sorted(Doc.objects.filter(id__gte=10).values_list('id', 'fp')), [(10, 2**64 - 1), (20, fp)])

pdq = bytes.fromhex('0f' * 32)
Image.objects.create(id=10, pdq=pdq)
images = (Image.objects.annotate(distance=Distance(F('pdq'), Value(pdq, output_field=PdqField())))
          .filter(distance__lte=31).order_by('distance').values_list('id', 'pdq'))

check('hexadecimal digits, read as bytes', sorted(images), [(1, pdq), (2, pdq[:28] + bytes(4)), (10, pdq)])
check('an equal one', sorted(Image.objects.filter(pdq=pdq).values_list('id', flat=True)), [1, 10])
check('array of digits', sorted(image.id for image in Image.objects.raw(
    'SELECT * FROM images WHERE pdq %% ANY (%s::simhash_bits[])', [[pdq.hex(), 'f0' * 32]])), [1, 2, 3, 10])
check('bytes', sorted(image.id for image in Image.objects.raw(
    'SELECT * FROM images WHERE pdq %% %s::bytea::simhash_bits', [pdq])), [1, 2, 10])
try:
    Image.objects.create(id=20, pdq=pdq[1:])
    check('too few bytes', 'no error', None)
except DataError as e:
    check('too few bytes', 'does not match type simhash_bits(256)' in str(e), True)

with connection.schema_editor() as editor:
    editor.add_index(Text, Text._meta.indexes[0])

with connection.cursor() as cur:
    cur.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'texts_alike'")
    check('an index', cur.fetchall(),
          [('CREATE INDEX texts_alike ON public.texts USING simhash (body simhash_text_ops)',)])
    body = 'The Harbor Bridge is closed until Monday; and buses take the tunnel!'
    cur.execute('SELECT id FROM texts WHERE body =~= %s', [body])
    check('a text', cur.fetchall(), [(1,)])
    cur.execute('SELECT id FROM texts WHERE body =~= ANY (%s)', [[body, '...']])
    check('any of some texts', cur.fetchall(), [(1,)])

    for body in ('hello world', 'Hello, world!'):
        cur.execute('INSERT INTO corpus (body) VALUES (%s) ON CONFLICT DO NOTHING', [body])
    cur.execute('SELECT body FROM corpus')
    check('kept out', cur.fetchall(), [('hello world',)])

    # what the page warns of
    try:
        cur.execute('SELECT id FROM docs WHERE fp % %s', [str(fp)])
        check('one percent sign', 'no error', None)
    except (IndexError, ProgrammingError, TypeError, ValueError) as e:
        check('one percent sign', isinstance(e, Exception), True)
