# Dumps of a database that uses the extension in every way, among them an
# exclusion constraint with an operator class of the user's own, restored in
# every way: the constraints refuse what they refused, and all results are the
# same.

use lib 'test/t';
use SimhashTest;

my $node = make_node('dump_radius', []);
$node->start;
my $dir = PostgreSQL::Test::Utils::tempdir;
my $checks = slurp_file("$FindBin::RealBin/../upgrade/checks.sql");

$node->safe_psql('postgres', 'CREATE DATABASE old');
$node->safe_psql('old', slurp_file("$FindBin::RealBin/../upgrade/objects.sql"));
my $expected = $node->safe_psql('old', $checks);
unlike($expected, qr/\|f(\||$)/m, 'the original passes the checks');
like($expected, qr/^refused\|corpus_8\|corpus_8_excl\|8\|t$/m, 'the checks try the constraint with a class of its own');

foreach my $database (restore_each_way($node, 'old', effort(1, 3)))
{
	$node->safe_psql($database, 'VACUUM ANALYZE');
	is($node->safe_psql($database, $checks), $expected, "$database: all results are the same");
	my ($status, $stdout, $stderr) = $node->psql($database, "INSERT INTO corpus_8 VALUES (9, '0xff00')");
	like($stderr, qr/violates exclusion constraint "corpus_8_excl"/, "$database: a near-duplicate is refused");
}

is(dumped_objects($node, 'custom'), dumped_objects($node, 'old'), 'the dumps are equal');

# Why the class must be one's own: what is added to the family of the extension
# is not in the dump, and the restore fails.
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach 'lost', 'lost_copy';
$node->safe_psql('lost', q{
	CREATE EXTENSION simhash;
	CREATE FUNCTION within_8(simhash, simhash) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN simhash_within($1, $2, 8);
	CREATE OPERATOR %% (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = within_8, COMMUTATOR = %%);
	ALTER OPERATOR FAMILY simhash_ops USING simhash ADD OPERATOR 12 %% (simhash, simhash);
	CREATE TABLE corpus (fp simhash, EXCLUDE USING simhash (fp WITH %%));
});
command_ok([ 'pg_dump', '--no-sync', "--file=$dir/lost.sql", $node->connstr('lost') ], 'pg_dump of that');
command_fails([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/lost.sql", $node->connstr('lost_copy') ],
	'which cannot be restored');

#
# Expressions that look up the operator = by its name cannot be restored, as for every type outside
# pg_catalog.  doc/upgrading.md says what to write in their place, and how to repair a dump.
#
my $tables = q{
	CREATE EXTENSION simhash;
	CREATE TABLE docs (id int, fp simhash, pdq simhash_bits(64));
	CREATE TABLE others (fp simhash, place int);
	INSERT INTO docs VALUES (1, 42, NULL);
	CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'};
my @by_name = (
	'CREATE TRIGGER of_fp BEFORE UPDATE ON docs FOR EACH ROW WHEN (OLD.fp IS DISTINCT FROM NEW.fp) EXECUTE FUNCTION keep()',
	'CREATE TRIGGER of_pdq BEFORE UPDATE ON docs FOR EACH ROW WHEN (OLD.pdq IS DISTINCT FROM NEW.pdq) EXECUTE FUNCTION keep()',
	q{CREATE VIEW with_nullif AS SELECT nullif(fp, '0') FROM docs},
	q{CREATE VIEW with_case AS SELECT CASE fp WHEN '0' THEN 1 END FROM docs},
	'CREATE VIEW with_using AS SELECT id FROM docs JOIN others USING (fp)',
	'CREATE VIEW with_natural AS SELECT id FROM docs NATURAL JOIN others',
	'CREATE INDEX ON docs USING simhash (fp) WHERE fp IS DISTINCT FROM 0',
	'CREATE RULE of_fp AS ON UPDATE TO others WHERE OLD.fp IS DISTINCT FROM NEW.fp DO ALSO NOTHING',
	'CREATE POLICY of_fp ON docs USING (fp IS DISTINCT FROM 0)',
	'CREATE FUNCTION is_black(simhash) RETURNS bool LANGUAGE sql RETURN $1 IS NOT DISTINCT FROM 0',
	'CREATE TABLE generated (fp simhash, is_black bool GENERATED ALWAYS AS (fp IS NOT DISTINCT FROM 0) STORED)',
	'CREATE TABLE checked (fp simhash CHECK (fp IS DISTINCT FROM 0))');
my @by_oid = (
	'CREATE TRIGGER of_fp BEFORE UPDATE ON docs FOR EACH ROW WHEN (OLD.fp::bigint IS DISTINCT FROM NEW.fp::bigint) EXECUTE FUNCTION keep()',
	'CREATE TRIGGER of_pdq BEFORE UPDATE ON docs FOR EACH ROW WHEN (OLD.pdq::bytea IS DISTINCT FROM NEW.pdq::bytea) EXECUTE FUNCTION keep()',
	'CREATE TRIGGER of_row BEFORE UPDATE ON docs FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION keep()',
	'CREATE VIEW with_nullif AS SELECT nullif(fp::bigint, 0) FROM docs',
	q{CREATE VIEW with_case AS SELECT CASE WHEN fp = '0' THEN 1 END FROM docs},
	'CREATE VIEW with_on AS SELECT id FROM docs JOIN others ON docs.fp = others.fp',
	q{CREATE VIEW with_in AS SELECT id FROM docs WHERE fp IN ('1', '2') AND fp NOT IN (SELECT fp FROM others)},
	'CREATE INDEX ON docs USING simhash (fp) WHERE fp <> 0',
	'CREATE TABLE checked (fp simhash CHECK (fp <> 0))');

$node->safe_psql('postgres', "CREATE DATABASE $_") foreach 'by_name', 'by_name_copy', 'by_name_repaired', 'by_oid';
$node->safe_psql('by_name', join ';', $tables, @by_name);
my $by_name = dumped_objects($node, 'by_name', "$dir/by_name.sql");
my ($status, $out, $err) = $node->psql('by_name_copy', slurp_file("$dir/by_name.sql"), on_error_stop => 0);
my @failed = $err =~ /ERROR:  operator does not exist: public\.simhash(?:_bits)? = /g;
is(@failed, @by_name, 'what looks up = by its name is not restored');
my $repaired = slurp_file("$dir/by_name.sql") =~ s/'search_path', ''/'search_path', 'public'/r;
$node->safe_psql('by_name_repaired', $repaired);
is(dumped_objects($node, 'by_name_repaired'), $by_name, 'until the dump names the schema');
$node->safe_psql('by_oid', join ';', $tables, @by_oid);
is_restored($node, 'by_oid', 'by_oid_copy');

#
# The extension in a schema of its own that is not on the search_path: index options, views
# and constraints come back, and the views still use the index.
#
$node->safe_psql('postgres', 'CREATE DATABASE placed; CREATE DATABASE placed_custom');
$node->safe_psql('placed', slurp_file("$FindBin::RealBin/../fingerprints.sql"));
$node->safe_psql('placed', q{
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

is_restored($node, 'placed', 'placed_new');
command_ok([ 'pg_dump', '--no-sync', '--format=custom', "--file=$dir/placed.dump", $node->connstr('placed') ],
	'pg_dump, custom format');
command_ok([ 'pg_restore', '--exit-on-error', '--jobs=2', '--dbname=' . $node->connstr('placed_custom'), "$dir/placed.dump" ],
	'pg_restore with two jobs');

foreach my $database ('placed_new', 'placed_custom')
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
			$node->safe_psql('placed',
				"SET enable_indexscan = off; SET enable_bitmapscan = off; SELECT count(*), sum(id) FROM $view"),
			"$database: view $view gives the same rows");
	}
	is( $node->safe_psql($database, 'SELECT count(*), sum(a), sum(b) FROM pairs'),
		$node->safe_psql('placed', 'SELECT count(*), sum(a), sum(b) FROM pairs'),
		"$database: the materialized view is filled");
}
cmp_ok($node->safe_psql('placed_new', 'SELECT count(*) FROM near'), '>=', 20, 'the view finds something');
$node->stop;
done_testing();
