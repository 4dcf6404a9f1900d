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

foreach my $database (restore_each_way($node, 'old'))
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
