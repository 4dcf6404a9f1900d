# Builds beyond memory and builds with parallel workers make the index that a
# build in memory makes, whatever the fingerprints; and survive a crash.

use lib 'test/t';
use SimhashTest;

my $node = start_node(
	'build', [ extra => ['--data-checksums'] ],
	'wal_level = replica',
	'max_worker_processes = 16',
	'max_parallel_workers = 8',
	# shared memory that has been in use before is not zeros
	'min_dynamic_shared_memory = 64MB',
	'log_min_messages = debug1',
	'max_prepared_transactions = 1',
	'max_wal_size = 2GB');

# What beyond memory needs to be sorted once more: many equal fingerprints,
# fingerprints that differ in the last bits only, and nulls; with a column
# before the fingerprint, also groups of most rows and of one row.
# parallel_workers is for 60,000 rows what the server would choose for many more.
$node->safe_psql('postgres', q{
	CREATE TABLE t (id integer, kind text, few integer, most integer, fp simhash);
	INSERT INTO t
	SELECT i, kind, i % 5, CASE WHEN i % 10 < 9 THEN -1 ELSE i END,
		CASE kind
			WHEN 'random' THEN random_bits()
			WHEN 'equal' THEN CASE WHEN i % 10 < 7 THEN 4611686018427387904 ELSE random_bits() END
			WHEN 'narrow' THEN 81985529216486895 + i % 4096
			ELSE CASE WHEN i % 2 = 0 THEN random_bits() END END
	FROM (VALUES ('random'), ('equal'), ('narrow'), ('null')) v (kind), generate_series(1, 60000) i;
	CREATE TABLE random AS SELECT id, few, most, fp FROM t WHERE kind = 'random' ORDER BY id;
	CREATE TABLE equal AS SELECT id, few, most, fp FROM t WHERE kind = 'equal' ORDER BY id;
	CREATE TABLE narrow AS SELECT id, few, most, fp FROM t WHERE kind = 'narrow' ORDER BY id;
	CREATE TABLE "null" AS SELECT id, few, most, fp FROM t WHERE kind = 'null' ORDER BY id;
	CREATE TABLE nothing (id integer, few integer, most integer, fp simhash);

	-- the entries of each table of an index, and in how many leaves they are
	CREATE FUNCTION shape(index regclass) RETURNS text LANGUAGE sql AS $$
		SELECT string_agg(concat_ws(' ', table_no, entries, leaf_pages, levels), ', ' ORDER BY table_no)
		FROM simhash_index_info(index)
	$$;
	INSERT INTO radii VALUES (3);
	VACUUM ANALYZE;
});

my %memory = ('in memory' => '256MB', 'beyond memory' => '1MB');
my @tables = ([ 'random', 'fp' ], [ 'equal', 'fp' ], [ 'narrow', 'fp' ], [ 'null', 'fp' ],
	[ 'nothing', 'fp' ], [ 'random', 'few, fp' ], [ 'random', 'most, fp' ], [ 'equal', 'most, fp' ],
	[ 'null', 'id, fp' ], [ 'nothing', 'few, fp' ]);
foreach my $case (@tables)
{
	my ($table, $columns) = @$case;
	$node->safe_psql('postgres',
		qq{TRUNCATE query;
		INSERT INTO query SELECT id, fp FROM "$table" WHERE id <= 5 AND fp IS NOT NULL
			UNION ALL SELECT 100 + id, fp FROM random WHERE id <= 5;
		CALL expect_lookups('"$table"')});
	my %shape;
	foreach my $where (sort keys %memory)
	{
		foreach my $workers (0, 2)
		{
			# the server gives each worker 32 MB or none, unless the table says how many
			my $what = "$table ($columns), $where, $workers workers";
			$node->safe_psql('postgres', qq{
				ALTER TABLE "$table" SET (parallel_workers = $workers);
				SET maintenance_work_mem = '$memory{$where}';
				SET max_parallel_maintenance_workers = $workers;
				DROP INDEX IF EXISTS built;
				CREATE INDEX built ON "$table" USING simhash ($columns);
			});
			$shape{ $node->safe_psql('postgres', q{SELECT shape('built')}) } .= "$what\n";
			is($node->safe_psql('postgres', q{SELECT simhash_index_check('built', true)}),
				'', "$what: sound");
			next if $columns ne 'fp';
			is($node->safe_psql('postgres', qq{SELECT compare_lookups('"$table"', 'built')}),
				'ok', "$what: finds the same rows as brute force");
		}
	}
	is(scalar(keys %shape), 1, "$table ($columns): all indexes have one shape")
	  or diag(explain(\%shape));
}

# Are there workers at all?  The server logs each that it starts.
my $offset = -s $node->logfile;
$node->safe_psql('postgres', q{
	ALTER TABLE random SET (parallel_workers = 2);
	SET maintenance_work_mem = '96MB';
	SET max_parallel_maintenance_workers = 2;
	CREATE INDEX random_fp ON random USING simhash (fp);
	CREATE INDEX CONCURRENTLY random_c ON random USING simhash (fp);
	CREATE UNLOGGED TABLE u AS SELECT * FROM random;
	ALTER TABLE u SET (parallel_workers = 2);
	CREATE INDEX u_fp ON u USING simhash (fp);
	CREATE INDEX random_even ON random USING simhash ((fp)) WHERE id % 2 = 0;
});
my $log = slurp_file($node->logfile, $offset);
cmp_ok(scalar(() = $log =~ /starting background worker process "parallel worker/g), '>=', 4,
	'workers were started');
is_sound($node, 'parallel', 'random_fp', 'random_c', 'u_fp', 'random_even');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), '0', 'no temporary files are left');

# What workers find counts, wherever they find it: rows; the WAL that they write; and a
# version of a row that an old transaction might see, which the index lacks.  That one is
# in one page, which the leader may have read, so there are several builds.  Since 18 a
# build counts the rows of the table only where autovacuum is on; it need not run.
$node->safe_psql('postgres', 'ALTER SYSTEM SET autovacuum = on');
$node->safe_psql('postgres', q{ALTER SYSTEM SET autovacuum_naptime = '1d'});
$node->restart;
my @sums = map { $node->safe_psql('postgres', qq{
		DROP TABLE IF EXISTS counted;
		CREATE TABLE counted WITH (fillfactor = 90, parallel_workers = 2) AS SELECT * FROM random;
		BEGIN;
		SELECT pg_current_xact_id() \\g /dev/null
		PREPARE TRANSACTION 'old';
		UPDATE counted SET few = few + 1 WHERE id = $_ * 7000;
		CREATE OR REPLACE FUNCTION build() RETURNS void LANGUAGE sql AS \$\$
			CREATE INDEX counted_fp ON counted USING simhash (fp) WITH (blocks = 5, distance = 3) \$\$;
		CREATE OR REPLACE FUNCTION logged() RETURNS bigint LANGUAGE plpgsql AS \$\$
		DECLARE
			plan json;
		BEGIN
			EXECUTE 'EXPLAIN (ANALYZE, WAL, FORMAT JSON) SELECT build()' INTO plan;
			RETURN plan -> 0 -> 'Plan' ->> 'WAL Bytes';
		END \$\$;
		SELECT logged() AS logged \\gset
		ROLLBACK PREPARED 'old';
		SELECT h.reltuples, i.reltuples, indcheckxmin, :logged > 0.8 * pg_relation_size('counted_fp')
		FROM pg_index JOIN pg_class h ON h.oid = indrelid JOIN pg_class i ON i.oid = indexrelid
		WHERE indexrelid = 'counted_fp'::regclass}) } 1 .. 8;
is(join(' ', @sums), join(' ', ('60000|60000|t|t') x 8), 'what workers find and write is counted');
$node->safe_psql('postgres', 'ALTER SYSTEM RESET ALL');
$node->restart;

# What a worker cannot do ends the build with its error.
$node->safe_psql('postgres', q{
	CREATE FUNCTION halve(simhash) RETURNS simhash LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
	BEGIN
		RETURN (1 / ($1::bigint % 1000))::bigint::public.simhash;
	END $$;
});
my ($status, $stdout, $stderr) = $node->psql('postgres', q{
	SET max_parallel_maintenance_workers = 2;
	CREATE INDEX random_half ON random USING simhash (halve(fp));
});
like($stderr, qr/division by zero/, 'an error in a build with workers is reported');
is($node->safe_psql('postgres', q{SELECT to_regclass('random_half') IS NULL}), 't', 'and leaves no index');

# A build writes past the buffers of the server, also of sessions, and more than
# are there; all pages have their checksums.
$node->safe_psql('postgres', 'CREATE TABLE copied AS SELECT * FROM random');
$node->restart;
is_sound($node, 'after a restart', 'random_fp', 'random_c', 'u_fp', 'random_even');
is($node->safe_psql('postgres', q{
	CREATE TEMPORARY TABLE own AS SELECT * FROM random;
	CREATE INDEX own_fp ON own USING simhash (fp);
	INSERT INTO own SELECT * FROM random WHERE id <= 1000;
	SELECT simhash_index_check('own_fp', true);
	BEGIN;
	TRUNCATE own;
	INSERT INTO own SELECT * FROM random WHERE id <= 5000;
	REINDEX INDEX own_fp;
	SELECT simhash_index_check('own_fp', true);
	ROLLBACK;
	SELECT simhash_index_check('own_fp', true);
	SELECT sum(entries) FROM simhash_index_info('own_fp');
}) =~ s/\s+/ /gr, ' 244000', 'an index of a temporary table');

# All of an index is in the WAL, and a checkpoint does not wait for a build to
# end: what it has written is flushed.
$node->safe_psql('postgres', 'CHECKPOINT');
my %file;
foreach my $workers (0, 2)
{
	$node->safe_psql('postgres', qq{
		ALTER TABLE copied SET (parallel_workers = $workers);
		SET max_parallel_maintenance_workers = $workers;
		CREATE INDEX logged_$workers ON copied USING simhash (fp) WITH (blocks = 5, distance = 3);
	});
	$file{"logged_$workers"} = $node->data_dir . '/'
	  . $node->safe_psql('postgres', "SELECT pg_relation_filepath('logged_$workers')");
}

$node->stop('immediate');
foreach my $index (sort keys %file)
{
	cmp_ok(-s $file{$index}, '>', 0, "$index: the file was written");
	truncate($file{$index}, 0) or die "$file{$index}: $!";
}
$node->start;
is_sound($node, 'from the WAL', sort keys %file);
is($node->safe_psql('postgres', q{SELECT simhash_index_check('u_fp', true)}),
	'', 'the unlogged index is sound');
is($node->safe_psql('postgres', q{SELECT sum(entries) FROM simhash_index_info('u_fp')}),
	'0', 'and empty, after a crash');
$node->safe_psql('postgres', 'DROP TABLE copied');

# Workers log what they write.
is_sound($node, 'after a crash', 'random_fp', 'random_c', 'random_even');
$node->safe_psql('postgres', 'DROP INDEX random_c, random_even');
is_exact($node, 'after a crash', 'random', 'random_fp');

# Whoever reads a page of an index that is built concurrently before it is written finds
# zeros, which must not stay in the buffers.  Here the expression of the index reads.
SKIP:
{
	skip 'there is no pg_prewarm', 2
	  if ($node->psql('postgres', 'CREATE EXTENSION pg_prewarm'))[0] != 0;
	$node->safe_psql('postgres', q{
		CREATE TABLE read_early AS SELECT id, fp FROM random WHERE id <= 10;
		CREATE FUNCTION read_index(fp simhash) RETURNS simhash LANGUAGE plpgsql IMMUTABLE AS $$
		BEGIN
			PERFORM public.pg_prewarm(oid) FROM pg_class WHERE relname = 'read_early_fp';
			RETURN fp;
		END $$});
	is(($node->psql('postgres', 'CREATE INDEX CONCURRENTLY read_early_fp ON read_early USING simhash (read_index(fp))'))[0],
		0, 'pages that are read before they are written');
	is_sound($node, 'pages that were read', 'read_early_fp');
}

# With wal_level = minimal nothing is logged of an index of a table made in the
# same transaction.  The leader alone knows that it was.
$node->append_conf('postgresql.conf', "wal_level = minimal\nmax_wal_senders = 0");
$node->restart;
$node->safe_psql('postgres', q{
	SET max_parallel_maintenance_workers = 2;
	BEGIN;
	CREATE TABLE made AS SELECT * FROM random;
	ALTER TABLE made SET (parallel_workers = 2);
	CREATE INDEX made_fp ON made USING simhash (fp);
	INSERT INTO made SELECT * FROM random WHERE id <= 1000;
	COMMIT;
});
$node->stop('immediate');
$node->start;
is_sound($node, 'not logged, after a crash', 'made_fp');
is_exact($node, 'not logged, after a crash', 'made', 'made_fp');

$node->stop;
done_testing();
