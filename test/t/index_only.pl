# Index-only scans while others change the rows and VACUUM removes what the scans may
# have read: in each snapshot the same number of rows and bits.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = make_node('index_only', [], 'max_wal_size = 1GB');
$node->start;
load_helpers($node);
my $dir = PostgreSQL::Test::Utils::tempdir;

# Rows come in pairs of which one has the lowest bit; each change gives it to the
# other.  So in every snapshot there are 2000 rows and 1000 of these bits.
$node->safe_psql(
	'postgres', q{
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
is($pgbench->result(0), 0, 'pgbench succeeds') or diag($err);
unlike($err, qr/ERROR|aborted/, 'the same rows and bits in each snapshot');
like($out, qr{transactions actually processed: 600/600}, 'all transactions ran');
cmp_ok($vacuums, '>', 3, 'vacuums ran meanwhile');
is_sound($node, 'at last', 'pairs_fp');
$node->stop;
done_testing();
