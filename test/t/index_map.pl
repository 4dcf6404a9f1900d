# What a session remembers of the inner pages of indexes: how many pages it saves,
# that invalidations leave it alone, and that what is wrong in it does no harm.
#
# With SIMHASH_MAP=small the library is one that has room for next to nothing,
# and that takes what it remembers of one index for that of another, see test/run.

use lib 'test/t';
use SimhashTest;

my $small = ($ENV{SIMHASH_MAP} // '') eq 'small';
my $queries = 2000;

my $node = start_node('map', [], 'shared_buffers = 128MB', 'max_wal_size = 2GB',
	'maintenance_work_mem = 128MB');
load_pages($node);
$node->safe_psql('postgres', qq{
	-- How many pages a query reads in the scans of an index, or in all.
	CREATE FUNCTION accesses(query text, index text DEFAULT NULL) RETURNS bigint
	LANGUAGE plpgsql AS \$\$
	DECLARE
		plan jsonb;
	BEGIN
		EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, FORMAT JSON) ' || query INTO plan;
		IF index IS NOT NULL THEN
			plan := jsonb_path_query_first(plan, '\$.** ? (@."Index Name" == \$index)',
				jsonb_build_object('index', index));
		ELSE
			plan := plan->0->'Plan';
		END IF;
		RETURN (plan->>'Shared Hit Blocks')::bigint + (plan->>'Shared Read Blocks')::bigint;
	END \$\$;
	ALTER DATABASE postgres SET enable_seqscan = off;
	ALTER DATABASE postgres SET enable_bitmapscan = off;
	ALTER DATABASE postgres SET enable_indexonlyscan = off;
	ALTER DATABASE postgres SET enable_hashjoin = off;
	ALTER DATABASE postgres SET enable_mergejoin = off;
	ALTER DATABASE postgres SET enable_material = off;
	ALTER DATABASE postgres SET max_parallel_workers_per_gather = 0;

	SELECT setseed(0.5);
	CREATE TABLE deep (id integer, fp simhash);
	INSERT INTO deep SELECT i, random_bits() FROM generate_series(1, 45000) i;
	CREATE INDEX deep_fp ON deep USING simhash (fp) WITH (fillfactor = 10);
	-- each insert splits a page
	CREATE TABLE full_pages (id integer, fp simhash);
	INSERT INTO full_pages SELECT i, random_bits() FROM generate_series(1, 60000) i;
	CREATE INDEX full_pages_fp ON full_pages USING simhash (fp) WITH (fillfactor = 100);
	-- what is in none of them, so that no row is looked at
	CREATE TABLE q (fp simhash);
	INSERT INTO q SELECT random_bits() FROM generate_series(1, $queries);
	VACUUM ANALYZE;
});
is( $node->safe_psql('postgres',
		"SELECT min(levels), max(levels) FROM simhash_index_info('deep_fp') WHERE table_no IS NOT NULL"),
	'3|3', 'the index has three levels');
my $inner = $node->safe_psql('postgres',
	"SELECT sum(inner_pages) FROM simhash_index_info('deep_fp')");
my $leaves = $node->safe_psql('postgres',
	"SELECT max(leaf_pages) FROM simhash_index_info('full_pages_fp')");

# Lines that a session of its own prints.  It begins another where the script has
# {{...}}.
sub run_session
{
	my ($script) = @_;
	my $connstr = $node->connstr('postgres');
	$script =~ s/\{\{(.*?)\}\}/\n\\! psql -X -q -v ON_ERROR_STOP=1 -d "$connstr" -c "$1"\n/sg;
	my ($status, $stdout, $stderr) =
	  $node->psql('postgres', $script, extra_params => ['-q', '-v', 'ON_ERROR_STOP=1']);
	is("$status $stderr", '0 ', 'the session had no error');
	return split /\n/, $stdout;
}

my $count = q{SELECT accesses('SELECT count(*) FROM q JOIN deep t ON t.fp = q.fp', 'deep_fp');};
my $near = q{SELECT accesses('SELECT count(*) FROM q JOIN deep t ON t.fp <~> q.fp <= 2', 'deep_fp');};
my $full = q{SELECT accesses('SELECT count(*) FROM q JOIN full_pages t ON t.fp = q.fp', 'full_pages_fp');};

# A lookup of radius 0 reads one page of one table; seldom two, where the range
# of a prefix lies on two.
my ($first, $warm, $analyzed, $changed, $first_near, $warm_near) = run_session(
	"$count $count ANALYZE deep; $count
	ALTER INDEX deep_fp SET (fillfactor = 20); ALTER TABLE deep ADD COLUMN more integer; $count
	$near $near");
note "first $first, warm $warm, after ANALYZE $analyzed, after ALTER $changed, near $first_near, then $warm_near";
if ($small)
{
	cmp_ok($warm_near, '>', 1.5 * 3 * $queries, 'there is no room for all');
	cmp_ok($_, '<=', 3.02 * $queries, "$_ accesses: no more than a plain descent")
	  for $first, $warm, $analyzed, $changed;
	cmp_ok($_, '<=', 3.02 * 3 * $queries, "$_ accesses in three tables: no more than plain descents")
	  for $first_near, $warm_near;
}
else
{
	cmp_ok($warm, '<=', 1.02 * $queries, 'a lookup reads one page');
	cmp_ok($first, '<=', $warm + $inner, 'the first ones read each inner page once');
	is($analyzed, $warm, 'ANALYZE leaves alone what is remembered');
	is($changed, $warm, 'and so do changes of the table and the index');
	cmp_ok($first_near, '<=', $warm_near + $inner, 'all tables are remembered');
}

# what others split is found, a step to the right, and then remembered
my (undef, $before, $split, $again) = run_session(
	"$full $full {{INSERT INTO full_pages SELECT i, random_bits() FROM generate_series(1, 20000) i}} $full $full");
note "before $before, after splits $split, then $again, of $leaves leaves";
if (!$small)
{
	cmp_ok($split, '<=', $before + $leaves + 10, 'each split costs one step to the right');
	cmp_ok($again, '<=', 1.02 * $queries, 'and only once');
}
# and where there are so many that it no longer pays, it is read again
run_session(
	"$full {{INSERT INTO full_pages SELECT i, random_bits() FROM generate_series(1, 100000) i}}
	SELECT count(*) FROM q JOIN full_pages t ON t.fp = q.fp;
	SELECT count(*) FROM q JOIN full_pages t ON t.fp <~> q.fp <= 3;
	INSERT INTO full_pages SELECT i, random_bits() FROM generate_series(1, 20000) i;");
is_sound($node, 'after many splits', 'full_pages_fp');

# inserts go to their leaves directly, also in an index of several columns; the
# rest is inner pages and splits
my ($one, $two) = run_session(
	q{CREATE TABLE one (g integer, fp simhash);
	CREATE TABLE two (g integer, fp simhash);
	INSERT INTO one SELECT i % 7, random_bits() FROM generate_series(1, 150000) i;
	INSERT INTO two SELECT * FROM one;
	CREATE INDEX one_fp ON one USING simhash (fp) WITH (fillfactor = 60);
	CREATE INDEX two_fp ON two USING simhash (g, fp) WITH (fillfactor = 60);
	SELECT accesses('INSERT INTO one SELECT i % 7, random_bits() FROM generate_series(1, 4000) i');
	SELECT accesses('INSERT INTO two SELECT i % 7, random_bits() FROM generate_series(1, 4000) i');});
note "inserts: $one, with two columns $two";
$small or cmp_ok($one, '<=', 5.6 * 4000, 'an insert reads one page of each table, and one of the heap');
$small or cmp_ok($two, '<=', 5.6 * 4000, 'also in an index of two columns');
is_sound($node, 'after inserts', 'one_fp', 'two_fp');

# While a session has copies of the inner pages, another makes a small group a large one.
# It plans its searches by the new size before long, as a new session does: each start of a
# scan reads the pages with a probability of 1 in 16.
my $grown = q{SELECT accesses('SELECT * FROM grown WHERE g = 1 AND fp <~> 0::bigint::simhash <= 11', 'grown_fp');};
my @grown = run_session(
	"CREATE TABLE grown (g integer, fp simhash);
	INSERT INTO grown SELECT 2, random_bits() FROM generate_series(1, 20000) i;
	INSERT INTO grown SELECT 1, random_bits() FROM generate_series(1, 500) i;
	CREATE INDEX grown_fp ON grown USING simhash (g, fp);
	$grown
	{{INSERT INTO grown SELECT 1, random_bits() FROM generate_series(1, 200000) i}}"
	  . $grown x 200);
my ($new) = run_session($grown);
note "grown: small $grown[0], then $grown[1], at last $grown[200], in a new session $new";
# (not where copies are those of other indexes)
cmp_ok($grown[200], '<=', $new + 10, 'a group that others make larger is planned by its size')
  if !$small;
is_sound($node, 'after the growth', 'grown_fp');

# Inner pages are split by others, in trees of three levels.  Of two tables with the same
# rows and the same index, others insert many equal fingerprints into one, in the middle
# of an inner page.  What is looked up is next to rows of this page, before and behind
# these; of the next one, and of one far away.
$node->safe_psql('postgres', q{
	SELECT setseed(0.5);
	CREATE TABLE wide AS SELECT i AS id, random_bits()::simhash AS fp FROM generate_series(1, 120000) i;
	CREATE TABLE same AS TABLE wide;
	CREATE INDEX wide_fp ON wide USING simhash (fp) WITH (blocks = 2, distance = 1, fillfactor = 10);
	CREATE INDEX same_fp ON same USING simhash (fp) WITH (blocks = 2, distance = 1, fillfactor = 10);
	CREATE VIEW inner_pages AS
		SELECT row_number() OVER (ORDER BY low_fp) AS n, low_fp, high_fp
		FROM generate_series(1, pg_relation_size('wide_fp') / 8192 - 1) b, page_info('wide_fp', b)
		WHERE table_no = 0 AND level = 1;
	CREATE TABLE places AS
		SELECT n, fp, p, row_number() OVER (PARTITION BY n ORDER BY p) AS k, count(*) OVER (PARTITION BY n) AS of
		FROM inner_pages, wide, simhash_permute(fp, 2, 1, 0) p WHERE p >= low_fp AND p < high_fp;
	-- next to the row at some part of the range of an inner page
	CREATE FUNCTION key_at(page bigint, part float8) RETURNS simhash LANGUAGE sql AS $$
		SELECT simhash_unpermute((p::bigint # 1)::simhash, 2, 1, 0) FROM places
		WHERE n = page AND k = greatest((part * of)::bigint, 1) $$;
	CREATE TABLE keys AS SELECT key_at(2, 0) AS low, key_at(2, 0.5) AS middle, key_at(2, 1) AS high,
		key_at(3, 0) AS low_next, key_at(3, 0.1) AS crowded, key_at(3, 0.1001) AS behind, key_at(3, 0.5) AS next,
		key_at(3, 1) AS high_next, key_at(1, 0.5) AS far;
	CREATE FUNCTION pages_at(tab text, key text) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		fp simhash;
	BEGIN
		EXECUTE format('SELECT %I FROM keys', key) INTO fp;
		RETURN accesses(format('SELECT count(*) FROM %I WHERE fp = %L', tab, fp), tab || '_fp');
	END $$;
	-- nulls: where keys differ by their TIDs only
	CREATE TABLE empty (id integer, fp simhash);
	INSERT INTO empty SELECT i, NULL FROM generate_series(1, 60000) i;
	CREATE INDEX empty_fp ON empty USING simhash (fp) WITH (fillfactor = 10);
});
my $inner_pages = $node->safe_psql('postgres', 'SELECT count(*) FROM inner_pages');
my ($low, $high, $of_same, @known) = run_session(
	q{SELECT pages_at('wide', 'far') + pages_at('wide', 'next') \g /dev/null
	SELECT pages_at('same', 'far') \g /dev/null
	{{INSERT INTO wide SELECT i, middle FROM keys, generate_series(1, 40000) i}}
	SELECT pages_at('wide', 'low');
	SELECT pages_at('wide', 'high');
	SELECT pages_at('same', 'high');
	SELECT pages_at('wide', key) FROM unnest('{low,high,next,far}'::text[]) key;
	SELECT pages_at('same', key) FROM unnest('{high,far}'::text[]) key;});
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM inner_pages'), '>', $inner_pages,
	'inner pages were split');
note "after that, low $low, high $high, in the other index $of_same, then @known";
is("@known", '1 1 1 1 1 1', 'what is behind a split is found a step to the right, and only once') if !$small;
# where both indexes are taken for one, the page that was split is found again as it was
run_session(
	"SELECT pages_at('wide', 'low_next');
	{{INSERT INTO wide SELECT i, crowded FROM keys, generate_series(1, 3000) i}}
	{{INSERT INTO wide SELECT i, next FROM keys, generate_series(1, 40000) i}}
	SELECT pages_at('wide', 'behind');
	SELECT pages_at('same', 'high_next');
	$near $near
	SELECT pages_at(tab, key) FROM unnest('{wide,same}'::text[]) tab, unnest('{low,high,low_next,far}'::text[]) key;");
is_sound($node, 'after splits of inner pages', 'wide_fp', 'same_fp');

my $one_null = 'INSERT INTO empty VALUES (0, NULL);';
my ($nulls) = run_session(
	"$one_null {{INSERT INTO empty SELECT i, NULL FROM generate_series(1, 70) i}} $one_null
	{{INSERT INTO empty SELECT i, NULL FROM generate_series(1, 26000) i}} $one_null
	SELECT accesses('INSERT INTO empty SELECT i, NULL FROM generate_series(1, 1000) i');");
note "inserts of nulls: $nulls";
cmp_ok($nulls, '<=', 2.2 * 1000, 'an insert of a null reads its page, and one of the heap') if !$small;
is_sound($node, 'after inserts of nulls', 'empty_fp');

# What was to make every join a lookup for each row is no longer needed, and makes the
# comparisons below slow.
$node->safe_psql('postgres', "ALTER DATABASE postgres RESET $_")
  for 'enable_hashjoin', 'enable_mergejoin', 'enable_material';

# The same session goes on while the index gets other contents in every way
# there is.
my $compare = q{SELECT compare_lookups('t', 't_fp');};
my $expect = 'CALL expect_lookups(\'t\');';
my $fill = 'INSERT INTO t SELECT i, random_bits() FROM generate_series(1, 5000) i;';
$node->safe_psql('postgres',
	'INSERT INTO query SELECT row_number() OVER (), fp FROM (SELECT fp FROM deep LIMIT 20) x;
	INSERT INTO radii VALUES (0), (3), (5);');
my $query = q{TRUNCATE query; INSERT INTO query SELECT row_number() OVER (), fp FROM
	(SELECT fp FROM t LIMIT 20) x;};
my @answers = run_session(qq{
	CREATE TABLE t (id integer, fp simhash);
	$fill
	CREATE INDEX t_fp ON t USING simhash (fp);
	$query $expect $compare
	-- a new file
	REINDEX INDEX t_fp; $compare
	TRUNCATE t; INSERT INTO t SELECT id, fp FROM deep LIMIT 1000; $query $expect $compare
	ALTER INDEX t_fp SET (blocks = 6, distance = 3); REINDEX INDEX t_fp; $compare
	VACUUM FULL t; $compare
	BEGIN; DROP INDEX t_fp; CREATE INDEX t_fp ON t USING simhash (fp); $compare ROLLBACK; $compare
	BEGIN; TRUNCATE t; $fill $query $expect $compare ROLLBACK; $query $expect $compare
	{{REINDEX INDEX t_fp}} $compare
	{{ALTER INDEX t_fp SET (blocks = 2, distance = 1)}} {{REINDEX INDEX t_fp}} $compare
	DROP TABLE t;
	-- the same file, truncated: smaller, with other tables, and larger again
	BEGIN;
	CREATE TABLE t (id integer, fp simhash);
	INSERT INTO t SELECT id, fp FROM deep;
	CREATE INDEX t_fp ON t USING simhash (fp) WITH (fillfactor = 10);
	$query $expect $compare
	TRUNCATE t; $expect $compare
	INSERT INTO t SELECT id, fp FROM deep LIMIT 1000; $query $expect $compare
	-- with roots where they were, but nothing else
	TRUNCATE t; $fill $query $expect $compare
	TRUNCATE t; $fill $query $expect $compare
	ALTER INDEX t_fp SET (blocks = 6, distance = 3, fillfactor = 90);
	TRUNCATE t; $fill $query $expect $compare
	SAVEPOINT a; TRUNCATE t; $fill ROLLBACK TO a; $compare
	COMMIT; DROP TABLE t;
	-- a temporary one is truncated at each commit
	CREATE TEMPORARY TABLE t (id integer, fp simhash) ON COMMIT DELETE ROWS;
	CREATE INDEX t_fp ON t USING simhash (fp) WITH (fillfactor = 20);
	BEGIN; INSERT INTO t SELECT id, fp FROM deep; $query $expect $compare COMMIT;
	BEGIN; INSERT INTO t SELECT id, fp FROM deep LIMIT 1000; $query $expect $compare COMMIT;
	BEGIN; $fill $query $expect $compare COMMIT;
	BEGIN; $fill $query $expect $compare COMMIT;
});
is(join(' ', @answers), join(' ', ('ok') x 22), 'answers are right whatever becomes of the index');

# Indexes whose pages lie in the same places, but have other keys: each is wrong
# for the other, where these are taken for one.
@answers = run_session(qq{
	CREATE TABLE t (id integer, fp simhash);
	$fill
	CREATE TABLE t2 (id integer, fp simhash);
	INSERT INTO t2 SELECT i, random_bits() FROM generate_series(1, 5000) i;
	CREATE INDEX t_fp ON t USING simhash (fp);
	CREATE INDEX t2_fp ON t2 USING simhash (fp);
	CREATE TABLE t3 (id integer, fp simhash);
	INSERT INTO t3 SELECT * FROM t2;
	CREATE INDEX t3_two ON t3 USING simhash (id, fp);
	$query
	} . qq{
	$expect $compare CALL expect_lookups('t2'); SELECT compare_lookups('t2', 't2_fp');
	INSERT INTO t2 SELECT i, random_bits() FROM generate_series(1, 300) i; $expect $compare
	$fill CALL expect_lookups('t2'); SELECT compare_lookups('t2', 't2_fp');
	INSERT INTO t SELECT NULL, random_bits() FROM generate_series(1, 300) i;
	INSERT INTO t2 SELECT i, NULL FROM generate_series(1, 300) i;
	INSERT INTO t3 SELECT * FROM t2 ORDER BY id DESC LIMIT 300;
	} x 3);
is(join(' ', @answers), join(' ', ('ok') x 12), 'answers are right where maps may be wrong');
is_sound($node, 'where maps may be wrong', 't_fp', 't2_fp', 't3_two');

# more indexes than there is room for
$node->safe_psql('postgres', q{
	CREATE TABLE p (id integer, fp simhash) PARTITION BY HASH (id);
	DO $$ BEGIN
		FOR i IN 0 .. 99 LOOP
			EXECUTE format('CREATE TABLE p%s PARTITION OF p FOR VALUES WITH (MODULUS 100, REMAINDER %s)', i, i);
		END LOOP;
	END $$;
	INSERT INTO p SELECT id, fp FROM deep;
	CREATE INDEX p_fp ON p USING simhash (fp) WITH (fillfactor = 10);});
my ($planned, $found, $bytes) = run_session(
	q{PREPARE plan AS SELECT count(*) FROM p WHERE fp = '0';
	EXPLAIN (COSTS OFF) EXECUTE plan \g /dev/null
	SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'simhash inner pages';
	SELECT count(*) FROM (SELECT * FROM q LIMIT 200) q JOIN p ON p.fp <~> q.fp <= 3;
	SELECT total_bytes FROM pg_backend_memory_contexts WHERE name = 'simhash inner pages';});
is($planned, 0, 'a plan takes no memory for pages');
cmp_ok($bytes, '<=', $small ? 200_000 : 10_000_000, 'all indexes share the memory');
note "bytes $bytes";

# A temporary index gets the file number of a permanent one of the same shape, as it can
# when the counter of OIDs has wrapped around.
$node->safe_psql('postgres', q{
	CREATE TABLE twin AS SELECT id, fp FROM deep LIMIT 20000;
	CREATE INDEX twin_fp ON twin USING simhash (fp);
	REINDEX INDEX twin_fp;});
my $file = $node->safe_psql('postgres', q{SELECT relfilenode FROM pg_class WHERE relname = 'twin_fp'});
$node->stop;
$node->command_ok([ 'pg_resetwal', '-o', $file - 200, $node->data_dir ], 'OIDs begin again');
$node->start;
my ($same, $temporary, $checked) = run_session(
	qq{CREATE TEMP TABLE t AS SELECT id, fp FROM twin ORDER BY id DESC;
	DO \$\$ BEGIN WHILE lo_creat(-1)::int8 < $file - 1 LOOP END LOOP; END \$\$;
	CREATE INDEX t_fp ON t USING simhash (fp);
	SELECT count(*) FROM pg_class WHERE relname IN ('twin_fp', 't_fp') AND relfilenode = $file;
	SELECT count(*) FROM twin a, LATERAL (SELECT id FROM twin WHERE twin.fp = a.fp OFFSET 0) x \\g /dev/null
	SELECT count(*) FROM twin a WHERE EXISTS (SELECT FROM (SELECT id FROM t WHERE t.fp = a.fp OFFSET 0) x WHERE x.id = a.id);
	INSERT INTO t SELECT id, (fp::bigint + 1)::simhash FROM twin WHERE id % 3 = 0;
	SELECT concat(simhash_index_check('t_fp', true), simhash_index_check('twin_fp', true), 'ok');});
is($same, 2, 'a temporary index has the file number of a permanent one');
is($temporary, 20000, 'it finds its rows');
is($checked, 'ok', 'neither index is damaged');

$node->stop;
done_testing();
