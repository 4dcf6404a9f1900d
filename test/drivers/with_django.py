# Django, over psycopg 3 or, without it, psycopg 2
import os
import django
from django.conf import settings

settings.configure(INSTALLED_APPS=[], DATABASES={'default': {
    'ENGINE': 'django.db.backends.postgresql', 'HOST': os.environ['PGHOST'],
    'PORT': os.environ['PGPORT'], 'USER': os.environ['PGUSER'],
    'NAME': os.environ['PGDATABASE']}})
django.setup()

from django.db import ProgrammingError, connection, models
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

with connection.cursor() as cur:
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
