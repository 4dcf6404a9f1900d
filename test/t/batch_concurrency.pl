# All pairs and clusters while others insert, delete, update and vacuum, so that
# pages are split under the search; on the primary, and on a standby that replays
# it.  Each search is compared with a self-join in one snapshot.  And when all is
# quiet: the same on both, and after the standby has taken over.

use lib 'test/t';
use SimhashTest;

my $primary = start_node('primary', [ allows_streaming => 1 ],
	'max_wal_size = 1GB', 'wal_keep_size = 8GB');
my $standby = make_standby($primary);
# replay waits for searches, instead of cancelling them
$standby->append_conf('postgresql.conf', "hot_standby_feedback = on\nmax_standby_streaming_delay = -1\n");
$standby->start;

$primary->safe_psql('postgres', q{
	-- Anchors: 60 chains 0 - 1 - 2 with 3 bits from one to the next and 6 from end to end;
	-- every tenth chain has a fourth row, equal to the first.
	CREATE TABLE docs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, anchor integer, member integer,
		fp simhash, note integer DEFAULT 0) WITH (fillfactor = 60);
	CREATE FUNCTION anchor_fp(anchor integer, member integer) RETURNS simhash LANGUAGE sql IMMUTABLE AS $$
		SELECT hashint8extended(anchor, 7)
			# CASE WHEN member IN (1, 2) THEN 1 | (1::bigint << 20) | (1::bigint << 40) ELSE 0 END
			# CASE WHEN member = 2 THEN (1::bigint << 10) | (1::bigint << 30) | (1::bigint << 50) ELSE 0 END $$;
	CREATE VIEW anchors AS
		SELECT anchor, member, anchor_fp(anchor, member) AS fp
		FROM generate_series(1, 60) anchor, generate_series(0, 3) member WHERE member < 3 OR anchor % 10 = 0;
	INSERT INTO docs (anchor, member, fp) SELECT * FROM anchors;
	INSERT INTO docs (fp) SELECT make_fingerprints(600, 0.3);
	CREATE INDEX docs_four ON docs USING simhash (fp) WITH (blocks = 4, distance = 3);
	CREATE INDEX docs_six ON docs USING simhash (fp) WITH (blocks = 6, distance = 3, fillfactor = 100);
	CREATE TABLE searched (leaves_before bigint, leaves_after bigint);

	-- The six blocks of 11 or 10 bits: fingerprints that differ in 5 bits or fewer agree in one.
	CREATE FUNCTION blocks(fp simhash) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
		SELECT ARRAY[fp::bigint & 2047, fp::bigint >> 11 & 2047, fp::bigint >> 22 & 2047, fp::bigint >> 33 & 2047,
			fp::bigint >> 44 & 1023, fp::bigint >> 54 & 1023] $$;

	-- In how many rows the functions differ from a join of the table with itself, which
	-- knows nothing of the indexes.  One statement, so one snapshot.
	CREATE FUNCTION differences() RETURNS bigint LANGUAGE sql STABLE SET enable_nestloop = off AS $$
		WITH RECURSIVE
		block AS MATERIALIZED (
			SELECT docs.ctid AS tid, fp, no, value FROM docs, unnest(blocks(fp)) WITH ORDINALITY b (value, no)),
		near AS MATERIALIZED (
			SELECT DISTINCT x.tid AS a, y.tid AS b, x.fp AS a_fp, y.fp AS b_fp, d
			FROM block x JOIN block y ON x.no = y.no AND x.value = y.value AND x.tid < y.tid,
				distance(x.fp::bigint, y.fp::bigint) d
			WHERE d <= 5),
		search (index, radius) AS (
			VALUES ('docs_four', 0), ('docs_four', 2), ('docs_four', 3), ('docs_four', 5), ('docs_six', 3)),
		found AS (SELECT index, radius, p.a, p.b, p.a_fp, p.b_fp, p.distance
			FROM search, simhash_find_all(index::regclass, radius) p),
		wanted AS (SELECT index, radius, near.* FROM search, near WHERE d <= radius),
		-- connected components: from each row to all that can be reached
		edge AS (
			SELECT a, b, a_fp, b_fp FROM near WHERE d <= 3
			UNION ALL SELECT b, a, b_fp, a_fp FROM near WHERE d <= 3),
		reached (a, b, b_fp) AS (
			SELECT a, a, a_fp FROM edge
			UNION SELECT r.a, e.b, e.b_fp FROM reached r JOIN edge e ON e.a = r.b),
		component AS (
			SELECT index, docs.ctid, docs.fp, dense_rank() OVER (ORDER BY min(b)), count(*)
			FROM reached JOIN docs ON docs.ctid = a, (VALUES ('docs_four'), ('docs_six')) search (index)
			GROUP BY index, docs.ctid, docs.fp),
		cluster AS (
			SELECT index, c.member, c.fp, c.cluster, c.size
			FROM (VALUES ('docs_four'), ('docs_six')) search (index), simhash_find_clusters(index::regclass) c)
		SELECT
			(SELECT count(*) FROM ((TABLE found EXCEPT ALL TABLE wanted)
				UNION ALL (TABLE wanted EXCEPT ALL TABLE found)) d)
			+ (SELECT count(*) FROM ((TABLE cluster EXCEPT ALL TABLE component)
				UNION ALL (TABLE component EXCEPT ALL TABLE cluster)) d)
	$$;

	-- the same for the anchors, of which all is known
	CREATE FUNCTION anchor_differences() RETURNS bigint LANGUAGE sql STABLE AS $$
		WITH found AS (
			SELECT x.anchor AS anchor, y.anchor AS other, least(x.member, y.member), greatest(x.member, y.member),
				p.distance
			FROM simhash_find_all('docs_six') p JOIN docs x ON x.ctid = p.a JOIN docs y ON y.ctid = p.b
			WHERE x.anchor IS NOT NULL OR y.anchor IS NOT NULL),
		wanted AS (
			SELECT x.anchor, x.anchor, x.member, y.member, d
			FROM (VALUES (0, 1, 3), (1, 2, 3), (0, 3, 0), (1, 3, 3)) pair (a, b, d),
				anchors x JOIN anchors y USING (anchor)
			WHERE x.member = a AND y.member = b),
		cluster AS (
			SELECT docs.anchor, docs.member, min(docs.fp) OVER (PARTITION BY c.cluster), c.size
			FROM simhash_find_clusters('docs_four') c JOIN docs ON docs.ctid = c.member
			WHERE anchor IS NOT NULL),
		chain AS (
			SELECT anchor, member, min(fp) OVER (PARTITION BY anchor), count(*) OVER (PARTITION BY anchor) FROM anchors)
		SELECT
			(SELECT count(*) FROM ((TABLE found EXCEPT ALL TABLE wanted)
				UNION ALL (TABLE wanted EXCEPT ALL TABLE found)) d)
			+ (SELECT count(*) FROM ((TABLE cluster EXCEPT ALL TABLE chain)
				UNION ALL (TABLE chain EXCEPT ALL TABLE cluster)) d)
	$$;

	CREATE FUNCTION compare_all() RETURNS void LANGUAGE plpgsql STABLE AS $$
	DECLARE
		n bigint := differences();
	BEGIN
		IF n <> 0 THEN
			RAISE EXCEPTION '% rows differ from the self-join', n;
		END IF;
		n := anchor_differences();
		IF n <> 0 THEN
			RAISE EXCEPTION '% rows of anchors differ', n;
		END IF;
	END $$;

	-- all that is found, in short
	CREATE FUNCTION summary() RETURNS text LANGUAGE sql STABLE AS $$
		SELECT string_agg(n || ' ' || sum, ' ') FROM (
			SELECT count(*) AS n, sum(hashtextextended(p::text, 1)) FROM simhash_find_all('docs_four', 5) p
			UNION ALL SELECT count(*), sum(hashtextextended(p::text, 1)) FROM simhash_find_all('docs_six') p
			UNION ALL SELECT count(*), sum(hashtextextended(c::text, 1))
			FROM simhash_find_clusters('docs_four') c) s $$;
	CREATE FUNCTION must_be(summary text) RETURNS void LANGUAGE plpgsql STABLE AS $$
	BEGIN
		IF summary IS DISTINCT FROM summary() THEN
			RAISE EXCEPTION 'was %, is %', summary, summary();
		END IF;
	END $$;
	CREATE FUNCTION leaves() RETURNS bigint LANGUAGE sql AS $$
		SELECT sum(leaf_pages)::bigint FROM (VALUES ('docs_four'), ('docs_six')) i (name),
			simhash_index_info(name::regclass) $$;
	CREATE FUNCTION wait_for_splits(number bigint) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		deadline timestamptz := clock_timestamp() + current_setting('test.timeout')::interval;
	BEGIN
		WHILE leaves() < number LOOP
			IF clock_timestamp() > deadline THEN
				RAISE EXCEPTION 'no pages are split';
			END IF;
			PERFORM pg_sleep(0.01);
		END LOOP;
	END $$;
});

my %script = (
	# Random; with some block in common with many, which changes as time goes by, so
	# that there are always pages that fill up; near each other; equal; null.
	insert => q{
INSERT INTO docs (fp)
SELECT CASE WHEN i % 5 = 0 THEN flip_bits(hashint8extended(i * 1000000 + n / 400, 5), floor(random() * 5)::integer)
	WHEN i % 20 = 1 THEN hashint8extended(n / 400, 6)
	WHEN i % 20 = 2 THEN NULL
	WHEN i % 5 < 3 THEN random_bits()
	ELSE (random_bits() & ~(65535::bigint << shift)) | ((hashint8(n / 1000) & 65535)::bigint << shift) END
FROM (SELECT max(id) AS n, (max(id) / 1000 % 4 * 16)::integer AS shift FROM docs) m, generate_series(1, 40) i;
},
	delete => q{
DELETE FROM docs WHERE id IN (
	SELECT id FROM docs WHERE anchor IS NULL AND id < (SELECT max(id) FROM docs) - 2500
	ORDER BY hashint8(id) LIMIT 60 FOR UPDATE SKIP LOCKED);
},
	# within the page where there is room, so that the TIDs of anchors change but not
	# their entries in the indexes
	note => q{
\set part random(0, 19)
UPDATE docs SET note = note + 1 WHERE id IN (
	SELECT id FROM docs WHERE anchor % 20 = :part FOR UPDATE SKIP LOCKED);
},
	move => q{
\set part random(0, 49)
UPDATE docs SET fp = CASE WHEN id % 2 = 0 THEN random_bits() ELSE flip_bits(hashint8extended(id % 20, 5), 2) END
WHERE id IN (SELECT id FROM docs WHERE anchor IS NULL AND id % 50 = :part FOR UPDATE SKIP LOCKED);
},
	# rows near anchors that are never seen
	abort => q{
BEGIN;
INSERT INTO docs (fp) SELECT flip_bits(fp::bigint, 1) FROM anchors WHERE member = 1;
DELETE FROM docs WHERE id IN (SELECT id FROM docs WHERE anchor % 7 = 3 AND member = 1 FOR UPDATE SKIP LOCKED);
ROLLBACK;
},
	# The pages that hold what the snapshot has are split before it is searched again.
	search => q{
SELECT leaves() AS before \gset
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT summary() AS summary \gset
SELECT wait_for_splits(:before + 10);
SELECT must_be(':summary');
SELECT compare_all();
COMMIT;
INSERT INTO searched VALUES (:before, leaves());
},
	# the same snapshot finds the same some time later
	again => q{
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT summary() AS before \gset
\sleep 100 ms
SELECT must_be(':before');
SELECT compare_all();
COMMIT;
},
	standby => q{
SELECT compare_all();
});

# Start pgbench: a node, options, and scripts with their weights.
sub start_scripts
{
	my ($node, $options, %weight) = @_;
	my %chosen = map { ("$_\@$weight{$_}" => $script{$_}) } keys %weight;
	return start_pgbench($node, \%chosen, '--random-seed=11', @$options);
}

# The load lasts until the searches are done.  Each of those on the primary waits
# for splits, so that there are some on both nodes; the standby searches as it may.
$primary->wait_for_catchup($standby);
my $leaves = $primary->safe_psql('postgres', 'SELECT leaves()');
my $standby_leaves = $standby->safe_psql('postgres', 'SELECT leaves()');
my $load = start_scripts($primary, [ '--client=4', '--time=1000', '--rate=150' ],
	insert => 8, delete => 6, note => 4, move => 2, abort => 1);
my $vacuums = 0;
my $split = '';
foreach my $round (1 .. 20)
{
	my @searches = (
		start_scripts($primary, [ '--client=2', '--transactions=15' ], search => 2, again => 1),
		start_scripts($standby, [ '--client=1', '--transactions=15' ], standby => 1));
	while (grep { $_->{handle}->pumpable } @searches)
	{
		$_->{handle}->pump_nb foreach grep { $_->{handle}->pumpable } @searches;
		$load->{handle}->pump_nb;
		$primary->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) docs');
		$vacuums++;
	}
	foreach my $search (@searches)
	{
		$search->{handle}->finish;
		is($search->{handle}->result(0), 0, "round $round: pgbench succeeds");
		unlike($search->{err}, qr/ERROR|aborted/, "round $round: searches find the same as the self-join");
	}
	$primary->wait_for_catchup($standby);
	$split = $primary->safe_psql('postgres',
		"SELECT count(*) FILTER (WHERE leaves_after > leaves_before) >= 10 AND leaves() >= $leaves + 100
		FROM searched"
	  )
	  . $standby->safe_psql('postgres', "SELECT leaves() >= $standby_leaves + 100");
	last if $split eq 'tt';
}
ok($load->{handle}->pumpable, 'the load went on all the time');
is($split, 'tt', 'pages were split during searches');
cmp_ok($vacuums, '>', 3, 'vacuums ran meanwhile');
note($primary->safe_psql('postgres', q{
	SELECT count(*) || ' searches, in ' || count(*) FILTER (WHERE leaves_after > leaves_before) || ' a split; '
		|| min(leaves_before) || ' to ' || leaves() || ' leaves; ' || (SELECT count(*) FROM docs) || ' rows'
	FROM searched}), "; $vacuums vacuums");
$load->{handle}->signal('TERM');
$load->{handle}->finish;
unlike($load->{err}, qr/ERROR|aborted/, 'no statement of the load fails');
$primary->poll_query_until('postgres',
	"SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'pgbench'")
  or die 'the load does not end';

# quiet
sub same_everywhere
{
	my ($what) = @_;
	$primary->wait_for_catchup($standby);
	is($primary->safe_psql('postgres', 'SELECT differences(), anchor_differences()'),
		'0|0', "$what: primary");
	is($standby->safe_psql('postgres', 'SELECT differences(), anchor_differences()'),
		'0|0', "$what: standby");
	is($standby->safe_psql('postgres', 'SELECT summary()'),
		$primary->safe_psql('postgres', 'SELECT summary()'), "$what: both find the same");
	is_sound($primary, "$what, primary", 'docs_four', 'docs_six');
	is_sound($standby, "$what, standby", 'docs_four', 'docs_six');
	return;
}
same_everywhere('after the load');
# once by comparing each row with each
is($primary->safe_psql('postgres', q{
		SELECT rows > 100, missing, wrong FROM compare_rows('SELECT a, b FROM simhash_find_all(''docs_four'')',
			'SELECT x.ctid, y.ctid FROM docs x, docs y
			WHERE x.ctid < y.ctid AND distance(x.fp::bigint, y.fp::bigint) <= 3')}),
	't|0|0', 'all pairs are those of a comparison of each with each');
$primary->safe_psql('postgres', 'DELETE FROM docs WHERE anchor IS NULL AND id % 3 = 0');
$primary->safe_psql('postgres', 'VACUUM docs');
same_everywhere('after a vacuum');
$primary->safe_psql('postgres', 'REINDEX TABLE docs');
same_everywhere('after a reindex');
my $summary = $primary->safe_psql('postgres', 'SELECT summary()');

# the standby takes over
$standby->promote;
is($standby->safe_psql('postgres', 'SELECT summary()'), $summary, 'promoted: the same as before');
$standby->safe_psql('postgres', 'INSERT INTO docs (fp) SELECT make_fingerprints(2000, 0.4)');
$standby->safe_psql('postgres', 'DELETE FROM docs WHERE anchor IS NULL AND id % 5 = 0');
is($standby->safe_psql('postgres', 'SELECT differences(), anchor_differences()'),
	'0|0', 'promoted: after changes');
$standby->safe_psql('postgres', 'VACUUM docs');
is($standby->safe_psql('postgres', 'SELECT differences(), anchor_differences()'),
	'0|0', 'promoted: after a vacuum');
is_sound($standby, 'promoted', 'docs_four', 'docs_six');
$standby->stop;
$primary->stop;
done_testing();
