# What came with PostgreSQL 19: REPACK writes a table and its indexes again, alone or beside
# sessions that change the table, and all indexes are right afterwards; ON CONFLICT DO SELECT.

use lib 'test/t';
use SimhashTest;

plan skip_all => 'REPACK came with PostgreSQL 19' if `postgres -V` !~ /(\d+)/ || $1 < 19;

my $node = start_node('server19', [], 'wal_level = replica');

# Each kind of index on one table, and a constraint on another.  While a session named
# "victim", the one that runs REPACK, is to wait, it does so where it computes an expression.
$node->safe_psql('postgres', q{
	CREATE FUNCTION body_fp(body text) RETURNS simhash LANGUAGE plpgsql IMMUTABLE AS $$
	BEGIN
		IF current_setting('application_name') = 'victim' THEN
			PERFORM pg_advisory_xact_lock_shared(1);
		END IF;
		RETURN public.simhash_compute(body);
	END $$;
	CREATE FUNCTION body_of(n integer) RETURNS text LANGUAGE sql IMMUTABLE
	RETURN (SELECT string_agg(substr(md5(i::text), 1, 5), ' ') FROM generate_series(n / 4, n / 4 + 39) i)
		|| ' ' || n % 4;
	SELECT setseed(0.5);
	CREATE TABLE docs (id integer PRIMARY KEY, tenant integer, fp simhash, wide simhash_bits(256), body text);
	CREATE PROCEDURE fill(first integer, n integer) LANGUAGE sql AS $$
		INSERT INTO docs SELECT i, i % 3,
			CASE WHEN i % 20 > 0 THEN flip_bits(('x' || md5((i / 4)::text))::bit(64)::bigint, 2) END,
			flip_wide(wide((i / 4)::text), 3)::simhash_bits, body_of(i)
		FROM generate_series(first, first + n - 1) i $$;
	CALL fill(1, 600);
	CREATE INDEX docs_fp ON docs USING simhash (fp);
	CREATE INDEX docs_tenant ON docs USING simhash (tenant, fp);
	CREATE INDEX docs_partial ON docs USING simhash (fp) WHERE id % 2 = 0;
	CREATE INDEX docs_expression ON docs USING simhash (body_fp(body));
	CREATE INDEX docs_wide ON docs USING simhash (wide);
	CREATE INDEX docs_body ON docs USING simhash (body simhash_text_ops);
	CREATE TABLE guard (id integer PRIMARY KEY, body text,
		CONSTRAINT guard_body EXCLUDE USING simhash (body simhash_text_ops WITH =~=));
	INSERT INTO guard SELECT i, body_of(i * 200) FROM generate_series(1, 40) i;
	INSERT INTO radii VALUES (0), (3), (8);
	CREATE TABLE q AS SELECT id AS qno, fp, wide, body FROM docs WHERE id % 13 = 0 AND fp IS NOT NULL;
	INSERT INTO query SELECT qno, fp FROM q;
});

# Each index of docs, a condition with which it is used, and one that no index can serve
my %conditions = (
	docs_fp => [ 'd.fp <~> q.fp <= 5', 'distance(d.fp::bigint, q.fp::bigint) <= 5' ],
	docs_tenant => [ 'd.tenant = 1 AND d.fp <~> q.fp <= 5',
		'd.tenant = 1 AND distance(d.fp::bigint, q.fp::bigint) <= 5' ],
	docs_partial => [ 'd.id % 2 = 0 AND d.fp <~> q.fp <= 5',
		'd.id % 2 = 0 AND distance(d.fp::bigint, q.fp::bigint) <= 5' ],
	docs_expression => [ 'body_fp(d.body) = simhash_compute(q.body)',
		'simhash_compute(d.body) = simhash_compute(q.body)' ],
	docs_wide => [ 'd.wide <~> q.wide <= 9', 'wide_distance(d.wide::varbit, q.wide::varbit) <= 9' ],
	docs_body => [ 'd.body =~= q.body', "(d.body || '') =~= q.body" ]);
my @indexes = sort keys %conditions;

# What each index finds, compared with what a query without it does: a line each.  Is the
# index used, and does it find anything?
my $compare = 'SET enable_seqscan = off; SET enable_bitmapscan = off;' . join ' UNION ALL ', map {
	my ($found, $truth) = map { "\$\$SELECT qno, d.id FROM q JOIN docs d ON $_\$\$" } @{ $conditions{$_} };
	"SELECT '$_', strpos(plan_of($found), ' $_ ') > 0, rows > 0, missing, wrong
		FROM compare_rows($found, $truth)" } @indexes;
my $right = join "\n", map { "$_|t|t|0|0" } @indexes;
my $hidden = join "\n", map { "$_|t|f|0|0" } @indexes;

sub all_is_right
{
	my ($what) = @_;
	is_exact($node, $what, 'docs', 'docs_fp');
	is($node->safe_psql('postgres', join ';',
		(map { "SELECT simhash_index_check('$_', true)" } @indexes, 'guard_body'),
		q{SELECT pairs > 0, pairs_missing, pairs_wrong, members > 0, members_missing, members_wrong
			FROM compare_batch('docs', 'docs_fp', 4)},
		q{SELECT n > 0, missing, wrong, near_kept, far FROM compare_duplicates('docs', 'docs_fp', 4, 'id')},
		$compare) =~ s/^\n+//r, "t|0|0|t|0|0\nt|0|0|0|0\n$right", "$what: all indexes are right");
	like(($node->psql('postgres', 'INSERT INTO guard SELECT -1, body FROM guard WHERE id = 7'))[2],
		qr/violates exclusion constraint "guard_body"/, "$what: the constraint holds");
	return;
}

# Run a statement in a session of which $meanwhile has a chance
sub beside
{
	my ($statement, $meanwhile) = @_;
	my ($out, $err) = ('', '');
	my $psql = IPC::Run::start(victim_command($node, $statement), '>', \$out, '2>', \$err,
		IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default));
	$meanwhile->();
	$psql->finish;
	return $err;
}

all_is_right('before');
foreach my $table ('docs', 'guard')
{
	# rows that are dead to all, and indexes with more pages than they need
	$node->safe_psql('postgres',
		'UPDATE docs SET tenant = 2 - tenant WHERE id % 5 = 0; DELETE FROM docs WHERE id % 17 = 0');
	foreach my $form ('', '(CONCURRENTLY)')
	{
		is($node->safe_psql('postgres', qq{
			CREATE TABLE before AS SELECT indexrelid, pg_relation_filenode(indexrelid) AS file
				FROM pg_index WHERE indrelid = '$table'::regclass;
			REPACK $form $table;
			SELECT bool_and(pg_relation_filenode(indexrelid) <> file) FROM before;
			DROP TABLE before}), 't', "REPACK $form $table: each index has a new file");
		all_is_right("REPACK $form $table");
	}
}

# An old snapshot still finds its rows by the index after REPACK.  REPACK (CONCURRENTLY)
# hides all rows from it, by an index as without one.
my $old = $node->background_psql('postgres', on_error_stop => 1);
foreach my $form ('', '(CONCURRENTLY)')
{
	$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM radii');
	$node->safe_psql('postgres', 'UPDATE docs SET tenant = 2 - tenant; DELETE FROM docs WHERE id % 19 = 0');
	$node->safe_psql('postgres', "REPACK $form docs");
	is($old->query_safe($compare), $form eq '' ? $right : $hidden, "an old snapshot after REPACK $form");
	$old->query_safe('COMMIT');
}
$old->quit;

# REPACK (CONCURRENTLY) has copied the table and builds the indexes, in each isolation level,
# when others insert, update and delete rows.
foreach my $level ('read committed', 'repeatable read')
{
	my $holder = $node->background_psql('postgres');
	$holder->query_safe('SELECT pg_advisory_lock(1)');
	my $err = beside("REPACK (CONCURRENTLY) docs", sub {
		$node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE application_name = 'victim' AND wait_event_type = 'Lock' AND wait_event = 'advisory')}) or die;
		my $next = $node->safe_psql('postgres', 'SELECT max(id) + 1 FROM docs');
		$node->safe_psql('postgres', qq{
			SET default_transaction_isolation = '$level';
			CALL fill($next, 100);
			UPDATE docs SET fp = flip_bits(fp::bigint, 1), body = body_of(id + 1),
				wide = wide(id::text)::simhash_bits WHERE id % 7 = 0;
			UPDATE docs SET fp = NULL WHERE id % 53 = 0;
			UPDATE docs SET tenant = 7 WHERE id % 11 = 0;
			UPDATE docs SET id = -id WHERE id % 23 = 0;
			DELETE FROM docs WHERE id % 13 = 0;
			BEGIN;
			CALL fill($next + 1000, 100);
			ROLLBACK;
		});
		$holder->quit;
	});
	is($err, '', "$level: REPACK (CONCURRENTLY) succeeds beside changes");
	all_is_right("$level: beside changes");
}

# Both tables, one after the other, while others change them all the time.  One session
# loads what the constraint lets in.
my $repacked = 0;
run_pgbench($node, 'beside REPACK (CONCURRENTLY)', {
	'change@3' => q{
		\set id random(10000, 1000000000)
		\set some random(1, 700)
		INSERT INTO docs SELECT :id, tenant, flip_bits(fp::bigint, 1), wide, body
			FROM docs WHERE id = :some ON CONFLICT DO NOTHING;
		UPDATE docs SET fp = flip_bits(fp::bigint, 1), body = body_of(:some) WHERE id = :some;
		DELETE FROM docs WHERE id = (SELECT id FROM docs WHERE id >= 10000 ORDER BY id OFFSET 100 LIMIT 1);
	},
	'guard@1' => q{
		\set some random(1, 400)
		INSERT INTO guard VALUES (:some, body_of(100 * :some)) ON CONFLICT DO NOTHING;
		DELETE FROM guard WHERE id = :some + 1;
	} }, 3, effort(60, 1000), sub {
		$node->safe_psql('postgres', "REPACK (CONCURRENTLY) $_"), $repacked++ foreach 'docs', 'guard';
	});
cmp_ok($repacked, '>', 0, "$repacked times");
all_is_right('after many changes');
is($node->safe_psql('postgres', q{SELECT count(*) > 20, count(*) FILTER (WHERE EXISTS (
		SELECT FROM guard b WHERE b.id < a.id AND (b.body || '') =~= a.body)) FROM guard a}),
	't|0', 'the constraint has let in no near-duplicate');

# All of it is in the WAL.
$node->stop('immediate');
start_after_kill($node);
all_is_right('after a crash');

# Options that have become impossible keep nobody from emptying a table, but from this.
$node->safe_psql('postgres', q{
	CREATE TABLE empty (id integer PRIMARY KEY, fp simhash);
	CREATE INDEX empty_fp ON empty USING simhash (fp);
	ALTER INDEX empty_fp SET (blocks = 32, distance = 31)});
foreach my $command ('REPACK empty', 'REPACK (CONCURRENTLY) empty')
{
	like(($node->psql('postgres', $command))[2], qr/ERROR:  number of blocks 32 is out of range/,
		"$command: the options are not possible");
}
$node->safe_psql('postgres', 'TRUNCATE empty');
is_sound($node, 'TRUNCATE', 'empty_fp');

# ON CONFLICT DO SELECT needs a unique constraint, as DO UPDATE does.
foreach my $action ('UPDATE SET id = 0', 'SELECT')
{
	my ($kind) = $action =~ /^(\w+)/;
	like(($node->psql('postgres', "INSERT INTO guard SELECT -1, body FROM guard
			ON CONFLICT ON CONSTRAINT guard_body DO $action RETURNING id"))[2],
		qr/ON CONFLICT DO $kind not supported with exclusion constraints/, "ON CONFLICT DO $kind");
}

# A server that gives pages checksums while it runs reads and writes those of concurrent
# builds: src/README.md, section 12.  It is not in the release candidate of 19.
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_proc WHERE proname = 'pg_enable_data_checksums'}),
	'0', 'no checksums are enabled while a server runs');

$node->stop;
done_testing();
