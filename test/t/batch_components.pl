# A search for components is seen in each of its phases, and can be cancelled there.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = make_node('components', [], 'maintenance_work_mem = 256MB');
$node->start;
load_helpers($node);
$node->safe_psql(
	'postgres', q{
	CREATE TABLE pairs AS SELECT array_agg(i) AS a, array_agg(i + 1) AS b FROM generate_series(1, 400000) i;
	-- Cancels what another session does in a phase, when it is there.
	CREATE FUNCTION cancel_in(wanted text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		deadline timestamptz := clock_timestamp() + interval '180 s';
		seen record;
	BEGIN
		WHILE clock_timestamp() < deadline LOOP
			PERFORM pg_stat_clear_snapshot();
			SELECT * INTO seen FROM simhash_stat_progress WHERE phase = wanted AND entries_done > 0;
			IF FOUND AND pg_cancel_backend(seen.pid) THEN
				RETURN concat_ws(' ', seen.command, seen.relid, seen.entries_total,
					seen.entries_done < seen.entries_total);
			END IF;
			PERFORM pg_sleep(0.001);
		END LOOP;
	END $$});

foreach my $phase ([ 'joining pairs', 400000 ], [ 'returning components', 400001 ])
{
	my ($name, $entries) = @$phase;
	my ($out, $err) = ('', '');
	# again and again, as one call ends soon
	my $victim = IPC::Run::start(
		[
			'psql', '-X', '-v', 'VERBOSITY=sqlstate', '-d', $node->connstr('postgres'),
			'-c', 'SELECT count(*) FROM generate_series(1, 1000000) g, pairs,
				LATERAL simhash_components(CASE WHEN g > 0 THEN a END, b)'
		],
		'>', \$out, '2>', \$err, IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	is($node->safe_psql('postgres', "SELECT cancel_in('$name')"), "simhash_components $entries t", "it is seen $name");
	$victim->finish;
	like($err, qr/57014/, "it is cancelled $name");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM simhash_stat_progress'), '0', 'no progress is left');
}
$node->stop;
done_testing();
