# All pairs, clusters and duplicates of real texts, such as the demo shows, are those that
# SQL finds without the extension's distance functions and indexes.

use lib 'test/t';
use SimhashTest;

my $rows = real_texts();
my $node = start_node('real', [], 'work_mem = 64MB', 'maintenance_work_mem = 64MB');
$node->safe_psql('postgres', 'CREATE TABLE texts (name text, body text)');
$node->safe_psql('postgres', "COPY texts FROM '$rows'");
$node->safe_psql('postgres', q{
	CREATE TABLE docs AS
	SELECT row_number() OVER () AS id, length, fp, fp::bigint AS h
	FROM (SELECT length(body), simhash_compute(body) AS fp FROM texts) t;
	CREATE INDEX docs_fp ON docs USING simhash (fp);
	VACUUM ANALYZE docs;
});
cmp_ok($node->safe_psql('postgres', 'SELECT count(fp) FROM docs'), '>', 2000, 'there are texts');

# Values within 3 bits agree in one of four blocks.
$node->safe_psql('postgres', q{
	CREATE TABLE near_values AS
	WITH value AS MATERIALIZED (SELECT DISTINCT h FROM docs WHERE h IS NOT NULL),
		block AS MATERIALIZED (SELECT h, n, (h >> 16 * n) & 65535 AS bits FROM value, generate_series(0, 3) n)
	SELECT DISTINCT a.h AS a, b.h AS b, distance(a.h, b.h) AS d
	FROM block a JOIN block b USING (n, bits)
	WHERE a.h < b.h AND distance(a.h, b.h) <= 3;
	CREATE TABLE near_rows AS
	SELECT least(x.id, y.id) AS a, greatest(x.id, y.id) AS b, d
	FROM near_values n JOIN docs x ON x.h = n.a JOIN docs y ON y.h = n.b
	UNION ALL
	SELECT x.id, y.id, 0 FROM docs x JOIN docs y USING (h) WHERE x.id < y.id;
	ANALYZE near_values, near_rows;
});

# How many rows of a query and of the truth differ
sub differences
{
	my ($query, $truth) = @_;
	return $node->safe_psql('postgres',
		"SELECT missing + wrong FROM compare_rows(\$q\$$query\$q\$, \$q\$$truth\$q\$)");
}

cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM near_rows'), '>', 20, 'there are pairs');
is( differences(
		'SELECT least(x.id, y.id), greatest(x.id, y.id), distance
		FROM simhash_find_all(\'docs_fp\') JOIN docs x ON x.ctid = a JOIN docs y ON y.ctid = b',
		'TABLE near_rows'),
	'0', 'pairs of rows');
is( differences(
		'SELECT least(a::bigint, b::bigint), greatest(a::bigint, b::bigint), distance
		FROM simhash_find_all_in(ARRAY(SELECT fp FROM docs))',
		'TABLE near_values'),
	'0', 'pairs of values');

# Components, and what they must be called
$node->safe_psql('postgres', 'CREATE TABLE member AS SELECT no AS id, root
	FROM (SELECT array_agg(a) AS a, array_agg(b) AS b FROM near_rows) p, connected(p.a, p.b)');
is( differences(
		'SELECT id, cluster, size FROM simhash_find_clusters(\'docs_fp\') JOIN docs ON ctid = member',
		'SELECT id, dense_rank() OVER (ORDER BY first), count(*) OVER (PARTITION BY root)
		FROM (SELECT id, root, min(docs.ctid) OVER (PARTITION BY root) AS first FROM member JOIN docs USING (id)) m'),
	'0', 'clusters of rows');
is( differences(
		'SELECT fp::bigint, cluster, size FROM simhash_find_clusters_in(ARRAY(SELECT fp FROM docs))',
		'SELECT fp::bigint, dense_rank() OVER (ORDER BY first), size
		FROM (SELECT fp, min(fp) OVER (PARTITION BY root) AS first, count(*) OVER (PARTITION BY root) AS size
			FROM (SELECT DISTINCT fp, root FROM member JOIN docs USING (id)) v) s WHERE size > 1'),
	'0', 'clusters of values');
foreach my $keep ('id', 'length DESC, id')
{
	is( differences("SELECT x.id, y.id, distance FROM simhash_find_duplicates('docs_fp', keep => '$keep')
				JOIN docs x ON x.ctid = duplicate JOIN docs y ON y.ctid = keeper",
			"SELECT * FROM superfluous_of('TABLE near_rows', 'docs', '$keep')"),
		'0', "duplicates by $keep");
}

# one statement leaves one of each
is($node->safe_psql('postgres', q{
		BEGIN;
		DELETE FROM docs USING simhash_find_duplicates('docs_fp', keep => 'length DESC, id') f
			WHERE docs.ctid = f.duplicate;
		SELECT count(*) FROM near_rows JOIN docs x ON x.id = a JOIN docs y ON y.id = b;
		SELECT count(*) FROM simhash_find_all('docs_fp');
		ROLLBACK}), "0\n0", 'none of the rows that are left are near each other');
is_sound($node, 'real texts', 'docs_fp');
$node->stop;
done_testing();
