# Dump and restore, with the extension in a schema of its own that is not on
# the search_path: index options, views and constraints come back, and the
# views still use the index.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = make_node('dump', []);
$node->start;
my $dir = PostgreSQL::Test::Utils::tempdir;

$node->safe_psql('postgres', 'CREATE DATABASE old; CREATE DATABASE new; CREATE DATABASE custom');
$node->safe_psql('old', slurp_file("$FindBin::RealBin/../fingerprints.sql"));
$node->safe_psql(
	'old', q{
	CREATE SCHEMA ext;
	CREATE EXTENSION simhash SCHEMA ext;
	CREATE TABLE docs (id integer PRIMARY KEY, fp ext.simhash, body text);
	INSERT INTO docs (id, fp) SELECT row_number() OVER (), h FROM make_fingerprints(20000, 0.2) h;
	INSERT INTO docs (id, fp) VALUES (30000, 18446744073709551615), (30001, '0x0123456789abcdef'), (30002, NULL);
	CREATE INDEX docs_fp ON docs USING simhash (fp) WITH (blocks = 5, distance = 3, fillfactor = 75);
	CREATE TABLE wanted (no integer, fp ext.simhash);
	INSERT INTO wanted SELECT id, fp FROM docs WHERE id % 1000 = 0;
	-- written with the schema on the search_path; the dump names it
	SET search_path = public, ext;
	CREATE VIEW near AS
		SELECT w.no, d.id, d.fp FROM wanted w JOIN docs d ON d.fp <~> w.fp <= 3;
	CREATE VIEW hamming_one AS
		SELECT id FROM docs WHERE hamming(fp, 81985529216486895) < 4::bigint;
	CREATE VIEW within_one AS
		SELECT id FROM docs WHERE simhash_within(fp, 81985529216486895, 3);
	RESET search_path;
	CREATE VIEW near_one AS
		SELECT id FROM docs WHERE fp OPERATOR(ext.<~>) '81985529216486895' OPERATOR(ext.<=) 3;
	CREATE MATERIALIZED VIEW pairs AS
		SELECT a.id AS a, b.id AS b FROM wanted w JOIN docs a ON a.id = w.no
		JOIN docs b ON b.fp OPERATOR(ext.%) a.fp AND b.id > a.id;
	CREATE INDEX ON docs (fp);
	CREATE TABLE keys (fp ext.simhash PRIMARY KEY, CHECK (fp OPERATOR(ext.<~>) 0 > 0));
	INSERT INTO keys SELECT DISTINCT fp FROM wanted;
});

command_ok([ 'pg_dump', '--no-sync', "--file=$dir/old.sql", $node->connstr('old') ], 'pg_dump');
command_ok([ 'pg_dump', '--no-sync', '--format=custom', "--file=$dir/old.dump", $node->connstr('old') ],
	'pg_dump, custom format');
command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/old.sql", $node->connstr('new') ], 'restore');
command_ok([ 'pg_restore', '--exit-on-error', '--jobs=2', '--dbname=' . $node->connstr('custom'), "$dir/old.dump" ],
	'pg_restore with two jobs');
command_ok([ 'pg_dump', '--no-sync', "--file=$dir/new.sql", $node->connstr('new') ], 'dump of the copy');
my @dumps = map { my $dump = slurp_file("$dir/$_.sql"); $dump =~ s/^\\(un)?restrict.*\n//mg; $dump } 'old', 'new';
is($dumps[1], $dumps[0], 'the dumps are equal');

foreach my $database ('new', 'custom')
{
	$node->safe_psql($database, 'VACUUM ANALYZE docs');
	is( $node->safe_psql($database, q{SELECT array_to_string(reloptions, ' ') FROM pg_class WHERE relname = 'docs_fp'}),
		'blocks=5 distance=3 fillfactor=75', "$database: the index has its options");
	is($node->safe_psql($database, "SELECT ext.simhash_index_check('docs_fp', true)"), '',
		"$database: the index is sound");
	foreach my $view ('near', 'near_one', 'hamming_one', 'within_one')
	{
		like(
			$node->safe_psql($database, "EXPLAIN (COSTS OFF) SELECT * FROM $view"),
			qr/docs_fp/, "$database: view $view uses the index");
		is( $node->safe_psql($database, "SELECT count(*), sum(id) FROM $view"),
			$node->safe_psql('old',
				"SET enable_indexscan = off; SET enable_bitmapscan = off; SELECT count(*), sum(id) FROM $view"),
			"$database: view $view gives the same rows");
	}
	is( $node->safe_psql($database, 'SELECT count(*), sum(a), sum(b) FROM pairs'),
		$node->safe_psql('old', 'SELECT count(*), sum(a), sum(b) FROM pairs'),
		"$database: the materialized view is filled");
}
cmp_ok($node->safe_psql('new', 'SELECT count(*) FROM near'), '>=', 20, 'the view finds something');
$node->stop;
done_testing();
