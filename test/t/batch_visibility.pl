# All pairs and clusters of a table of many pages, of which some are marked
# all-visible and some not: rows that are updated within their pages, deleted,
# locked, aborted, prepared and vacuumed, in random order.  After each round they
# are compared with brute force, on the primary and on a standby, and at last on
# the standby that took over.

use lib 'test/t';
use SimhashTest;

my $primary = start_node('primary', [ allows_streaming => 1 ],
	'max_prepared_transactions = 10', 'wal_keep_size = 1GB');
my $standby = make_standby($primary);
$standby->start;

$primary->safe_psql('postgres', q{
	CREATE TABLE docs (id integer, fp simhash, note text) WITH (fillfactor = 85);
	CREATE INDEX docs_fp ON docs USING simhash (fp);
	-- clusters of rows near a few centers, some equal, among others that are alone
	CREATE FUNCTION fp(id integer) RETURNS bigint LANGUAGE sql VOLATILE AS $$
		SELECT CASE WHEN id % 4 = 0 THEN random_bits()
			ELSE flip_bits(hashint8extended(id % 300, 5), floor(random() * 4)::integer) END $$;
	INSERT INTO docs SELECT id, fp(id), 'first' FROM generate_series(1, 3000) id;

	-- In how many rows the functions differ from brute force.  Only rows of one center
	-- are compared: others are not near each other.
	CREATE FUNCTION differences() RETURNS bigint LANGUAGE sql AS $$
		SELECT pairs_missing + pairs_wrong + members_missing + members_wrong
		FROM compare_batch('docs', 'docs_fp', 3, 'a.id % 300 = b.id % 300') $$;
	CREATE FUNCTION marked() RETURNS text LANGUAGE sql STABLE AS $$
		SELECT CASE relallvisible WHEN 0 THEN 'none' WHEN relpages THEN 'all' ELSE 'some' END
		FROM pg_class WHERE oid = 'docs'::regclass $$;
});

sub same
{
	my ($what) = @_;
	is($primary->safe_psql('postgres', 'SELECT differences(), count(*) > 500 FROM simhash_find_all(\'docs_fp\')'),
		'0|t', $what);
	$primary->wait_for_catchup($standby);
	is($standby->safe_psql('postgres', 'SELECT differences()'), '0', "$what: standby");
	return;
}

same('at first');
my $next = 3001;
my $seed = 0;
foreach my $round (1 .. 6)
{
	# the rows of some pages are left alone in each round
	my $some = "(ctid::text::point)[0]::integer % 3 = $round % 3 AND hashint4extended(id, $round) % 10";
	$seed += 0.1;
	$primary->safe_psql('postgres', "SELECT setseed($seed);
		UPDATE docs SET note = 'round $round' WHERE $some IN (0, 1, -1);
		UPDATE docs SET note = note || ' again' WHERE $some IN (1, 2);
		UPDATE docs SET fp = fp(id) WHERE $some = 3;
		DELETE FROM docs WHERE $some IN (4, -4);
		INSERT INTO docs SELECT id, fp(id), 'new' FROM generate_series($next, $next + 299) id;
		BEGIN;
		UPDATE docs SET note = 'aborted' WHERE $some = 5;
		DELETE FROM docs WHERE $some = -5;
		INSERT INTO docs SELECT id, fp(id), 'aborted' FROM generate_series(1, 50) id;
		ROLLBACK;
		BEGIN;
		SELECT FROM docs WHERE $some = 6 FOR UPDATE;
		SELECT FROM docs WHERE $some = -6 FOR KEY SHARE;
		COMMIT;");
	$next += 300;
	same("round $round, before VACUUM");
	if ($round % 2 == 0)
	{
		$primary->safe_psql('postgres', "BEGIN;
			INSERT INTO docs SELECT id, fp(id), 'prepared' FROM generate_series(1, 100) id;
			DELETE FROM docs WHERE $some = 7;
			UPDATE docs SET note = 'prepared' WHERE $some = -7;
			SELECT FROM docs WHERE $some = 8 FOR NO KEY UPDATE;
			PREPARE TRANSACTION 'work'");
		same("round $round, prepared");
		$primary->safe_psql('postgres', 'VACUUM docs');
		same("round $round, prepared, after VACUUM");
		$primary->safe_psql('postgres', ($round == 4 ? 'ROLLBACK' : 'COMMIT') . " PREPARED 'work'");
		same("round $round, no longer prepared");
		next if $round == 6;
	}
	$primary->safe_psql('postgres', 'VACUUM docs');
	is($primary->safe_psql('postgres', 'SELECT marked()'), 'all', "round $round: all pages are marked");
	same("round $round, after VACUUM");
}

# index entries of rows whose line pointers are dead
$primary->safe_psql('postgres', 'DELETE FROM docs WHERE id % 17 = 3');
$primary->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP OFF) docs');
same('after VACUUM without the index');
isnt($primary->safe_psql('postgres', 'SELECT marked()'), 'all', 'some pages are not marked');
$standby->promote;
is($standby->safe_psql('postgres', 'SELECT differences()'), '0', 'promoted');
$standby->safe_psql('postgres', 'VACUUM docs');
is($standby->safe_psql('postgres', 'SELECT differences(), marked()'), '0|all', 'promoted: after VACUUM');
is_sound($standby, 'promoted', 'docs_fp');
$standby->stop;
$primary->stop;
done_testing();
