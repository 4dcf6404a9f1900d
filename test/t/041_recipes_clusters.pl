# Clusters that the functions of doc/recipes.md keep up to date, while four sessions make
# random changes, are those of the whole table.
#
# CHANGES in the environment is their number.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use SimhashTest;
use DocumentTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $changes = $ENV{CHANGES} || 4000;
my $sessions = 4;
my $page = 'doc/recipes.md';
my $node = make_node('recipes_clusters', []);
$node->start;

sub run_sql
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

# The statements of the page, but the fingerprint of a row is what stands in it.
my $table = page_statements($page, 'CREATE TABLE notices');
$table =~ s/simhash_minhash\(body\)/body::simhash/ or die 'the page has another expression';
run_sql('CREATE EXTENSION simhash');
run_sql($table);
run_sql(page_statements($page, 'CREATE FUNCTION update_clusters'));

# Around each of 150 centers, some rows have to go through others to reach a third.
run_sql(q{
	CREATE FUNCTION near_a_center() RETURNS text LANGUAGE sql VOLATILE AS $$
		SELECT (hashint8extended((random() * 150)::int, 7) # (1::bigint << (random() * 63)::int)
			# (1::bigint << (random() * 63)::int)
			# (CASE WHEN random() < .5 THEN 0 ELSE 1::bigint << (random() * 63)::int END))::text $$;
	CREATE TABLE sizes (moment bigserial, clusters bigint, largest bigint);
	INSERT INTO notices (id, body) SELECT i, near_a_center() FROM generate_series(1, 600) i;
	SELECT update_clusters()});

my %scripts = (
	insert => q{
		\set id random(1, 1200)
		INSERT INTO notices (id, body) SELECT :id, near_a_center() ON CONFLICT DO NOTHING;},
	several => q{
		\set id random(1, 1200)
		BEGIN;
		DELETE FROM notices WHERE id = :id;
		INSERT INTO notices (id, body) SELECT :id + i, near_a_center() FROM generate_series(0, 2) i ON CONFLICT DO NOTHING;
		COMMIT;},
	change => q{
		\set id random(1, 1200)
		UPDATE notices SET body = near_a_center() WHERE id = :id;},
	remove => q{
		\set id random(1, 1200)
		DELETE FROM notices WHERE id = :id;},
	undo => q{
		\set id random(1, 1200)
		BEGIN;
		DELETE FROM notices WHERE id = :id;
		ROLLBACK;},
	label => q{
		SELECT update_clusters();
		INSERT INTO sizes (clusters, largest)
		SELECT count(*), max(n) FROM (SELECT count(*) AS n FROM notice_clusters GROUP BY cluster) c;});
my %weights = (insert => 8, several => 3, change => 8, remove => 8, undo => 1, label => 3);

my @command = ('pgbench', '--no-vacuum', "--client=$sessions", '--jobs=2', '--random-seed=5',
	'--transactions=' . $changes / $sessions, '--max-tries=1', '-h', $node->host, '-p', $node->port);
foreach my $name (sort keys %scripts)
{
	my $file = $node->basedir . "/$name.sql";
	append_to_file($file, $scripts{$name});
	push @command, "--file=$file\@$weights{$name}";
}
my ($out, $err) = ('', '');
ok(IPC::Run::run([ @command, 'postgres' ], '>', \$out, '2>', \$err), 'the sessions succeed') or diag($err);
like($out, qr/number of transactions actually processed: $changes\/$changes$/m, 'no change fails');
run_sql('SELECT update_clusters()');

# A row that is near no other is its own cluster.
my $differences = q{
	SELECT count(*) FROM notice_clusters kept FULL JOIN (
		SELECT id, CASE WHEN cluster IS NULL THEN id ELSE min(id) OVER (PARTITION BY cluster) END AS cluster
		FROM notices LEFT JOIN simhash_find_clusters('notices_fp', 3) ON ctid = member) whole
	USING (id) WHERE kept.cluster IS DISTINCT FROM whole.cluster};
is(run_sql($differences), '0', 'the clusters are those of the whole table');
cmp_ok(run_sql('SELECT count(*) FROM notices'), '>', 200, 'there are rows');
cmp_ok(run_sql('SELECT count(*) FROM (SELECT FROM notice_clusters GROUP BY cluster HAVING count(*) > 2) c'),
	'>', 20, 'and clusters');
cmp_ok(run_sql('SELECT count(*) FROM sizes'), '>', $changes / 50, 'labels were given many times in between');

# The comparison finds what is wrong.
run_sql('DELETE FROM notices WHERE id = (SELECT min(id) FROM notices)');
cmp_ok(run_sql($differences), '>', 0, 'labels that were not brought up to date differ');
run_sql('SELECT update_clusters()');
is(run_sql($differences), '0', 'and do not after the next call');

$node->stop;
done_testing();
