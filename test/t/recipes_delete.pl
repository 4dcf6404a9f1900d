# The statements of doc/deduplicating.md that delete, on a partitioned table with foreign keys,
# a generated column and columns that must not be null: what goes, what stays, what is kept of
# it, and that all of it can be taken back.

use lib 'test/t';
use SimhashTest;
use DocumentTest;

my $page = 'doc/deduplicating.md';
my $node = start_node('recipes_delete', []);

sub run_sql
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

# Rows of one query that the other does not have, both ways
sub differences
{
	my ($a, $b) = @_;
	return run_sql("SELECT count(*) FROM ((($a) EXCEPT ALL ($b)) UNION ALL (($b) EXCEPT ALL ($a))) d");
}

# A script as cron runs it
sub run_script
{
	my ($sql) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/clean_up.sql';
	my ($out, $err) = ('', '');

	append_to_file($file, $sql);
	my $right = IPC::Run::run([ 'psql', '-Xq', '-d', $node->connstr('postgres'), '-f', $file ], '>', \$out, '2>', \$err);
	return ($right, $out, $err);
}

# 180 texts, each with two copies in which a word differs, the one beside in the other; 60 letters of which each has a twin
# with another number; 20 short texts, twice.  By hash, copies are in all partitions.
run_sql(q{
	CREATE FUNCTION words(family text, own int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
		SELECT string_agg(translate(md5(family || i || CASE WHEN i = own THEN 'own' ELSE '' END), '0123456789', 'ghijklmnop'), ' ' ORDER BY i)
		FROM generate_series(1, 40) i $$;
	CREATE TABLE docs (
		body text,
		id bigint PRIMARY KEY,
		added timestamptz NOT NULL DEFAULT '2026-01-01',
		length int GENERATED ALWAYS AS (length(body)) STORED,
		title text NOT NULL) PARTITION BY HASH (id);
	CREATE TABLE docs_0 PARTITION OF docs FOR VALUES WITH (MODULUS 3, REMAINDER 0);
	CREATE TABLE docs_1 PARTITION OF docs FOR VALUES WITH (MODULUS 3, REMAINDER 1);
	CREATE TABLE docs_2 PARTITION OF docs FOR VALUES WITH (MODULUS 3, REMAINDER 2);
	CREATE INDEX docs_body ON docs USING simhash (body simhash_text_ops);
	INSERT INTO docs (id, body, title)
	SELECT i * 3 + n, words('text' || i, CASE WHEN n > 0 THEN 20 + n END) || repeat('!', n), 'title ' || i
	FROM generate_series(1, 180) i, generate_series(0, 2) n ORDER BY md5(i::text || n);
	INSERT INTO docs (id, body, title)
	SELECT 1000 + i * 2 + n, 'Letter ' || i * 2 + n || ' ' || words('letter' || i, NULL), 'letter' FROM generate_series(1, 60) i, generate_series(0, 1) n;
	INSERT INTO docs (id, body, title)
	SELECT 2000 + i, left(words('short' || i / 2, NULL), 30), 'short' FROM generate_series(2, 41) i;
	CREATE TABLE comments (id bigint PRIMARY KEY, doc bigint REFERENCES docs ON DELETE CASCADE, comment text);
	INSERT INTO comments SELECT id, id, 'on ' || id FROM docs;
	CREATE TABLE tags (doc bigint REFERENCES docs ON DELETE CASCADE, tag text, PRIMARY KEY (doc, tag));
	INSERT INTO tags SELECT id, 'tag ' || id % 3 / 2 FROM docs;
	CREATE TABLE docs_before AS TABLE docs;
	CREATE TABLE comments_before AS TABLE comments;
	CREATE TABLE tags_before AS TABLE tags;
	-- whose copy each row is
	CREATE VIEW families AS SELECT id, title, CASE WHEN id < 1000 THEN title ELSE id::text END AS family FROM docs_before;
	ANALYZE;
});
my $removed = "SELECT r.* FROM removed, jsonb_populate_record(NULL::docs_before, whole) r";

# What these recipes did before: one partition's rows for those of another
cmp_ok(run_sql(q{
		SELECT count(*) FROM docs JOIN simhash_find_duplicates('docs_body', keep => 'id') d ON docs.ctid = d.duplicate
		WHERE docs.tableoid <> d.duplicate_table}), '>', 200, 'a ctid occurs in several partitions');

# The foreign keys, also of a partition alone
run_sql('CREATE TABLE notes (doc bigint REFERENCES docs_1)');
is(run_sql(page_statements($page, 'pg_partition_tree') =~ s/;\s*$/ ORDER BY 1/r =~ s/, pg_get_constraintdef.*?(?=\nFROM)//sr),
	"comments\ntags\nnotes", 'all foreign keys are listed');
run_sql('DROP TABLE notes');

# The recipe, with the tags of its remarks
my ($tags) = slurp_file("$FindBin::RealBin/../../$page") =~ /`(INSERT INTO tags SELECT keeper.*?)`/s or die;
my $recipe = page_statements($page, 'CREATE TABLE removed') =~ s/LOCK TABLE docs, comments IN/LOCK TABLE docs, comments, tags IN/r
	=~ s/(?=DELETE FROM docs)/$tags;\n/r;
like($recipe, qr/tags IN.*INSERT INTO tags.*DELETE FROM docs USING gone/s, 'the page has what is changed here');
run_sql($recipe);
is(run_sql('SELECT count(*), count(DISTINCT id), bool_and(whole->>$$title$$ LIKE $$title %$$) FROM removed'), '360|360|t', 'the duplicates go');
is(differences($removed . ' UNION ALL SELECT * FROM docs', 'TABLE docs_before'), '0', 'each row is there, or kept as a whole');
is(run_sql('SELECT count(*) FROM removed JOIN families f USING (id) JOIN families k ON k.id = keeper WHERE f.family <> k.family'),
	'0', 'of one text each');
is(differences('TABLE comments', 'SELECT c.id, coalesce(keeper, doc), comment FROM comments_before c LEFT JOIN removed ON removed.id = doc'),
	'0', 'each comment is there, and refers to what stays');
is(differences('TABLE tags', 'SELECT DISTINCT coalesce(keeper, doc), tag FROM tags_before LEFT JOIN removed ON removed.id = doc'),
	'0', 'and each tag');

# Take it back, with the columns that this table has
run_sql('TRUNCATE tags');
run_sql(page_statements($page, 'UPDATE comments SET doc = m.doc') =~ s/\(id, body\)\nSELECT r.id, r.body/(id, body, added, title) SELECT r.id, r.body, r.added, r.title/r
	=~ s/^ROLLBACK/COMMIT/mr);
is(differences('TABLE docs', 'TABLE docs_before'), '0', 'all rows are taken back');
is(differences('TABLE comments', 'TABLE comments_before'), '0', 'and what referred to them');
run_sql('DELETE FROM removed; DELETE FROM moved_comments; DROP TABLE tags');

# The script for each night
my $script = page_statements($page, 'pg_try_advisory_xact_lock');
my $holder = $node->connstr('postgres');
my ($right, $out, $err) = run_script($script =~ s/> 1000/> 100/r);
ok($right && $out eq '' && $err eq "360 duplicates are too many. Nothing was deleted.\n", 'it stops if there are too many');
my ($held, $answer) = ('', '');
my $session = IPC::Run::start([ 'psql', '-XAtq', '-d', $holder ], '<', \$held, '>', \$answer,
	IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default));
$held = "BEGIN; SELECT 'held' FROM pg_advisory_xact_lock(hashtext('clean_up.sql'));\n";
$session->pump until $answer =~ /held/;
($right, $out, $err) = run_script($script);
ok($right && $out eq '' && $err eq "clean_up.sql is already running\n", 'it runs alone');
$held = "COMMIT;\n\\q\n";
$session->finish;
is(run_sql('SELECT count(*) FROM docs') . ' ' . differences('TABLE comments', 'TABLE comments_before'), '700 0',
	'and nothing has been deleted by any of these');
run_sql("ALTER TABLE docs ADD more int DEFAULT 7; DELETE FROM removed");
($right, $out, $err) = run_script($script);
ok($right && $err eq '' && $out =~ /^360 rows deleted\n.*\(20 rows\)\n/s, 'it reports what it has deleted');
is(run_sql(q{SELECT count(*) FROM removed WHERE whole->>'more' = '7'}), '360', 'also of a column that is new');
is(differences("$removed UNION ALL SELECT body, id, added, length, title FROM docs", 'TABLE docs_before'),
	'0', 'each row is there, or kept as a whole');
is(run_sql('SELECT count(*), count(*) FILTER (WHERE keeper % 3 = 0 AND keeper = id / 3 * 3) FROM removed'), '360|360', 'the older one stays');
is(differences('TABLE comments', 'SELECT c.id, coalesce(keeper, doc), comment FROM comments_before c LEFT JOIN removed ON removed.id = doc'),
	'0', 'comments refer to what stays');
($right, $out, $err) = run_script($script);
ok($right && $err eq '' && $out =~ /^0 rows deleted\n/m, 'the next night there is nothing to do');

is_sound($node, 'recipes', map { "docs_${_}_body_idx" } 0 .. 2);
$node->stop;
done_testing();
