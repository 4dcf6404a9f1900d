# Index-only scans while others change the rows and VACUUM removes what the scans may
# have read: in each snapshot the same number of rows and bits.  On a standby, where
# nothing waits for the pins of a scan, the same.

use lib 'test/t';
use SimhashTest;

my $node = start_node('index_only', [ allows_streaming => 1 ], 'max_wal_size = 1GB');

# Rows come in pairs of which one has the lowest bit; each change gives it to the
# other.  So in every snapshot there are 2000 rows and 1000 of these bits.
$node->safe_psql('postgres', q{
	CREATE TABLE pairs (pair integer, fp simhash);
	INSERT INTO pairs SELECT pair, hashint8extended(pair, 5) & ~1 # side
		FROM generate_series(1, 1000) pair, generate_series(0, 1) side;
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
		plan text := plan_of(statement_of(form));
		fp simhash;
		n integer := 0;
		bits integer := 0;
	BEGIN
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
my %script = ('change@2' => q{
\set first random(1, 995)
UPDATE pairs SET fp = fp::bigint # 1 WHERE pair IN
	(SELECT pair FROM generate_series(:first, :first + 4) pair WHERE pg_try_advisory_xact_lock(pair));
}, 'look@1' => q{
\set form random(1, 4)
\set slow random(0, 3)
SELECT look(:form, :slow > 0);
});
$node->safe_psql('postgres', 'VACUUM (ANALYZE) pairs');
my $vacuums = 0;
run_pgbench($node, 'the same rows and bits in each snapshot', \%script, 4, 150, '--random-seed=10',
	sub { $node->safe_psql('postgres', 'VACUUM pairs'); $vacuums++ });
cmp_ok($vacuums, '>', 3, 'vacuums ran meanwhile');
is_sound($node, 'at last', 'pairs_fp');

# A standby.  A scan without columns is index-only there, if nothing else is allowed.  It
# has read a leaf, and stops; meanwhile the removal of dead rows is replayed, and their
# pages become all-visible.  Other rows are on pages of their own: the scan keeps the pin of
# the one that it has visited, for which replay would wait.
my $standby = make_standby($node);
$standby->append_conf('postgresql.conf', 'max_standby_streaming_delay = -1');
$standby->start;
$node->safe_psql('postgres', q{
	CREATE TABLE vacuumed (tables integer);
	INSERT INTO vacuumed VALUES (0);
	CREATE FUNCTION wait_for_vacuum(which integer) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		WHILE (SELECT tables FROM vacuumed) < which LOOP
			PERFORM pg_sleep(0.01);
		END LOOP;
	END $$;
});
my $tables = 0;
foreach my $where ('', 'WHERE kept IS NOT NULL')
{
	$node->safe_psql('postgres', qq{
		DROP TABLE IF EXISTS docs;
		CREATE TABLE docs (block integer, fp simhash, kept boolean, pad text);
		INSERT INTO docs SELECT i / 4, simhash_compute(i::text), true, repeat('x', 1700)
			FROM generate_series(0, 4999) i;
		CREATE INDEX docs_fp ON docs USING simhash (fp) $where;
		VACUUM (ANALYZE) docs;
		DELETE FROM docs WHERE block % 2 = 0;
	});
	$node->wait_for_catchup($standby);
	$tables++;
	local $ENV{VACUUM} = join ' ', 'psql -X -q', '-d', "'" . $node->connstr('postgres') . "'",
	  '-c', "'VACUUM (INDEX_CLEANUP on) docs'", '-c', "'UPDATE vacuumed SET tables = $tables'";
	my $out = $standby->safe_psql('postgres', qq{
		SET enable_seqscan = off;
		SET enable_bitmapscan = off;
		SELECT plan_of('SELECT FROM docs $where');
		BEGIN;
		DECLARE c CURSOR FOR SELECT 'row' FROM docs $where;
		FETCH FROM c;
		\\! eval "\$VACUUM"
		SELECT wait_for_vacuum($tables);
		FETCH ALL FROM c;
	});
	my $what = $where eq '' ? 'a standby' : 'a standby, a partial index';
	like($out, qr/^Index Only Scan using docs_fp/, "$what: a scan without columns is index-only");
	is(scalar(() = $out =~ /^row$/mg), 2500, "$what: it returns the rows that are there");

	# each row is visited, which the planner knows
	my %cost;
	foreach my $server ($node, $standby)
	{
		my $plan = $server->safe_psql('postgres', qq{
			SET enable_seqscan = off;
			SET enable_bitmapscan = off;
			EXPLAIN SELECT count(*) FROM docs $where;
		});
		($cost{ $server->name }) = $plan =~ /Index Only.*\.\.([\d.]+)/;
	}
	cmp_ok($cost{standby}, '>', $cost{index_only} + 1000, "$what: it costs as much as it reads");
}
$standby->stop;
$node->stop;
done_testing();
