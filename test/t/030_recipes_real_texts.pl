# The recipes of the documentation on real texts: what their statements leave, as SQL
# finds it that knows nothing of the extension's distance functions and indexes.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use SimhashTest;
use DocumentTest;
use Test::More;

my $page = 'doc/recipes.md';
my $texts = library_texts(3000);
my $node = make_node('recipes_real', [], 'work_mem = 64MB', 'maintenance_work_mem = 64MB');
$node->start;

sub run_sql
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

# Statements of the page, up to where it undoes them for the next recipe
sub run_recipe
{
	my ($words) = @_;
	my $sql = page_statements($page, $words);
	return run_sql($sql =~ /^BEGIN;/m && $sql !~ /^COMMIT;/m ? "$sql\nCOMMIT;" : $sql);
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
	-- some are there once more with a remark
	CREATE TABLE source AS
	SELECT row_number() OVER (ORDER BY md5(body)) AS id, body
	FROM (SELECT body FROM texts UNION ALL SELECT body || ' (Edited.)' FROM texts WHERE md5(body) < '4') t;
	-- Do they share four fifths of their runs of three words?
	CREATE FUNCTION alike(text, text) RETURNS bool LANGUAGE sql IMMUTABLE AS \$\$
		SELECT count(*) FILTER (WHERE f = g) >= 0.8 * count(*)
		FROM (SELECT DISTINCT unnest(simhash_shingles(\$1, 3, 'word')) f) p
			FULL JOIN (SELECT DISTINCT unnest(simhash_shingles(\$2, 3, 'word')) g) q ON f = g \$\$;
	-- Pairs within 3 bits; they agree in one of four blocks.
	CREATE TABLE h AS SELECT id, length(body), body, simhash_minhash(body)::bigint AS h FROM source;
	ALTER TABLE h ADD PRIMARY KEY (id);
	CREATE TABLE near AS
	WITH block AS MATERIALIZED (SELECT id, h, n, (h >> 16 * n) & 65535 AS bits FROM h, generate_series(0, 3) n
		WHERE h IS NOT NULL)
	SELECT DISTINCT x.id AS a, y.id AS b FROM block x JOIN block y USING (n, bits)
	WHERE x.id < y.id AND distance(x.h, y.h) <= 3;
	ANALYZE h, near;
	-- those of them that both are in a table
	CREATE FUNCTION left_near(tab regclass) RETURNS bigint LANGUAGE plpgsql AS \$\$
	DECLARE
		n bigint;
	BEGIN
		EXECUTE format('SELECT count(*) FROM near JOIN %s x ON x.id = a JOIN %1\$s y ON y.id = b', tab) INTO n;
		RETURN n;
	END \$\$;
});
cmp_ok(run_sql('SELECT count(*) FROM near'), '>', 100, 'there are near-duplicates');

my ($tables) = page_statements($page, 'CREATE TABLE docs') =~ /(CREATE TABLE docs.*?;\n)/s;
run_sql("$tables CREATE INDEX docs_fp ON docs USING simhash (fp)");
fill('docs', 'true');

# Remove them, but keep a copy
run_recipe('CREATE TABLE removed');
cmp_ok(run_sql('SELECT count(*) FROM removed'), '>', 50, 'a recipe removes rows');
is( run_sql(q{
		SELECT count(*) FROM removed r JOIN h x USING (id) LEFT JOIN docs k ON k.id = keeper
			LEFT JOIN h y ON y.id = k.id
		WHERE (distance(x.h, y.h) <= 8 AND distance(x.h, y.h) = r.distance AND alike(x.body, y.body)
			AND (-x.length, x.id) > (-y.length, y.id) AND x.length > 40) IS NOT TRUE}),
	'0', 'each that goes is like one that stays and is longer');
run_sql(page_statements($page, 'INSERT INTO docs (id, body) SELECT id, body FROM removed'));
is( run_sql(q{SELECT count(*) FROM ((SELECT id, body FROM docs EXCEPT ALL TABLE source)
		UNION ALL (TABLE source EXCEPT ALL SELECT id, body FROM docs)) d}),
	'0', 'all is taken back');

# Remove them all
run_recipe("WHERE docs.ctid = d.duplicate;\n");
is(run_sql(q{SELECT left_near('docs')}), '0', 'no two that stay are near');
cmp_ok(run_sql('SELECT (SELECT count(*) FROM source) - count(*) FROM docs'), '>', 50, 'some go');
run_sql('TRUNCATE docs');
fill('docs', 'true');

# Labels
run_sql(page_statements($page, 'CREATE TABLE labels'));
is( run_sql(q{
		SELECT count(*) FILTER (WHERE distance(x.h, y.h) > 3 OR k.id <> k.label),
			count(*) - (SELECT count(*) FROM docs),
			(SELECT count(*) FROM near JOIN labels x ON x.id = a JOIN labels y ON y.id = b
				WHERE x.id = x.label AND y.id = y.label)
		FROM labels l JOIN h x USING (id) JOIN labels k ON k.id = l.label JOIN h y ON y.id = k.id}),
	'0|0|0', 'labels are of rows that stand for themselves, and are not near each other');

# From staging to a corpus
my $corpus = page_statements($page, 'CREATE TABLE corpus');
$corpus =~ s/^INSERT INTO .*?;$//msg;
run_sql($corpus);
fill('corpus', 'id % 3 = 0');
fill('staging', 'id % 3 > 0');
my $look_up = page_statements($page, 'FROM staging s CROSS JOIN LATERAL');
run_sql("CREATE TABLE looked_up AS $look_up");
run_sql(page_statements($page, 'LOCK TABLE corpus'));
is(run_sql('SELECT count(*) FROM staging'), '0', 'nothing is left in staging');
is( run_sql(q{
		SELECT count(*) FROM source s FULL JOIN (SELECT id FROM corpus UNION ALL SELECT id FROM dropped) t USING (id)
		WHERE s.id IS NULL OR t.id IS NULL}),
	'0', 'each row is in the corpus or has been dropped, and that is written down');
is(run_sql('SELECT count(*) - count(DISTINCT id) FROM dropped'), '0', 'once');
is( run_sql(q{
		SELECT count(*) FROM near JOIN corpus x ON x.id = a JOIN corpus y ON y.id = b WHERE a % 3 > 0 OR b % 3 > 0}),
	'0', 'nothing that came in is near another row');
is( run_sql(q{
		SELECT count(*) FROM dropped d JOIN h x USING (id) LEFT JOIN corpus k ON k.id = keeper
			LEFT JOIN h y ON y.id = k.id
		WHERE (distance(x.h, y.h) = d.distance AND d.distance <= 3
			AND (k.id % 3 = 0 OR (-x.length, x.id) > (-y.length, y.id))) IS NOT TRUE}),
	'0', 'each that was dropped is near a row of the corpus, and an old one or a longer one');
# it goes by the corpus where both have a near one
is( run_sql(q{
		SELECT count(*) FROM dropped d JOIN near ON d.id IN (a, b) AND (a + b - d.id) % 3 = 0 WHERE keeper % 3 > 0}),
	'0', 'what the corpus had comes first');
is( run_sql(q{
		SELECT count(*) FROM looked_up l FULL JOIN (SELECT * FROM dropped
			WHERE keeper % 3 = 0) d USING (id, keeper, distance)
		WHERE l IS NULL OR d IS NULL}),
	'0', 'look-ups find the same');
cmp_ok(run_sql('SELECT least(count(*) FILTER (WHERE keeper % 3 = 0), count(*) FILTER (WHERE keeper % 3 > 0))
	FROM dropped'),
	'>', 10, 'there are some of both kinds');

# One of each over two tables; the corpus has near-duplicates of its own
my $archive = page_statements($page, 'CREATE TABLE archive');
$archive =~ s/^INSERT INTO .*//ms;
run_sql("$archive; TRUNCATE corpus");
fill('corpus', 'id % 2 = 0');
fill('archive', 'id % 2 > 0');
run_sql(page_statements($page, 'CREATE TEMP TABLE every')
	  . page_statements($page, 'CREATE TEMP TABLE gone') . ';COMMIT');
is( run_sql(q{
		CREATE TABLE one_of_each AS SELECT id FROM corpus UNION ALL SELECT id FROM archive;
		SELECT left_near('one_of_each')}),
	'0', 'no two rows of both tables are near');
is( run_sql(q{
		SELECT count(*) FROM source g WHERE NOT EXISTS (SELECT FROM one_of_each o WHERE o.id = g.id)
			AND NOT EXISTS (SELECT FROM near JOIN one_of_each o ON o.id IN (a, b) JOIN h ON h.id = o.id
				WHERE g.id IN (a, b) AND h.length >= length(g.body))}),
	'0', 'each that went is near one that stays and is not shorter');

# Labels as rows come
my $posts = page_statements($page, 'CREATE TABLE posts');
run_sql($posts);
fill('posts', 'true');
run_sql('CREATE INDEX posts_fp ON posts USING simhash (fp)');
my $repair = page_statements($page, 'UPDATE posts SET label');
($repair) = $repair =~ /(UPDATE posts.*?;)/s;
is( run_sql('SELECT count(*) FROM near JOIN posts x ON x.id = a JOIN posts y ON y.id = b
	WHERE x.id = x.label AND y.id = y.label'),
	'0', 'no two rows that stand for others are near');
is(run_sql("WITH repaired AS (" . ($repair =~ s/;$/ RETURNING posts.id/r) . ') SELECT count(*) FROM repaired'),
	'0', 'labels given as rows come are those of all rows at once');
run_sql('UPDATE posts SET label = id WHERE id % 2 = 0');
run_sql($repair);
is(run_sql('SELECT count(*) FROM near JOIN posts x ON x.id = a JOIN posts y ON y.id = b
	WHERE x.id = x.label AND y.id = y.label'),
	'0', 'labels that were wrong are repaired');

# Verify before removing; by definition all pairs of a part
run_sql(q{
	DELETE FROM docs WHERE id > 1500;
	CREATE TABLE alike AS
	SELECT x.id AS a, y.id AS b
	FROM h x JOIN h y ON (-x.length, x.id) < (-y.length, y.id) AND distance(x.h, y.h) <= 8
	WHERE x.id <= 1500 AND y.id <= 1500 AND alike(x.body, y.body);
	CREATE TABLE stay (id bigint PRIMARY KEY);
	DO $$
	DECLARE
		row_id bigint;
	BEGIN
		FOR row_id IN SELECT id FROM h WHERE id <= 1500 ORDER BY length DESC, id LOOP
			INSERT INTO stay SELECT row_id WHERE NOT EXISTS (SELECT FROM alike JOIN stay ON stay.id = a
				WHERE b = row_id);
		END LOOP;
	END $$;
	CREATE TABLE whole AS SELECT id, body FROM docs;
});
cmp_ok(run_sql('SELECT count(*) FROM alike'), '>', 20, 'there are texts that are alike');
run_recipe('AND simhash_jaccard(docs.body, k.body) >= 0.8');
is( run_sql(q{
		SELECT count(*) FROM whole w WHERE NOT EXISTS (SELECT FROM docs WHERE docs.id = w.id)
			AND NOT EXISTS (SELECT FROM alike JOIN docs ON docs.id = a WHERE b = w.id)}),
	'0', 'each that goes is like one that stays');
cmp_ok(run_sql('SELECT (SELECT count(*) FROM whole) - count(*) FROM docs'), '>', 10, 'some go');
run_sql('TRUNCATE docs; INSERT INTO docs SELECT * FROM whole');
my $verified = page_statements($page, 'CREATE TEMP TABLE verified');
my $loop = page_statements($page, 'DELETE FROM docs USING verified');
run_sql("$verified; CREATE TABLE pairs AS TABLE verified; $loop; COMMIT");
is( run_sql('SELECT count(*) FROM (SELECT a, b FROM pairs) p FULL JOIN alike USING (a, b)
	WHERE p IS NULL OR alike IS NULL'),
	'0', 'verified pairs are those that are alike');
is( run_sql('SELECT count(*) FROM docs FULL JOIN stay USING (id) WHERE docs.id IS NULL OR stay.id IS NULL'),
	'0', 'what stays is what stays row by row');

is_sound($node, 'recipes', 'docs_fp', 'corpus_fp', 'archive_fp', 'posts_fp');
$node->stop;
done_testing();
