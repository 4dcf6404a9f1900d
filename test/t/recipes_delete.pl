# The statements of doc/deduplicating.md that delete, on a partitioned table with foreign keys,
# a generated column and columns that must not be null: what goes, what stays, what is kept of
# it, and that all of it can be taken back.  Then on small tables that make a simpler recipe
# lose rows: with triggers, a key of several columns, references to itself, columns that come and
# go, a second night, writers between the search and the deletion, and logical replication.

use lib 'test/t';
use SimhashTest;
use DocumentTest;

my $page = 'doc/deduplicating.md';
my $node = start_node('recipes_delete', [ allows_streaming => 'logical' ]);
my $database = 'postgres';

sub run_sql
{
	my ($sql) = @_;
	return $node->safe_psql($database, $sql);
}

# The message of a statement that fails
sub error_of
{
	my ($sql) = @_;
	my ($code, $out, $err) = $node->psql($database, $sql);
	return $err =~ /ERROR:  (.*)/ ? $1 : "no error: $out";
}

# A statement of the page with changes that it describes, each of which must be possible
sub changed
{
	my ($sql, @changes) = @_;
	while (my ($from, $to) = splice @changes, 0, 2)
	{
		$sql =~ s/$from/$to/g or die "there is no $from";
	}
	return $sql;
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
	my $right = IPC::Run::run([ 'psql', '-Xq', '-d', $node->connstr($database), '-f', $file ], '>', \$out, '2>', \$err);
	return ($right, $out, $err);
}

# What a call gives while another session holds a lock
sub while_held
{
	my ($lock, $call) = @_;
	my ($held, $answer) = ("BEGIN; $lock;\n\\echo held\n", '');
	my $session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr($database) ], '<', \$held, '>', \$answer,
		IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default));

	$session->pump until $answer =~ /held/;
	my @result = $call->();
	$held = "\\q\n";
	$session->finish;
	return @result;
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

# The recipe: the search, the list of foreign keys, the deletion where nothing refers to the table
# and where something does, and how to take it back
my $tables = page_statements($page, 'CREATE TABLE docs');
my $search = page_statements($page, 'CREATE UNLOGGED TABLE found');
my $references = page_statements($page, 'pg_partition_tree');
my $deletion_alone = page_statements($page, 'CREATE PROCEDURE delete_found');
my $deletion = $deletion_alone . page_statements($page, 'CREATE TABLE moved_comments');
my $undo = page_statements($page, 'UPDATE comments SET doc = m.doc') =~ s/^ROLLBACK/COMMIT/mr;

# The recipe with equal digits as a condition, as the page describes it
my $content = slurp_file("$FindBin::RealBin/../../$page");
my ($same, $digits) = $content =~ /pairs by `(same =>\s'(.*?)')`/ or die;
my $order = "keep => 'length(body) DESC NULLS LAST, id'";
my $search_digits = page_statements($page, 'CREATE FUNCTION digits') . changed($search, "\Q$order\E", "$order, $same");
my $deletion_digits = changed($deletion, 'AND length\(a', "AND $digits AND length(a");

# The foreign keys, also of a partition alone
run_sql('CREATE TABLE notes (doc bigint REFERENCES docs_1)');
is(run_sql($references =~ s/TABLE references_to_docs/SELECT from_table FROM references_to_docs ORDER BY 1/r),
	"comments\ntags\nnotes", 'all foreign keys are listed');

# The recipe, with the tags of its remarks
my ($tags) = $content =~ /`(INSERT INTO tags SELECT batch.keeper.*?)`/s or die;
run_sql($search_digits . changed($deletion_digits, 'LOCK TABLE docs, comments IN', 'LOCK TABLE docs, comments, tags IN',
		q{<> 'comments'::regclass}, q{NOT IN ('comments'::regclass, 'tags'::regclass)},
		'WITH gone AS', "$tags;\nWITH gone AS"));
is(error_of('CALL delete_found()'), 'another table refers to docs', 'a table that refers to it since is noticed');
is(differences('TABLE docs', 'TABLE docs_before') . differences('TABLE comments', 'TABLE comments_before'), '00', 'and nothing deleted');
run_sql('DROP TABLE notes');
run_sql('CALL delete_found(batch_size => 100)');
is(run_sql('SELECT count(*), count(DISTINCT id), bool_and(whole->>$$title$$ LIKE $$title %$$) FROM removed'), '360|360|t', 'the duplicates go');
is(run_sql('SELECT count(DISTINCT xmin::text), count(DISTINCT removed_at), (SELECT count(*) FROM moved_comments) FROM removed'), '4|1|360',
	'in four transactions of one run');
is(differences($removed . ' UNION ALL SELECT * FROM docs', 'TABLE docs_before'), '0', 'each row is there, or kept as a whole');
is(run_sql('SELECT count(*) FROM removed JOIN families f USING (id) JOIN families k ON k.id = keeper WHERE f.family <> k.family'),
	'0', 'of one text each');
is(differences('TABLE comments', 'SELECT c.id, coalesce(keeper, doc), comment FROM comments_before c LEFT JOIN removed ON removed.id = doc'),
	'0', 'each comment is there, and refers to what stays');
is(differences('TABLE tags', 'SELECT DISTINCT coalesce(keeper, doc), tag FROM tags_before LEFT JOIN removed ON removed.id = doc'),
	'0', 'and each tag');

# Take it back, with the columns that this table has
run_sql('TRUNCATE tags');
run_sql(changed($undo, '\(id, body\)\nSELECT r.id, r.body', '(id, body, added, title) SELECT r.id, r.body, r.added, r.title'));
is(differences('TABLE docs', 'TABLE docs_before'), '0', 'all rows are taken back');
is(differences('TABLE comments', 'TABLE comments_before'), '0', 'and what referred to them');
is(run_sql('SELECT count(*) FROM removed'), '0', 'and are not kept twice');
run_sql('DROP TABLE tags, found, removed, moved_comments; DROP FUNCTION digits; DROP PROCEDURE delete_found, search_docs');
run_sql(changed($search_digits, 'length\(body\) DESC NULLS LAST, id', 'id') . $deletion_digits);

# The script for each night
my $script = page_statements($page, 'pg_try_advisory_lock');
my ($right, $out, $err) = run_script($script =~ s/> 1000/> 100/r);
ok(!$right && $out eq '' && $err =~ /ERROR:  360 duplicates are too many, nothing was deleted\n/, 'it fails if there are too many');
($right, $out, $err) = while_held(q{SELECT FROM pg_advisory_lock(hashtext('clean_up.sql'))}, sub { run_script($script) });
ok(!$right && $out eq '' && $err =~ /ERROR:  clean_up.sql is already running\n/, 'it runs alone');
is(run_sql('SELECT count(*) FROM docs') . ' ' . differences('TABLE comments', 'TABLE comments_before'), '700 0',
	'and nothing has been deleted by any of these');
run_sql("ALTER TABLE docs ADD more int DEFAULT 7");
($right, $out, $err) = run_script($script);
ok($right && $err eq '' && $out =~ /^360 of 360 duplicates deleted\n.*\(20 rows\)\n/s, 'it reports what it has deleted');
is(run_sql(q{SELECT count(*) FROM removed WHERE whole->>'more' = '7'}), '360', 'also of a column that is new');
is(differences("$removed UNION ALL SELECT body, id, added, length, title FROM docs", 'TABLE docs_before'),
	'0', 'each row is there, or kept as a whole');
is(run_sql('SELECT count(*), count(*) FILTER (WHERE keeper % 3 = 0 AND keeper = id / 3 * 3) FROM removed'), '360|360', 'the older one stays');
is(differences('TABLE comments', 'SELECT c.id, coalesce(keeper, doc), comment FROM comments_before c LEFT JOIN removed ON removed.id = doc'),
	'0', 'comments refer to what stays');
($right, $out, $err) = run_script($script);
ok($right && $err eq '' && $out =~ /^0 of 0 duplicates deleted\n/m, 'the next night there is nothing to do');

#
# Tables on which a simpler recipe loses rows, each in a database of its own, with the rows of the page
#
my $rows = 'SELECT id FROM docs ORDER BY id';
my $comments = 'SELECT id, doc FROM comments ORDER BY id';

sub begin_case
{
	my ($name, $first, @changes) = @_;
	$database = $name;
	$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'");
	run_sql("CREATE EXTENSION simhash;\n" . changed($tables, @changes) . $first);
	run_sql('CREATE TABLE docs_before AS TABLE docs; CREATE TABLE comments_before AS TABLE comments');
	return;
}

# What the page has, in its order
sub delete_all
{
	my (@changes) = @_;
	return run_sql($search . $references . changed($deletion, @changes) . "CALL delete_found();\n");
}

sub is_before
{
	my ($what) = @_;
	is(differences('TABLE docs', 'TABLE docs_before') . differences('TABLE comments', 'TABLE comments_before'), '00', $what);
	return;
}

# A trigger of one table updates rows of the other.
begin_case('counted', q{
	ALTER TABLE docs ADD n int;
	UPDATE docs SET n = (SELECT count(*) FROM comments WHERE doc = docs.id);
	CREATE FUNCTION recount() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		UPDATE docs SET n = (SELECT count(*) FROM comments WHERE doc = docs.id) WHERE id IN (OLD.doc, NEW.doc);
		RETURN NULL;
	END $$;
	CREATE TRIGGER recount AFTER UPDATE ON comments FOR EACH ROW EXECUTE FUNCTION recount()});
is(run_sql(q{
		BEGIN;
		CREATE TABLE old AS SELECT x.tableoid AS row_table, x.ctid AS row_tid, x.id, k.id AS keeper
		FROM docs x, docs k WHERE x.id = 3 AND k.id = 2;
		UPDATE comments SET doc = keeper FROM old WHERE doc = old.id;
		WITH d AS (DELETE FROM docs USING old WHERE docs.tableoid = row_table AND docs.ctid = row_tid RETURNING 1) SELECT count(*) FROM d;
		ROLLBACK}), '0', 'counter: by ctid, nothing would be deleted');
delete_all();
is(run_sql('SELECT id, n FROM docs ORDER BY id') . "\n" . run_sql($comments), "2|1\n4|1\n5|0\n6|0\n7|0\n10|2\n11|4", 'counter: all is deleted, and counted');
run_sql(changed($undo, '\(id, body\)\nSELECT r.id, r.body', '(id, body, n) SELECT r.id, r.body, r.n'));
is_before('counter: all is taken back');

# Triggers that keep what the recipe would change
begin_case('kept', q{
	CREATE FUNCTION keep_old() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		RETURN CASE WHEN TG_OP = 'UPDATE' THEN OLD END;
	END $$;
	CREATE TRIGGER keep_row BEFORE DELETE ON docs FOR EACH ROW WHEN (OLD.id = 3) EXECUTE FUNCTION keep_old()});
like(error_of($search . $references . $deletion . 'CALL delete_found();'), qr/^a trigger has kept rows/, 'a row that is kept is an error');
is_before('and the transaction is undone');
is(run_sql('SELECT (SELECT count(*) FROM removed) + (SELECT count(*) FROM moved_comments)'), '0', 'with its copies');
run_sql('DROP TRIGGER keep_row ON docs; CREATE TRIGGER keep_comment BEFORE UPDATE ON comments FOR EACH ROW EXECUTE FUNCTION keep_old()');
is(error_of('CALL delete_found()'), 'a trigger has kept references', 'so is a comment that would go with its row');
is_before('and nothing is lost');
run_sql('DROP TRIGGER keep_comment ON comments; ALTER TABLE docs ADD parent bigint REFERENCES docs ON DELETE CASCADE; UPDATE docs SET parent = 3 WHERE id = 2');
run_sql(q{CREATE OR REPLACE VIEW references_to_docs AS SELECT 'comments'::regclass AS from_table, NULL AS foreign_key});
like(error_of('CALL delete_found()'), qr/a keeper is gone$/, 'so is a keeper that goes by a cascade');
is(run_sql($rows), "1\n2\n3\n4\n5\n6\n7", 'and nothing is lost');

# Others write between the search and the deletion, and a trigger refuses what is taken back.
begin_case('written', '');
run_sql("INSERT INTO docs SELECT id + 100, body || ' (Again.)' FROM docs");
run_sql("INSERT INTO docs SELECT 31, 'Again: ' || body FROM docs WHERE id = 4");
run_sql($search_digits . $references . $deletion_digits);
is(run_sql('SELECT id, keeper FROM found ORDER BY id'), "1|102\n2|102\n3|102\n4|104\n5|105\n31|104\n101|102\n103|102", 'writers: found');
run_sql(q{DELETE FROM docs WHERE id = 104; UPDATE docs SET body = 'Another text, which is long enough to be deleted.' WHERE id IN (1, 105);
	UPDATE docs SET body = body || ' 7' WHERE id = 3; INSERT INTO comments VALUES (12, 2)});
run_sql('CREATE TABLE docs_now AS TABLE docs; CALL delete_found()');
is(run_sql('SELECT id, keeper FROM removed ORDER BY id') . "\n" . run_sql($comments), "2|102\n101|102\n103|102\n10|3\n11|4\n12|102",
	'writers: a row stays that has changed, or whose keeper has');
run_sql('CALL delete_found()');
is(run_sql('SELECT count(*) FROM removed'), '3', 'writers: once');
run_sql(q{CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
	CREATE TRIGGER refuse BEFORE INSERT ON docs FOR EACH ROW WHEN (NEW.id = 101) EXECUTE FUNCTION refuse()});
run_sql($undo);
is(run_sql('SELECT id FROM removed'), '101', 'what is refused when it is taken back is kept');
run_sql("DROP TRIGGER refuse ON docs;\n$undo");
is(differences('TABLE docs', 'TABLE docs_now') . run_sql('SELECT count(*) FROM removed'), '00', 'until it is back');

# Nothing refers to the table, until something does; writers, and one who waits
begin_case('alone', "INSERT INTO docs SELECT 31, 'Again: ' || body FROM docs WHERE id = 4", 'CREATE TABLE comments .*?;\s*INSERT INTO comments .*?;', 'CREATE TABLE comments (id int, doc int);');
run_sql($search . $references . $deletion_alone);
is(run_sql('SELECT id, keeper FROM found ORDER BY id'), "1|2\n3|2\n4|31", 'alone: found');
run_sql(q{UPDATE docs SET body = 'Another text, which is long enough to be deleted.' WHERE id = 1; DELETE FROM docs WHERE id = 31;
	CREATE TABLE docs_now AS TABLE docs; CREATE TABLE notes (doc bigint REFERENCES docs)});
is(error_of('CALL delete_found()'), 'a table refers to docs', 'alone: a table that refers to it since is noticed');
run_sql('DROP TABLE notes');
is(run_sql(q{CALL delete_found(batch_size => 1);
		SELECT setting = reset_val FROM pg_settings WHERE name IN ('lock_timeout', 'maintenance_work_mem')}), "t\nt",
	'alone: no setting is left in the session');
is(run_sql($rows) . "\n" . run_sql('SELECT id, keeper FROM removed'), "1\n2\n4\n5\n6\n7\n3|2", 'alone: a row stays that has changed, or whose keeper has');
run_sql(changed($undo, '(?s)UPDATE comments.*?;', ''));
is(differences('TABLE docs', 'TABLE docs_now') . run_sql('SELECT count(*) FROM removed'), '00', 'alone: all is taken back');
is(run_sql(q{CALL search_docs(); SELECT setting = reset_val FROM pg_settings WHERE name = 'maintenance_work_mem'}), 't', 'nor by the search');
foreach my $procedure ($deletion_alone, $deletion)
{
	run_sql('CREATE TABLE IF NOT EXISTS moved_comments (); '
		  . changed($procedure =~ s/^CREATE TABLE .*?;\n//msgr, 'CREATE PROCEDURE', 'CREATE OR REPLACE PROCEDURE', "'10s'", "'1ms'"));
	is((while_held('LOCK TABLE docs IN ROW EXCLUSIVE MODE', sub { error_of('CALL delete_found()') }))[0], 'canceling statement due to lock timeout', 'who waits for the lock does not wait long');
}

# Columns come and go, and a comment is moved in two nights, and then elsewhere.
begin_case('nights', q{
	ALTER TABLE docs ADD author text DEFAULT 'Anna';
	INSERT INTO comments VALUES (12, 1), (13, 1)});
delete_all();
run_sql(q{ALTER TABLE docs DROP author; ALTER TABLE docs ADD url text DEFAULT '/a';
	INSERT INTO docs SELECT 9, 'NEWS: ' || body FROM docs WHERE id = 2});
($right, $out, $err) = run_script($script);
ok($right && $out =~ /^1 of 1 duplicates deleted/, 'nights: the second');
is(run_sql(q{SELECT id, keeper, whole - 'body' FROM removed ORDER BY id}),
	qq{1|2|{"id": 1, "author": "Anna"}\n2|9|{"id": 2, "url": "/a"}\n3|2|{"id": 3, "author": "Anna"}}, 'each column has its own');
is(run_sql($comments), "10|9\n11|4\n12|9\n13|9", 'nights: comments are moved twice');
run_sql('UPDATE comments SET doc = 4 WHERE id = 13');
run_sql($undo);
is(run_sql($rows) . "\n" . run_sql($comments), "2\n4\n5\n6\n7\n9\n10|2\n11|4\n12|2\n13|4", 'one night is taken back, but not what was moved since');
run_sql($undo);
is(run_sql($rows) . "\n" . run_sql($comments), "1\n2\n3\n4\n5\n6\n7\n9\n10|3\n11|4\n12|1\n13|4", 'then the night before');

# A key of two columns: another row has the id of one that goes.  And an old partition is dropped.
$database = 'keys';
$node->safe_psql('postgres', "CREATE DATABASE keys TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'");
run_sql(q{
	CREATE EXTENSION simhash;
	CREATE TABLE docs (day date, id bigint, body text, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
	CREATE TABLE docs_1 PARTITION OF docs FOR VALUES FROM ('2026-01-01') TO ('2026-01-02');
	CREATE TABLE docs_2 PARTITION OF docs FOR VALUES FROM ('2026-01-02') TO ('2026-02-01');
	CREATE INDEX docs_body ON docs USING simhash (body simhash_text_ops);
	INSERT INTO docs VALUES
	('2026-01-01', 1, 'The harbor bridge will be closed to all traffic from Friday evening.'),
	('2026-01-03', 2, 'The harbor bridge will be closed to all traffic from Friday evening!'),
	('2026-01-02', 3, 'The harbor bridge will be closed to all traffic, from Friday evening.'),
	('2026-01-04', 1, 'The council has put off its decision on the new library to the session in May.');
	CREATE TABLE comments (id bigint PRIMARY KEY, doc bigint, day date, FOREIGN KEY (doc, day) REFERENCES docs ON DELETE CASCADE);
	INSERT INTO comments VALUES (10, 3, '2026-01-02'), (12, 1, '2026-01-04'), (13, 1, '2026-01-01');
	CREATE TABLE docs_before AS TABLE docs;
	CREATE TABLE comments_before AS TABLE comments});
run_sql(changed($search, 'id bigint, keeper bigint', 'id bigint, day date, keeper bigint, keeper_day date',
		'\(id, keeper\)\s+SELECT x.id, y.id', '(id, day, keeper, keeper_day) SELECT x.id, x.day, y.id, y.day',
		'length\(body\) DESC NULLS LAST, id', 'day DESC, id')
	  . $references
	  . changed($deletion, 'id bigint, keeper bigint', 'id bigint, day date, keeper bigint, keeper_day date',
		'\(removed_at, id\)', '(removed_at, id, day)', 'doc bigint, keeper bigint', 'doc bigint, day date, keeper bigint, keeper_day date',
		'a.id, b.id AS keeper', 'a.id, a.day, b.id AS keeper, b.day AS keeper_day', 'a.id = found.id', '(a.id, a.day) = (found.id, found.day)',
		'b.id = found.keeper', '(b.id, b.day) = (found.keeper, keeper_day)', 'doc = batch.keeper', 'doc = batch.keeper, day = keeper_day',
		'comments.doc = batch.id', '(comments.doc, comments.day) = (batch.id, batch.day)', 'batch.id AS doc, batch.keeper', 'batch.id AS doc, batch.day, batch.keeper, keeper_day',
		'id, doc, keeper\)', 'id, doc, day, keeper, keeper_day)', 'docs.id = batch.id', '(docs.id, docs.day) = (batch.id, batch.day)',
		'docs.id, batch.keeper, to_jsonb', 'docs.id, docs.day, batch.keeper, keeper_day, to_jsonb', 'id, keeper, whole\)', 'id, day, keeper, keeper_day, whole)',
		'docs.id = batch.keeper', '(docs.id, docs.day) = (batch.keeper, keeper_day)'));
is(run_sql('SELECT count(*) FROM comments JOIN found ON doc = found.id'), '3', 'keys: by id alone, the comment of another row would be moved');
run_sql('CALL delete_found()');
is(run_sql('SELECT id, day FROM docs ORDER BY day') . "\n" . run_sql('SELECT * FROM comments ORDER BY id'),
	"2|2026-01-03\n1|2026-01-04\n10|2|2026-01-03\n12|1|2026-01-04\n13|2|2026-01-03", 'keys: the right rows go, and the right comments are moved');
run_sql('BEGIN; ALTER TABLE docs DETACH PARTITION docs_1; DROP TABLE docs_1; ROLLBACK');
is(run_sql('SELECT count(*) FROM docs_1'), '0', 'the old partition has nothing that another has not');
run_sql(changed($undo, '\(id, body\)\nSELECT r.id', '(day, id, body) SELECT r.day, r.id', 'doc = m.doc', 'doc = m.doc, day = m.day',
		'comments.doc = m.keeper', '(comments.doc, comments.day) = (m.keeper, m.keeper_day)', 'removed.id = docs.id',
		'(removed.id, removed.day) = (docs.id, docs.day)'));
is_before('keys: all is taken back');

# References of the table to itself: from a keeper to a row that goes, between two that go, and from another row
begin_case('itself', q{
	ALTER TABLE docs ADD parent bigint REFERENCES docs ON DELETE CASCADE;
	UPDATE docs SET parent = CASE id WHEN 2 THEN 1 WHEN 3 THEN 1 WHEN 4 THEN 3 WHEN 5 THEN 4 END});
run_sql($search);
is(run_sql('SELECT id FROM found WHERE EXISTS (SELECT FROM docs WHERE docs.id = keeper AND parent = found.id)'), '1',
	'a keeper would become its own parent');
my ($parent) = $content =~ /`SET (parent =\s+nullif.*?)`/s or die;
run_sql($references . changed($deletion, q{<> 'comments'::regclass}, q{NOT IN ('comments'::regclass, 'docs'::regclass)},
		'WITH gone AS', "WITH moved AS (
			UPDATE docs SET $parent FROM batch WHERE parent = batch.id RETURNING docs.id, batch.id AS parent, keeper)
		INSERT INTO moved_docs (removed_at, id, parent, keeper) SELECT run, moved.* FROM moved;
		WITH gone AS", 'CREATE OR REPLACE', 'CREATE TABLE moved_docs (LIKE moved_comments); ALTER TABLE moved_docs RENAME doc TO parent; CREATE OR REPLACE')
	  . 'CALL delete_found();');
is(run_sql('SELECT id, parent FROM docs ORDER BY id'), "2|\n4|2\n5|4\n6|\n7|", 'itself: none refers to itself, and none is lost');
run_sql(changed($undo, '\(id, body\)\nSELECT r.id, r.body', '(id, body, parent) SELECT r.id, r.body, r.parent', 'UPDATE comments', "UPDATE docs SET parent = m.parent
	FROM moved_docs m WHERE docs.id = m.id AND docs.parent IS NOT DISTINCT FROM nullif(m.keeper, m.id) AND removed_at = :'run';\nUPDATE comments"));
is_before('itself: all is taken back');

# A publication of all tables
begin_case('published', 'INSERT INTO comments VALUES (12, 1)', 'bigint REFERENCES docs ON DELETE CASCADE', 'bigint');
run_sql('DROP TABLE docs_before, comments_before; CREATE PUBLICATION everything FOR ALL TABLES');
run_sql("SELECT FROM pg_create_logical_replication_slot('published', 'pgoutput')");
$node->safe_psql('postgres', "CREATE DATABASE subscribed TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'");
my $copies = join '', $deletion =~ /^CREATE TABLE .*?;\n/msg;
my $publisher = $node->connstr('published') =~ s/'/''/gr;
$node->safe_psql('subscribed', "CREATE EXTENSION simhash;\n" . $tables =~ s/^INSERT.*?;$//msgr . "$copies
	CREATE SUBSCRIPTION published CONNECTION '$publisher' PUBLICATION everything WITH (create_slot = false)");
delete_all();
is(run_sql("SELECT string_agg(tablename, ' ' ORDER BY tablename) FROM pg_publication_tables"), 'comments docs moved_comments removed',
	'replication: what is found is not published');
$node->safe_psql('subscribed', 'ALTER SUBSCRIPTION published REFRESH PUBLICATION');
ok($node->poll_query_until('subscribed', "SELECT NOT EXISTS (SELECT FROM pg_subscription_rel WHERE srsubstate <> 'r')"), 'replication: in step');
run_sql($undo);
$node->wait_for_catchup('published');
foreach my $table ('docs', 'comments', 'removed', 'moved_comments')
{
	is($node->safe_psql('subscribed', "SELECT * FROM $table ORDER BY id"), run_sql("SELECT * FROM $table ORDER BY id"), "replication: $table");
}
is(run_sql($rows), "1\n2\n3\n4\n5\n6\n7", 'replication: all is taken back');
$node->safe_psql('subscribed', 'DROP SUBSCRIPTION published');

# Rows that are there are old when the column is added that tells which are new.
begin_case('yesterday', '');
my $new = page_statements($page, 'DEFAULT \'-infinity\'');
is(run_sql($new), '', 'yesterday: rows that were there are not new');
run_sql("INSERT INTO docs SELECT 8, 'News: ' || body FROM docs WHERE id = 2");
is(run_sql($new =~ s/^(ALTER|CREATE).*?$//mgr), "8|1\n8|2\n8|3", 'those that came since are');

# Boilerplate: an article on three pages, a page of the form alone, and another site with a part of it
begin_case('boilerplate', '');
run_sql(q{
	CREATE TABLE web_pages (id bigint PRIMARY KEY, site text, fetched timestamptz, body text);
	INSERT INTO web_pages
	SELECT n, 'gazette', now(), E'You read the Harbor Gazette, the paper of the old town.\n\n' || news || E'\n\nReprint only with permission.'
	FROM (VALUES (1, 'The ferry runs every ten minutes.'), (2, 'The library opens in May.'), (3, 'Eggs are cheap.'),
		(4, 'Eggs are cheap.'), (5, 'Eggs are cheap.'), (6, 'Reprint only with permission.')) v (n, news)
	UNION ALL VALUES (7, 'coast', now(), E'A seal sleeps here.\n\nReprint only with permission.')});
run_sql(page_statements('doc/web.md', $_)) foreach 'CREATE TABLE boilerplate', 'CREATE FUNCTION article_of';
is(run_sql('SELECT id FROM web_articles ORDER BY id'), "1\n2\n3\n4\n5\n6\n7", 'boilerplate: each page is there');
is(run_sql(q{SELECT id, body FROM web_articles WHERE id < 3 ORDER BY id}), "1|The ferry runs every ten minutes.\n2|The library opens in May.", 'without the form');
is(run_sql(q{SELECT count(*) FROM web_articles WHERE body LIKE '%Eggs are cheap.%'}), '3', 'and no article is lost');
is(run_sql('SELECT count(*) FROM web_pages JOIN web_articles USING (id, body) WHERE id = 7'), '1', 'nor what is a form on another site only');

$database = 'postgres';
is_sound($node, 'recipes', map { "docs_${_}_body_idx" } 0 .. 2);
$node->stop;
done_testing();
