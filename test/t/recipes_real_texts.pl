# The statements of doc/deduplicating.md, doc/constraints.md and doc/texts.md on real texts: what they
# leave, as SQL finds it that knows nothing of the extension's distance functions and indexes.

use lib 'test/t';
use SimhashTest;
use DocumentTest;

my ($cleaning, $loading, $about_texts) = ('doc/deduplicating.md', 'doc/constraints.md', 'doc/texts.md');
my $texts = library_texts(3000);
my $node = make_node('recipes_real', [], 'work_mem = 64MB', 'maintenance_work_mem = 64MB');
$node->start;

sub run_sql
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

# Statements of a page, which undoes some of them for the next example
sub run_recipe
{
	my ($page, $words) = @_;
	my $sql = page_statements($page, $words) =~ s/^ROLLBACK/COMMIT/mr;
	return run_sql($sql =~ /^BEGIN;/m && $sql !~ /^COMMIT;/m ? "$sql\nCOMMIT;" : $sql);
}

# Those that make tables, without their rows
sub run_empty
{
	my ($page, $words) = @_;
	return run_sql(page_statements($page, $words) =~ s/^INSERT INTO .*?;$//msgr);
}

# Tables are as on the page, and so are the rows that they begin with.
sub fill
{
	my ($table, $where) = @_;
	return run_sql("INSERT INTO $table (id, body) SELECT id, body FROM source WHERE $where ORDER BY id");
}

load_brute_force($node);
run_sql(qq{
	CREATE TABLE texts (name text, body text);
	COPY texts FROM '$texts';
	-- Pages of a site: most of each is the same.
	CREATE TABLE page AS
	SELECT frame || ' ' || body AS body
	FROM (SELECT body FROM texts WHERE length(body) BETWEEN 200 AND 400 ORDER BY md5(body) LIMIT 100) own,
		(SELECT string_agg(body, ' ') AS frame
			FROM (SELECT body FROM texts WHERE length(body) BETWEEN 400 AND 600 ORDER BY md5(body) LIMIT 2) t) f;
	-- some texts, and all pages, are there once more with a remark, or with a number
	CREATE TABLE source AS
	SELECT row_number() OVER (ORDER BY md5(body)) AS id, body
	FROM (SELECT body FROM texts UNION ALL SELECT body || ' (Edited.)' FROM texts WHERE md5(body) < '4'
		UNION ALL SELECT body || remark FROM page, (VALUES (''), (' (Edited.)'), (' Page 2')) r (remark)) t;
	-- Do they share four fifths of their runs of three words?
	CREATE FUNCTION alike(text, text) RETURNS bool LANGUAGE sql IMMUTABLE AS \$\$
		SELECT count(*) FILTER (WHERE f = g) >= 0.8 * count(*)
		FROM (SELECT DISTINCT unnest(simhash_shingles(\$1, 3, 'word')) f) p
			FULL JOIN (SELECT DISTINCT unnest(simhash_shingles(\$2, 3, 'word')) g) q ON f = g \$\$;
	-- pairs that share a band, whether they do, and as a distance what they do not share
	CREATE TABLE h AS SELECT id, length(body), body, simhash_bands(body, bands => 7) AS bands FROM source;
	ALTER TABLE h ADD PRIMARY KEY (id);
	CREATE TABLE near AS
	SELECT x.id AS a, y.id AS b, (1e9 * (1 - simhash_jaccard(x.body, y.body)))::int AS d, alike(x.body, y.body)
	FROM h x JOIN h y ON x.id < y.id AND share_band(x.bands, y.bands);
	ANALYZE h, near;
	-- those of them that both are in a table
	CREATE FUNCTION left_near(tab regclass, condition text) RETURNS bigint LANGUAGE plpgsql AS \$\$
	DECLARE
		n bigint;
	BEGIN
		EXECUTE format('SELECT count(*) FROM near JOIN %s x ON x.id = a JOIN %1\$s y ON y.id = b WHERE %s', tab,
			condition) INTO n;
		RETURN n;
	END \$\$;
	-- One of each by the definition: what goes for the sake of what
	CREATE TABLE chosen (id bigint PRIMARY KEY, keeper bigint, distance int);
	CREATE PROCEDURE choose(keep text, condition text DEFAULT 'alike') LANGUAGE plpgsql AS \$\$
	BEGIN
		TRUNCATE chosen;
		INSERT INTO chosen SELECT * FROM superfluous_of(format('SELECT a, b, d FROM near JOIN h x ON x.id = near.a
			JOIN h y ON y.id = near.b WHERE %s', condition), 'h', keep);
	END \$\$;
	CALL choose('length DESC, id');
});
cmp_ok(run_sql('SELECT count(*) FROM near WHERE d <= 5e7'), '>', 100, 'there are near-duplicates');
cmp_ok(run_sql('SELECT count(*) FROM near WHERE NOT alike'), '>', 100, 'and texts that only look so');

run_empty($cleaning, 'CREATE TABLE docs');
fill('docs', 'true');

# Rows that are there although they should not, or the other way round
sub differences
{
	my ($query, $truth) = @_;
	return run_sql("SELECT missing + wrong FROM compare_rows(\$q\$$query\$q\$, \$q\$$truth\$q\$)");
}

# The recipe spares short rows; without that, all go, and with equal digits fewer.
my $recipe = join '', map { page_statements($cleaning, $_) }
  'CREATE FUNCTION digits', 'CREATE UNLOGGED TABLE found', 'pg_partition_tree', 'CREATE PROCEDURE delete_found', 'CREATE TABLE moved_comments';
my $unsparing = $recipe =~ s/ > 40/ >= 0/gr;
my $sparing = $recipe =~ s/(keep => '.*?')/$1, same => 'digits(a.body) = digits(b.body)'/r =~ s/AND length\(a/AND digits(a.body) = digits(b.body) AND length(a/r;

# Remove them, but keep a copy, and let references point to what stays
run_sql('INSERT INTO comments SELECT id, id FROM docs');
run_sql("$unsparing CALL delete_found();");
is( differences(q{SELECT id, whole->>'body', keeper FROM removed}, 'SELECT id, body, keeper FROM chosen JOIN h USING (id)'),
	'0', 'each that goes is written down with what stays');
is(run_sql(q{SELECT left_near('docs', 'alike')}), '0', 'no two that stay are near and alike');
is(differences('SELECT id FROM source EXCEPT SELECT id FROM docs', 'SELECT id FROM chosen'),
	'0', 'what goes is what goes row by row');
is( differences('SELECT id, doc FROM comments', 'SELECT id, coalesce(keeper, id) FROM source LEFT JOIN chosen USING (id)'),
	'0', 'each reference is there and points to what stays');
cmp_ok(run_sql('SELECT count(*) FROM chosen'), '>', 50, 'some go');
run_recipe($cleaning, 'UPDATE comments SET doc = m.doc');
is(differences('SELECT id, body FROM docs', 'TABLE source'), '0', 'all is taken back');
is(run_sql('SELECT count(*) FROM comments WHERE doc <> id'), '0', 'and references');
run_sql('DROP TABLE found, removed, moved_comments; DROP FUNCTION digits; DROP PROCEDURE search_docs, delete_found; DROP VIEW references_to_docs');

# It matters that the texts are compared before the keepers are chosen.
run_sql(q{
	CREATE INDEX docs_fp ON docs USING simhash (simhash_minhash(body));
	CREATE TABLE two_steps AS
	SELECT id, body FROM docs WHERE ctid NOT IN (
		SELECT duplicate FROM simhash_find_duplicates('docs_fp', 10, keep => 'length(body) DESC, id')
			JOIN docs x ON x.ctid = duplicate JOIN docs y ON y.ctid = keeper
		WHERE simhash_jaccard(x.body, y.body) >= 0.8)});
cmp_ok(run_sql(q{SELECT left_near('two_steps', 'alike')}), '>', 10, 'later it would leave some');

# Spare some
run_sql("$sparing CALL delete_found();");
run_sql(q{CALL choose('length DESC, id',
	$$alike AND regexp_replace(x.body, '[^0-9]', '', 'g') = regexp_replace(y.body, '[^0-9]', '', 'g')$$)});
is( differences('SELECT id FROM source EXCEPT SELECT id FROM docs',
		'SELECT id FROM chosen JOIN h USING (id) WHERE length > 40'),
	'0', 'short texts stay, and those that have other numbers');
cmp_ok(run_sql(q{SELECT left_near('docs', 'alike AND length(x.body) > 40')}), '>', 50, 'there are such');
run_sql('DROP TABLE comments; TRUNCATE docs');
fill('docs', 'true');

# Labels
run_recipe($cleaning, 'CREATE TABLE labels');
run_sql("CALL choose('length DESC, id')");
is( differences('TABLE labels',
		'SELECT source.id, coalesce(keeper, source.id) FROM source LEFT JOIN chosen USING (id)'),
	'0', 'labels are of rows that stand for themselves');

# With a constraint, and what it refuses
run_empty($loading, 'CREATE TABLE corpus');
run_empty($loading, 'CREATE TABLE staging');
fill('corpus', 'id % 3 = 0 AND id NOT IN (SELECT id FROM chosen)');
fill('staging', 'id % 3 > 0');
run_recipe($loading, 'ON CONFLICT ON CONSTRAINT corpus_alike DO NOTHING');
is(run_sql(q{SELECT left_near('corpus', 'alike')}), '0', 'no two rows get in that are alike');
is( run_sql(q{
		SELECT count(*) FROM staging s FULL JOIN (SELECT id FROM corpus UNION SELECT id FROM refused) t USING (id)
		WHERE t.id IS NULL}), '0', 'each row is there or was refused');
is( run_sql(q{
		SELECT count(*) FROM refused r LEFT JOIN corpus ON corpus.id = blocked_by
			LEFT JOIN near ON a = least(r.id, blocked_by) AND b = greatest(r.id, blocked_by)
		WHERE corpus.id IS NULL OR alike IS NOT TRUE}), '0', 'because of a row that is alike');
cmp_ok(run_sql('SELECT count(*) FROM refused'), '>', 50, 'some are refused');

# From staging to a library
run_empty($loading, 'CREATE TABLE library');
fill('library', 'id % 3 = 0');
fill('arrivals', 'id % 3 > 0');
run_recipe($loading, 'LOCK TABLE library');
run_sql('CREATE VIEW dropped AS SELECT id, keeper FROM arrivals WHERE keeper IS NOT NULL');
is( run_sql(q{
		SELECT count(*) FROM source s FULL JOIN (SELECT id FROM library UNION ALL SELECT id FROM dropped) t USING (id)
		WHERE s.id IS NULL OR t.id IS NULL}),
	'0', 'each row is in the library or has been dropped, and that is written down');
is(run_sql('SELECT count(*) - count(DISTINCT id) FROM dropped'), '0', 'once');
is( run_sql(q{
		SELECT left_near('library', 'alike AND (a % 3 > 0 OR b % 3 > 0)')}),
	'0', 'nothing that came in is like another row');
is( run_sql(q{
		SELECT count(*) FROM dropped d JOIN h x USING (id) LEFT JOIN library k ON k.id = keeper
			LEFT JOIN h y ON y.id = k.id
		WHERE (share_band(x.bands, y.bands) AND alike(x.body, y.body)
			AND (k.id % 3 = 0 OR (-x.length, x.id) > (-y.length, y.id))) IS NOT TRUE}),
	'0', 'each that was dropped is like a row of the library, and an old one or a longer one');
# it goes by the library where both have one that is alike
is( run_sql(q{
		SELECT count(*) FROM dropped JOIN near ON dropped.id IN (a, b) AND alike AND (a + b - dropped.id) % 3 = 0
		WHERE keeper % 3 > 0}), '0', 'what the library had comes first');
cmp_ok(run_sql('SELECT least(count(*) FILTER (WHERE keeper % 3 = 0), count(*) FILTER (WHERE keeper % 3 > 0))
	FROM dropped'),
	'>', 10, 'there are some of both kinds');

# Labels as rows come
run_recipe($loading, 'CREATE TABLE posts');
fill('posts', 'true');
run_sql('CREATE INDEX posts_body ON posts USING simhash (body simhash_text_ops)');
my ($labels) = page_statements($cleaning, 'CREATE TABLE labels') =~ /AS\n(SELECT .*?);/s;
$labels =~ s/\bdocs\b/posts/g;
$labels =~ s/docs_body/posts_body/;
$labels =~ s/keep => '.*?'/keep => 'id'/;
my $repair = "UPDATE posts SET label = wanted.label FROM ($labels) wanted WHERE wanted.id = posts.id AND wanted.label <> posts.label;";
is( run_sql(q{SELECT left_near('posts', 'alike AND x.id = x.label AND y.id = y.label')}),
	'0', 'no two rows that stand for others are near');
is(run_sql("WITH repaired AS (" . ($repair =~ s/;$/ RETURNING posts.id/r) . ') SELECT count(*) FROM repaired'),
	'0', 'labels given as rows come are those of all rows at once');
run_sql('UPDATE posts SET label = id WHERE id % 2 = 0');
run_sql($repair);
is( run_sql(q{SELECT left_near('posts', 'alike AND x.id = x.label AND y.id = y.label')}),
	'0', 'labels that were wrong are repaired');

# Parts of texts: stories of eight paragraphs, and some without the last four, but behind a frame
run_sql(q{
	CREATE TABLE stories (id bigint, body text);
	INSERT INTO stories SELECT id / 8 * 2, string_agg(body, E'\n\n' ORDER BY id) FROM source GROUP BY id / 8;
	INSERT INTO stories
	SELECT id / 8 * 2 + 1, (SELECT body FROM texts ORDER BY length(body) DESC LIMIT 1) || E'\n\n' || string_agg(body, E'\n\n' ORDER BY id)
	FROM source WHERE id % 8 < 4 AND id / 8 % 4 = 0 GROUP BY id / 8});
run_sql(page_statements($about_texts, 'CREATE FUNCTION sentences') =~ s/\btexts\b/stories/gr);
run_sql('CREATE TABLE shared AS ' . page_statements($about_texts, 'FROM labeled_sentences'));
# Not with all sentences: a keeper that comes between two equal ones can be nearer to the
# second.  And some texts, such as lists of names, have hardly any but those of the frame.
is( differences(
		'SELECT other FROM shared WHERE other = story + 1 AND least(sentences, other_sentences) >= 4',
		'SELECT story FROM labeled_sentences
			JOIN (SELECT label FROM labeled_sentences GROUP BY label HAVING count(*) <= 20) own USING (label)
		 WHERE story % 2 = 1 GROUP BY story HAVING count(*) >= 4'),
	'0', 'each half is found with its story');
# Sentences that have one label are within 3 bits of one.
is( run_sql(q{
		SELECT count(*) FROM shared WHERE shared.shared > (
			SELECT count(DISTINCT x.id) FROM sentences x JOIN sentences y ON distance(x.fp::bigint, y.fp::bigint) <= 6
			WHERE x.story = shared.story AND y.story = shared.other)
		OR shared.shared < 0.5 * least(sentences, other_sentences)}),
	'0', 'stories share as many sentences as it says');
cmp_ok(run_sql('SELECT count(*) FROM stories WHERE id % 2 = 1'), '>', 50, 'there are halves');

is_sound($node, 'recipes', 'docs_body', 'corpus_alike', 'library_body', 'posts_body', 'sentences_fp');
$node->stop;
done_testing();
