# Views, materialized views, rules and functions over all pairs and clusters keep
# the index that they name: through a dump and a restore, another name, schema and
# search_path, and whatever makes the index anew; and it is not dropped under them.

use lib 'test/t';
use SimhashTest;

my $node = make_node('dependencies', []);
$node->start;

# the extension and the table in schemas that are not on the search_path later
$node->safe_psql('postgres', 'CREATE DATABASE old');
$node->safe_psql('old', q{
	CREATE SCHEMA ext;
	CREATE SCHEMA app;
	CREATE EXTENSION simhash SCHEMA ext;
	SET search_path = app, ext;
	CREATE TABLE docs (id integer PRIMARY KEY, fp simhash);
	INSERT INTO docs VALUES (1, 0), (2, 1), (3, 255), (4, 18446744073709551615), (5, 18446744073709551614), (6, NULL);
	CREATE INDEX docs_fp ON docs USING simhash (fp);
	CREATE VIEW pairs AS
		SELECT x.id AS a, y.id AS b, distance
		FROM simhash_find_all('docs_fp') JOIN docs x ON x.ctid = a JOIN docs y ON y.ctid = b;
	CREATE VIEW number_of_pairs AS SELECT count(*) AS n FROM pairs;
	CREATE MATERIALIZED VIEW clusters AS
		SELECT id, cluster, size FROM simhash_find_clusters('docs_fp', 2) JOIN docs ON ctid = member;
	CREATE INDEX ON clusters (id);
	CREATE FUNCTION count_pairs(distance integer) RETURNS bigint LANGUAGE sql STABLE
		BEGIN ATOMIC SELECT count(*) FROM simhash_find_all('docs_fp', $1); END;
	CREATE TABLE request (at timestamptz);
	CREATE TABLE answer (n bigint);
	CREATE RULE answer_it AS ON INSERT TO request DO ALSO
		INSERT INTO answer SELECT count(*) FROM simhash_find_clusters('docs_fp');
	-- the name is looked up at each call, in the search_path of then
	CREATE VIEW late AS SELECT count(*) AS n FROM simhash_find_all('app.docs_fp'::text::regclass);
});

# what all of them say, and what is right
my $all = q{
	SELECT string_agg(format('%s-%s:%s', a, b, distance), ' ' ORDER BY a) || '; ' || (SELECT n FROM app.number_of_pairs)
		|| '; ' || app.count_pairs(0) || ' ' || app.count_pairs(1) FROM app.pairs;
	REFRESH MATERIALIZED VIEW app.clusters;
	SELECT string_agg(format('%s/%s/%s', id, cluster, size), ' ' ORDER BY id) FROM app.clusters;
	INSERT INTO app.request VALUES (now());
	SELECT n FROM app.answer;
	TRUNCATE app.answer, app.request;
	SELECT n FROM app.late};
my $right = "1-2:1 4-5:1; 2; 0 2\n1/1/2 2/1/2 4/2/2 5/2/2\n4\n2";

sub all_right
{
	my ($database, $what) = @_;
	is($node->safe_psql($database, $all), $right, $what);
	return;
}
# a statement fails, with these words
sub refused
{
	my ($database, $statement, $words, $what) = @_;
	my ($status, $stdout, $stderr) = $node->psql($database, $statement, extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	like($stderr, $words, $what);
	return;
}

all_right('old', 'as they were made');

# what they depend on
refused('old', 'DROP INDEX app.docs_fp', qr/2BP01.*view app\.pairs depends on index app\.docs_fp/s,
	'DROP INDEX is refused');
refused('old', 'DROP TABLE app.docs', qr/2BP01/, 'DROP TABLE is refused');
refused('old', 'ALTER TABLE app.docs ALTER fp TYPE bigint', qr/2BP01|0A000/, 'another type of the column is refused');
is($node->safe_psql('old', q{
		SET client_min_messages = warning;
		BEGIN;
		DROP INDEX app.docs_fp CASCADE;
		SELECT count(*) FROM pg_class WHERE relname IN ('pairs', 'number_of_pairs', 'clusters', 'late');
		SELECT count(*) FROM pg_proc WHERE proname = 'count_pairs';
		SELECT count(*) FROM pg_rewrite WHERE rulename = 'answer_it';
		ROLLBACK}),
	"1\n0\n0", 'DROP INDEX CASCADE drops what names the index, but not what looks its name up');

# dump and restore
foreach my $database (restore_each_way($node, 'old'))
{
	all_right($database, "$database: restored");
	refused($database, 'DROP INDEX app.docs_fp', qr/2BP01/, "$database: DROP INDEX is refused");
}

# What makes the table or the index anew keeps the index's OID.
foreach my $statement ('REINDEX INDEX app.docs_fp', 'REINDEX TABLE app.docs', 'VACUUM FULL app.docs',
	'CLUSTER app.docs USING docs_pkey', 'ALTER TABLE app.docs SET UNLOGGED', 'VACUUM app.docs')
{
	$node->safe_psql('plain', $statement);
	all_right('plain', $statement);
}

# another name, and another of the old name; another schema; another search_path
$node->safe_psql('plain', q{
	DROP VIEW app.late;
	ALTER INDEX app.docs_fp RENAME TO docs_near;
	CREATE TABLE app.other (fp ext.simhash);
	INSERT INTO app.other VALUES (7), (7), (7);
	CREATE INDEX docs_fp ON app.other USING simhash (fp);
	CREATE VIEW app.late AS SELECT 2 AS n});
all_right('plain', 'the index has another name, and another index has its own');
$node->safe_psql('plain', 'CREATE SCHEMA more; ALTER TABLE app.docs SET SCHEMA more;
	ALTER EXTENSION simhash SET SCHEMA public');
all_right('plain', 'the index and the extension are in other schemas');
is($node->safe_psql('plain', "SET search_path = ''; SELECT n FROM app.number_of_pairs; SELECT app.count_pairs(1)"),
	"2\n2", 'nothing on the search_path');

# REINDEX CONCURRENTLY puts another index in the place of the old one.  What
# statements were written as is there, and is read anew; what is stored has the OID.
is($node->safe_psql('old', q{
		SET search_path = app, ext;
		PREPARE pairs AS SELECT count(*) FROM simhash_find_all('docs_fp');
		EXECUTE pairs;
		REINDEX INDEX CONCURRENTLY docs_fp;
		EXECUTE pairs}), "2\n2", 'a prepared statement after REINDEX CONCURRENTLY');
is($node->safe_psql('old', 'SELECT n FROM app.late'), '2', 'what looks the name up');
foreach my $statement ('TABLE app.pairs', 'REFRESH MATERIALIZED VIEW app.clusters', 'SELECT app.count_pairs(1)',
	'INSERT INTO app.request VALUES (now())')
{
	refused('old', $statement,
		qr/42P01: relation with OID \d+ does not exist.*HINT:.*REINDEX CONCURRENTLY.*Re-create the views/s,
		"$statement: an error that says what to do");
}
refused('old', 'DROP INDEX app.docs_fp', qr/2BP01/, 'the new index is not dropped either');
$node->safe_psql('old', q{
	SET search_path = app, ext;
	CREATE OR REPLACE VIEW pairs AS
		SELECT x.id AS a, y.id AS b, distance
		FROM simhash_find_all('docs_fp') JOIN docs x ON x.ctid = a JOIN docs y ON y.ctid = b;
	CREATE OR REPLACE FUNCTION count_pairs(distance integer) RETURNS bigint LANGUAGE sql STABLE
		BEGIN ATOMIC SELECT count(*) FROM simhash_find_all('docs_fp', $1); END;
	CREATE OR REPLACE RULE answer_it AS ON INSERT TO request DO ALSO
		INSERT INTO answer SELECT count(*) FROM simhash_find_clusters('docs_fp');
	DROP MATERIALIZED VIEW clusters;
	CREATE MATERIALIZED VIEW clusters AS
		SELECT id, cluster, size FROM simhash_find_clusters('docs_fp', 2) JOIN docs ON ctid = member;
});
all_right('old', 'created anew');
$node->stop;
done_testing();
