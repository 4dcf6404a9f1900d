# Near-duplicate keys under concurrency: no two rows that are near each other are
# ever committed, and no row is refused without one that is the cause.  The same
# with SERIALIZABLE instead of a constraint.  And index-only scans while VACUUM
# removes what they may have read.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = make_node('exclusion', [], 'max_wal_size = 1GB');
$node->start;
load_helpers($node);
my $dir = PostgreSQL::Test::Utils::tempdir;

# Clusters 1 to 60: what is offered differs in at most one bit from the centre,
# so that one row of a cluster keeps all others out.  Clusters 61 to 120: up to
# three bits, so that there may be several.
$node->safe_psql(
	'postgres', q{
	CREATE FUNCTION centre(cluster integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS
		$$ SELECT hashint8extended(cluster, 5) $$;
	CREATE FUNCTION offer(cluster integer, what integer) RETURNS simhash LANGUAGE sql IMMUTABLE AS $$
		SELECT CASE WHEN what % 20 = 0 THEN NULL WHEN cluster <= 60
			THEN centre(cluster) # (1::bigint << (what % 64)) * (what % 3 > 0)::integer
			ELSE centre(cluster) # (1::bigint << (what % 64)) # (1::bigint << (what / 64 % 64))
				# (1::bigint << (what / 4096 % 64)) END $$;
	CREATE TABLE docs (fp simhash, EXCLUDE USING simhash (fp WITH %));
	CREATE TABLE attempt (cluster integer, fp simhash);
	-- a row that errors out is still an attempt
	CREATE FUNCTION put(cluster integer, fp simhash) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO attempt VALUES (cluster, fp);
		INSERT INTO docs VALUES (fp);
	EXCEPTION WHEN exclusion_violation THEN
		INSERT INTO attempt VALUES (cluster, fp);
	END $$;
	-- for SERIALIZABLE: no constraint, but a look before
	CREATE TABLE looked (fp simhash);
	CREATE INDEX looked_fp ON looked USING simhash (fp);
	CREATE TABLE looked_attempt (cluster integer, fp simhash);
	CREATE FUNCTION look_and_put(cluster integer, fp simhash) RETURNS void LANGUAGE plpgsql
	SET enable_seqscan = off AS $$
	BEGIN
		INSERT INTO looked_attempt VALUES (cluster, fp);
		INSERT INTO looked SELECT $2 WHERE NOT EXISTS (SELECT FROM looked l WHERE l.fp <~> $2 <= 3);
	END $$;
});

my %script = (
	# one that leaves others time to come into its way
	slow => q{
\set c random(1, 120)
\set w random(0, 262143)
BEGIN;
WITH a AS (INSERT INTO attempt VALUES (:c, offer(:c, :w)) RETURNING fp)
INSERT INTO docs SELECT fp FROM a ON CONFLICT DO NOTHING;
\sleep 2 ms
COMMIT;
},
	abort => q{
\set c random(1, 120)
\set w random(0, 262143)
BEGIN;
WITH a AS (INSERT INTO attempt VALUES (:c, offer(:c, :w)) RETURNING fp)
INSERT INTO docs SELECT fp FROM a ON CONFLICT DO NOTHING;
\sleep 2 ms
ROLLBACK;
},
	# a batch with duplicates in itself
	batch => q{
\set c random(1, 110)
\set w random(0, 262143)
WITH a AS (INSERT INTO attempt SELECT :c + i / 2, offer(:c + i / 2, :w + 67 * i) FROM generate_series(0, 19) i
	RETURNING fp)
INSERT INTO docs SELECT fp FROM a ON CONFLICT DO NOTHING;
},
	plain => q{
\set c random(1, 120)
\set w random(0, 262143)
SELECT put(:c, offer(:c, :w));
},
	look => q{
\set c random(1, 120)
\set w random(0, 262143)
SELECT look_and_put(:c, offer(:c, :w));
});
my %file;
foreach my $name (sort keys %script)
{
	$file{$name} = "$dir/$name.sql";
	append_to_file($file{$name}, $script{$name});
}

# What the two variants have in common.  Deadlocks and serialization failures
# are for the client to try again.
sub load
{
	my ($what, $table, $attempt, $transactions, @scripts) = @_;
	my $total = 8 * $transactions;
	my ($out, $err);
	my $result = IPC::Run::run(
		[
			'pgbench', '--no-vacuum', '--client=8', '--jobs=2', '--max-tries=1000',
			"--transactions=$transactions", '--random-seed=9', (map { "--file=$_" } @scripts),
			$node->connstr('postgres')
		],
		'>', \$out, '2>', \$err);
	ok($result, "$what: pgbench succeeds") or diag($err);
	like($out, qr{transactions actually processed: $total/$total}, "$what: all transactions ran");
	is( $node->safe_psql(
			'postgres', qq{
			SELECT count(*) > 60 FROM $table;
			SELECT count(*) FROM $table a JOIN $table b
				ON a.ctid < b.ctid AND bit_count((a.fp::bigint # b.fp::bigint)::bit(64)) <= 3;
		}),
		"t\n0",
		"$what: no two rows are near each other");
	is( $node->safe_psql(
			'postgres', qq{
			SELECT count(*) > 1000, count(*) FILTER (WHERE NOT EXISTS (SELECT FROM $table d
				WHERE bit_count((a.fp::bigint # d.fp::bigint)::bit(64)) <= 3))
			FROM $attempt a WHERE fp IS NOT NULL;
		}),
		't|0',
		"$what: nothing is refused without a row that is near");
	is( $node->safe_psql(
			'postgres', qq{
			SELECT count(*) > 50, min(n), max(n) FROM (
				SELECT cluster, (SELECT count(*) FROM $table d
					WHERE bit_count((centre(cluster) # d.fp::bigint)::bit(64)) <= 1) AS n
				FROM (SELECT DISTINCT cluster FROM $attempt WHERE cluster <= 60 AND fp IS NOT NULL) c) s;
		}),
		't|1|1',
		"$what: each narrow cluster has one representative");
	is( $node->safe_psql(
			'postgres',
			"SELECT (SELECT count(*) > 20 FROM $table WHERE fp IS NULL),
			(SELECT count(*) FROM $table WHERE fp IS NULL) = (SELECT count(*) FROM $attempt WHERE fp IS NULL)"
		),
		't|t',
		"$what: nulls are never refused") if $attempt eq 'attempt';
	return;
}

load('constraint', 'docs', 'attempt', 200, @file{ 'slow', 'abort', 'batch', 'plain' });
is_sound($node, 'constraint', 'docs_fp_excl');
$node->safe_psql('postgres', "ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'");
load('serializable', 'looked', 'looked_attempt', 160, $file{look});
is_sound($node, 'serializable', 'looked_fp');
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET default_transaction_isolation');

# Rows come in pairs of which one has the lowest bit; each change gives it to the
# other.  So in every snapshot there are 2000 rows and 1000 of these bits.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE pairs (pair integer, fp simhash);
	INSERT INTO pairs SELECT pair, centre(pair) & ~1 # side FROM generate_series(1, 1000) pair, generate_series(0, 1) side;
	CREATE INDEX pairs_pair ON pairs (pair);
	CREATE INDEX pairs_fp ON pairs USING simhash (fp);
	CREATE FUNCTION statement_of(form integer) RETURNS text LANGUAGE sql AS $$
		SELECT (ARRAY['SELECT fp FROM pairs WHERE fp <~> 0 <= 60', 'SELECT fp FROM pairs ORDER BY fp <~> 0',
			'SELECT fp FROM pairs WHERE fp <@ ANY (ARRAY[simhash_ball(0, 33), simhash_ball(-1, 33)])',
			'SELECT fp FROM pairs WHERE fp IS NOT NULL'])[form] $$;
	CREATE FUNCTION look(form integer, slow boolean) RETURNS void LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_bitmapscan = off SET work_mem = '64kB' AS $$
	DECLARE
		c refcursor;
		line text;
		plan text := '';
		fp simhash;
		n integer := 0;
		bits integer := 0;
	BEGIN
		FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement_of(form) LOOP
			plan := plan || line || E'\n';
		END LOOP;
		IF strpos(plan, 'Index Only Scan using pairs_fp') = 0 THEN
			RAISE EXCEPTION 'no index-only scan: %', plan;
		END IF;
		OPEN c NO SCROLL FOR EXECUTE statement_of(form);
		LOOP
			FETCH c INTO fp;
			EXIT WHEN NOT FOUND;
			n := n + 1;
			bits := bits + (fp::bigint & 1)::integer;
			IF slow AND n % 100 = 1 THEN
				PERFORM pg_sleep(0.005);
			END IF;
		END LOOP;
		IF n <> 2000 OR bits <> 1000 THEN
			RAISE EXCEPTION 'form %: % rows, % bits', form, n, bits;
		END IF;
	END $$;
});
append_to_file("$dir/change.sql", q{
\set first random(1, 995)
UPDATE pairs SET fp = fp::bigint # 1 WHERE pair IN
	(SELECT pair FROM generate_series(:first, :first + 4) pair WHERE pg_try_advisory_xact_lock(pair));
});
append_to_file("$dir/look.sql", q{
\set form random(1, 4)
\set slow random(0, 3)
SELECT look(:form, :slow > 0);
});
$node->safe_psql('postgres', 'VACUUM (ANALYZE) pairs');
my ($out, $err) = ('', '');
my $pgbench = IPC::Run::start(
	[
		'pgbench', '--no-vacuum', '--client=4', '--jobs=2', '--transactions=150', '--random-seed=10',
		"--file=$dir/change.sql\@2", "--file=$dir/look.sql\@1", $node->connstr('postgres')
	],
	'>', \$out, '2>', \$err);
my $vacuums = 0;
while ($pgbench->pumpable)
{
	$pgbench->pump_nb;
	$node->safe_psql('postgres', 'VACUUM pairs');
	$vacuums++;
}
$pgbench->finish;
is($pgbench->result(0), 0, 'index-only scans: pgbench succeeds') or diag($err);
unlike($err, qr/ERROR|aborted/, 'index-only scans: the same rows and bits in each snapshot');
like($out, qr{transactions actually processed: 600/600}, 'index-only scans: all transactions ran');
cmp_ok($vacuums, '>', 3, 'index-only scans: vacuums ran meanwhile');
is_sound($node, 'index-only scans', 'pairs_fp');
$node->stop;
done_testing();
