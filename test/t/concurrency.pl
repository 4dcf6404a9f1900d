# Concurrent inserts, deletes, updates, lookups and vacuums, a fixed number of
# them.  Each lookup compares index and brute force in one snapshot.
#
# SIMHASH_TEST_TRANSACTIONS, if set, is how many transactions each of the four
# clients runs: 60000 take some ten minutes.

use lib 'test/t';
use SimhashTest;

my $clients = 4;
my $transactions = $ENV{SIMHASH_TEST_TRANSACTIONS} || 1500;

my $node = start_node('pgbench', [], 'max_wal_size = 1GB');
$node->safe_psql('postgres', q{
	CREATE TABLE a (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, fp simhash) WITH (fillfactor = 70);
	INSERT INTO a (fp) SELECT make_fingerprints(10000, 0.2);
	CREATE INDEX a_part ON a ((id % 1000));
	CREATE INDEX a_fp ON a USING simhash (fp) WITH (blocks = 4, distance = 3);
	CREATE INDEX a_six ON a USING simhash (fp) WITH (blocks = 6, distance = 3);
	INSERT INTO radii VALUES (-1), (0), (1), (2), (3), (4), (5), (6), (8), (12), (64);
	INSERT INTO query VALUES (1, 0), (2, 1234567890123456789), (3, -1);
	INSERT INTO query SELECT 3 + id, fp FROM a WHERE id <= 5;

	-- one statement, so one snapshot, and each side its own way
	CREATE FUNCTION agree(fp simhash, radius integer, form text) RETURNS void
	LANGUAGE plpgsql AS $$
	DECLARE
		indexed record;
	BEGIN
		PERFORM set_config('enable_seqscan', 'off', true),
				set_config('enable_' || form, 'off', true);
		EXECUTE format('SELECT i.n, i.rows, b.n AS brute_n, b.rows AS brute_rows FROM
			(SELECT count(*) AS n, sum(hashint8extended(id, 1)) AS rows FROM a WHERE fp <~> %1$L <= %2$s) i,
			(SELECT count(*) AS n, sum(hashint8extended(id, 1)) AS rows FROM a
			 WHERE distance(fp::bigint, %3$L::bigint) <= %2$s) b',
			fp, radius, fp::bigint) INTO indexed;
		IF (indexed.n, indexed.rows) IS DISTINCT FROM (indexed.brute_n, indexed.brute_rows) THEN
			RAISE EXCEPTION 'index finds % rows, brute force %, query %, radius %',
				indexed.n, indexed.brute_n, fp, radius;
		END IF;
	END $$;
});

my %script = (
	'insert@8' => q{
\set n random(1, 30)
INSERT INTO a (fp) SELECT CASE WHEN i % 20 = 0 THEN NULL WHEN i % 3 = 0
	THEN flip_bits((ARRAY[0, 1234567890123456789, -1])[1 + i / 3 % 3], i % 5)
	ELSE random_bits() END FROM generate_series(1, :n) i;
},
	'update@4' => q{
\set part random(0, 999)
UPDATE a SET fp = CASE WHEN id % 2 = 0 THEN random_bits() ELSE flip_bits(0, (id % 5)::integer) END
WHERE id IN (SELECT id FROM a WHERE id % 1000 = :part FOR UPDATE SKIP LOCKED);
},
	'delete@4' => q{
\set part random(0, 999)
DELETE FROM a WHERE id IN (SELECT id FROM a WHERE id % 1000 = :part FOR UPDATE SKIP LOCKED);
},
	'abort@1' => q{
BEGIN;
INSERT INTO a (fp) SELECT random_bits() FROM generate_series(1, 10);
ROLLBACK;
},
	'lookup@4' => q{
\set radius random(0, 6)
\set pick random(0, 2)
SELECT agree(flip_bits((ARRAY[0, 1234567890123456789, -1])[1 + :pick], 1)::simhash, :radius, 'bitmapscan');
SELECT agree((SELECT fp FROM a WHERE fp IS NOT NULL ORDER BY id DESC LIMIT 1), :radius, 'indexscan');
SELECT agree(random_bits()::simhash, :radius, 'bitmapscan');
});

# sessions that load near-duplicates into a table that refuses them
$node->safe_psql('postgres',
	'CREATE TABLE distinct_docs (fp simhash, EXCLUDE USING simhash (fp WITH %))');
my %load = (load => q{
\set group random(1, 400)
INSERT INTO distinct_docs
SELECT flip_bits(hashint8extended(:group + i, 5), floor(random() * 3)::integer)
FROM generate_series(1, 5) i ON CONFLICT DO NOTHING;
});

my $vacuums = 0;
run_pgbench($node, 'changes and lookups', \%script, $clients, $transactions, '--random-seed=20',
	sub { $node->safe_psql('postgres', 'VACUUM a'); $vacuums++ });
cmp_ok($vacuums, '>', 0, 'vacuums ran meanwhile');
is_sound($node, 'afterwards', 'a_fp', 'a_six');
foreach my $pair ([ 'a_fp', 'a_six' ], [ 'a_six', 'a_fp' ])
{
	my ($index, $other) = @$pair;
	is($node->safe_psql('postgres',
			"BEGIN; DROP INDEX $other; CALL expect_lookups('a'); SELECT compare_lookups('a', '$index'); ROLLBACK"
		),
		'ok',
		"$index finds the same rows as brute force");
}

run_pgbench($node, 'concurrent loads into a table with a constraint', \%load, 4, 300, '--random-seed=21');
is($node->safe_psql('postgres',
		'SELECT count(*) > 300, (SELECT count(*) FROM distinct_docs a JOIN distinct_docs b
			ON a.ctid < b.ctid AND distance(a.fp::bigint, b.fp::bigint) <= 3)
		 FROM distinct_docs'),
	't|0',
	'no two rows are near each other');
is_sound($node, 'after concurrent loads', 'distinct_docs_fp_excl');
$node->stop;
done_testing();
