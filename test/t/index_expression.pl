# Builds of indexes on expressions: who computes the fingerprints, and what a dump
# and a crash leave of such an index.

use lib 'test/t';
use SimhashTest;

my $node = make_node(
	'expression', [],
	'max_worker_processes = 16',
	'max_parallel_workers = 8',
	'max_parallel_maintenance_workers = 2',
	'maintenance_work_mem = 96MB',
	# a fourth of the default; 24 of them make two workers
	'min_parallel_table_scan_size = 2MB',
	'log_min_messages = debug1');
$node->start;
$node->safe_psql('postgres', q{
	CREATE SCHEMA extensions;
	CREATE EXTENSION simhash SCHEMA extensions;

	-- 8 MB of texts, of which the rows hold but pointers; one in ten is the one
	-- before but for a word
	CREATE TABLE docs (id integer, h bigint, body text);
	ALTER TABLE docs ALTER body SET STORAGE EXTERNAL;
	INSERT INTO docs
	SELECT i, i, string_agg(md5((CASE WHEN i % 10 = 0 AND w < 120 THEN i - 1 ELSE i END) || ' ' || w), ' ' ORDER BY w)
	FROM generate_series(1, 2000) i, generate_series(1, 120) w GROUP BY i;
	INSERT INTO docs VALUES (0, 0, NULL), (-1, 0, '...');
	VACUUM ANALYZE docs;

	-- Computes like simhash_compute, and logs where.  The leader waits until its
	-- workers have no text left, so they get all but its first page.
	CREATE FUNCTION logged(body text) RETURNS extensions.simhash LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
	DECLARE
		kind text := backend_type FROM pg_stat_activity WHERE pid = pg_backend_pid();
		give_up timestamptz := clock_timestamp() + '3 min';
	BEGIN
		RAISE LOG 'computed by %', kind;
		WHILE kind = 'client backend' AND
			(SELECT count(*) FROM pg_stat_activity WHERE leader_pid = pg_backend_pid() AND wait_event_type = 'IPC') < 2
		LOOP
			IF clock_timestamp() > give_up THEN
				RAISE EXCEPTION 'the workers do not finish';
			END IF;
			PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
		END LOOP;
		RETURN extensions.simhash_compute(body);
	END $$;
});
cmp_ok(
	$node->safe_psql('postgres', q{SELECT pg_relation_size(reltoastrelid) / pg_relation_size('docs') FROM pg_class
			WHERE relname = 'docs'}),
	'>', 20, 'most of the table is in its TOAST table');

# What the server logs while it runs some commands.
sub logged
{
	my ($commands) = @_;
	my $offset = -s $node->logfile;
	$node->safe_psql('postgres', $commands);
	return slurp_file($node->logfile, $offset);
}

sub workers
{
	my ($commands) = @_;
	return scalar(() = logged($commands) =~ /starting background worker process "parallel worker/g);
}

my $log = logged('CREATE INDEX docs_logged ON docs USING simhash (logged(body))');
my $by_leader = () = $log =~ /computed by client backend/g;
my $by_workers = () = $log =~ /computed by parallel worker/g;
is($by_leader + $by_workers, 2001, 'each fingerprint is computed once');
cmp_ok($by_workers, '>', 1500, 'fingerprints are computed in workers');

# The server by itself would start none, since it asks for the pages of the table.
my $compute = 'extensions.simhash_compute';
my $index = 'CREATE INDEX x ON docs USING simhash';
is(workers("$index ($compute(body)); DROP INDEX x"), 2, 'texts out of line count');
is(workers("$index ($compute(body)) WHERE id > 0; DROP INDEX x"), 2, 'in a partial index');
is(workers("$index (h) WHERE body LIKE 'a%'; DROP INDEX x"), 2, 'in a predicate');
is( workers(
		"CREATE FUNCTION of_row(docs) RETURNS extensions.simhash LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS "
		  . "'BEGIN RETURN $compute(\$1.body); END'; $index (of_row(docs)); DROP INDEX x; DROP FUNCTION of_row"),
	2, 'in a whole row');
is( workers(
		"CREATE TABLE texts AS SELECT body FROM docs;
		CREATE INDEX ON texts USING simhash (body extensions.simhash_text_ops); DROP TABLE texts"),
	2, 'in the first column, of which the operator class computes bands');
is(workers("$index (h); DROP INDEX x"), 0, 'they do not where they are not read');
is(workers("$index ((h::extensions.simhash)); DROP INDEX x"), 0, 'nor in another expression');
is(workers("SET min_parallel_table_scan_size = '4MB'; $index ($compute(body)); DROP INDEX x"),
	1, 'the setting of the server applies');
is(workers("SET max_parallel_maintenance_workers = 0; $index ($compute(body)); DROP INDEX x"),
	0, 'and its limit');
is(workers("SET maintenance_work_mem = '60MB'; $index ($compute(body)); DROP INDEX x"),
	0, 'and its memory for each worker');
is(workers("CREATE TEMP TABLE t AS TABLE docs; CREATE INDEX ON t USING simhash ($compute(body))"),
	0, 'and what it knows of temporary tables');
is( workers(
		"CREATE FUNCTION unsafe(text) RETURNS extensions.simhash LANGUAGE plpgsql IMMUTABLE AS "
		  . "'BEGIN RETURN $compute(\$1); END'; $index (unsafe(body)); DROP INDEX x"),
	0, 'and of functions');
is( workers(
		"ALTER TABLE docs SET (parallel_workers = 1); $index ($compute(body)); DROP INDEX x;
		ALTER TABLE docs RESET (parallel_workers)"),
	1, 'and of the table');
is($node->safe_psql('postgres', "$index ($compute(body)); DROP INDEX x; SHOW min_parallel_table_scan_size"),
	'2MB', 'the setting is as before');
is( workers(
		"CREATE TABLE u AS TABLE docs; CREATE INDEX ON u USING simhash ($compute(body))"), 2,
	'a table that nobody has analyzed');
is(workers('BEGIN; CREATE TABLE n AS TABLE docs;
		CREATE INDEX n_fp ON n USING simhash (extensions.simhash_compute(body)) WHERE id < 0;
		TRUNCATE n; COMMIT'),
	2, 'none for an empty table: TRUNCATE builds again');

# All of them are the same index.
$node->safe_psql('postgres', qq{
	CREATE TABLE stored AS SELECT id, $compute(body) AS fp FROM docs;
	CREATE INDEX stored_fp ON stored USING simhash (fp);
	CREATE INDEX docs_fp ON docs USING simhash ($compute(body));
	CREATE INDEX CONCURRENTLY docs_c ON docs USING simhash ($compute(body));
	ALTER INDEX docs_fp ALTER COLUMN 1 SET STATISTICS 321;
	CREATE TABLE corpus (id integer, body text, EXCLUDE USING simhash (($compute(body)) WITH OPERATOR(extensions.%)));
	INSERT INTO corpus SELECT id, body FROM docs ORDER BY id ON CONFLICT DO NOTHING;
});
sub pairs
{
	my ($server, $table, $index) = @_;
	return $server->safe_psql('postgres', qq{
		SELECT count(*), sum(x.id * y.id), sum(distance)
		FROM extensions.simhash_find_all('$index') JOIN $table x ON x.ctid = a JOIN $table y ON y.ctid = b});
}
my $pairs = pairs($node, 'stored', 'stored_fp');
like($pairs, qr/^[1-9]\d\d\|/, 'there are pairs');
is(pairs($node, 'docs', 'docs_logged'), $pairs, 'docs_logged has the pairs of the stored fingerprints');
$node->safe_psql('postgres', 'DROP FUNCTION logged CASCADE');
foreach my $index (qw(docs_fp docs_c))
{
	is($node->safe_psql('postgres', "SELECT extensions.simhash_index_check('$index', true)"),
		'', "$index is sound");
	is(pairs($node, 'docs', $index), $pairs, "$index has the pairs of the stored fingerprints");
}

# A dump names the schema of the function, so it is restored whatever the path.
my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, '-T', 'docs', '-T', 'u', '-d', $node->connstr('postgres') ], 'pg_dump');
$node->command_ok([ 'pg_dump', '-f', "$dump.docs", '-t', 'docs', '-d', $node->connstr('postgres') ],
	'pg_dump of the table');
like(slurp_file("$dump.docs"),
	qr/CREATE INDEX docs_fp ON public\.docs USING simhash \(extensions\.simhash_compute\(body\)\)/, 'index');
like(slurp_file("$dump.docs"), qr/ALTER INDEX public\.docs_fp ALTER COLUMN 1 SET STATISTICS 321/,
	'its statistics target');
like(slurp_file($dump),
	qr/EXCLUDE USING simhash \(extensions\.simhash_compute\(body\) WITH OPERATOR\(extensions\.%\)\)/, 'constraint');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('copy') ],
	'restored');
is($node->safe_psql('copy', q{SELECT count(*), count(DISTINCT id) FROM corpus}),
	$node->safe_psql('postgres', q{SELECT count(*), count(DISTINCT id) FROM corpus}), 'with all rows');
my ($status, $stdout, $stderr) = $node->psql('copy',
	'INSERT INTO corpus SELECT id, upper(body) FROM corpus WHERE id = 7');
like($stderr, qr/violates exclusion constraint "corpus_simhash_compute_excl"/, 'and with its constraint');

# A crash.
$node->safe_psql('postgres', q{
	UPDATE docs SET body = body || ' and more' WHERE id BETWEEN 101 AND 200;
	DELETE FROM docs WHERE id BETWEEN 201 AND 300;
	TRUNCATE stored;
	INSERT INTO stored SELECT id, extensions.simhash_compute(body) FROM docs;
});
$pairs = pairs($node, 'stored', 'stored_fp');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', q{SELECT extensions.simhash_index_check('docs_fp', true)}), '', 'sound after a crash');
is(pairs($node, 'docs', 'docs_fp'), $pairs, 'the pairs of the stored fingerprints after a crash');

$node->stop;
done_testing();
