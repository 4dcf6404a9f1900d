# Near-duplicate keys under concurrency: no two rows that are near each other are
# ever committed, and no row is refused without one that is the cause.  The same
# with SERIALIZABLE instead of a constraint, and with the trigger of doc/constraints.md
# instead of one, which lets old near-duplicates stay.

use lib 'test/t';
use SimhashTest;
use DocumentTest;

my $node = start_node('exclusion', [], 'max_wal_size = 1GB');

# Clusters 1 to 60: what is offered differs in at most one bit from the center,
# so that one row of a cluster keeps all others out.  Clusters 61 to 120: up to
# three bits, so that there may be several.
$node->safe_psql('postgres', q{
	CREATE FUNCTION center(cluster integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS
		$$ SELECT hashint8extended(cluster, 5) $$;
	CREATE FUNCTION offer(cluster integer, what integer) RETURNS simhash LANGUAGE sql IMMUTABLE AS $$
		SELECT CASE WHEN what % 20 = 0 THEN NULL WHEN cluster <= 60
			THEN center(cluster) # (1::bigint << (what % 64)) * (what % 3 > 0)::integer
			ELSE center(cluster) # (1::bigint << (what % 64)) # (1::bigint << (what / 64 % 64))
				# (1::bigint << (what / 4096 % 64)) END $$;
	CREATE TABLE docs (fp simhash, EXCLUDE USING simhash (fp WITH %));
	CREATE TABLE attempt (cluster integer, fp simhash);
	-- a row that errors out is still an attempt
	CREATE FUNCTION put(cluster integer, fp simhash) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO attempt VALUES (cluster, fp);
		INSERT INTO docs VALUES (fp);
	EXCEPTION WHEN exclusion_violation THEN
		INSERT INTO attempt VALUES (cluster, fp);
	END $$;
	-- for SERIALIZABLE: no constraint, but a look before
	CREATE TABLE looked (fp simhash);
	CREATE INDEX looked_fp ON looked USING simhash (fp);
	CREATE TABLE looked_attempt (cluster integer, fp simhash);
	CREATE FUNCTION look_and_put(cluster integer, fp simhash) RETURNS void LANGUAGE plpgsql
	SET enable_seqscan = off AS $$
	BEGIN
		INSERT INTO looked_attempt VALUES (cluster, fp);
		INSERT INTO looked SELECT $2 WHERE NOT EXISTS (SELECT FROM looked l WHERE l.fp <~> $2 <= 3);
	END $$;
});

# A row, and time for others to come into its way
my $slow = q{
\set c random(1, 120)
\set w random(0, 262143)
BEGIN;
WITH a AS (INSERT INTO attempt VALUES (:c, offer(:c, :w)) RETURNING fp)
INSERT INTO docs SELECT fp FROM a ON CONFLICT DO NOTHING;
\sleep 2 ms
};
my %script = (
	slow => "${slow}COMMIT;\n",
	abort => "${slow}ROLLBACK;\n",
	# a batch with duplicates in itself
	batch => q{
\set c random(1, 110)
\set w random(0, 262143)
WITH a AS (INSERT INTO attempt SELECT :c + i / 2, offer(:c + i / 2, :w + 67 * i) FROM generate_series(0, 19) i
	RETURNING fp)
INSERT INTO docs SELECT fp FROM a ON CONFLICT DO NOTHING;
},
	plain => q{
\set c random(1, 120)
\set w random(0, 262143)
SELECT put(:c, offer(:c, :w));
},
	look => q{
\set c random(1, 120)
\set w random(0, 262143)
SELECT look_and_put(:c, offer(:c, :w));
},
	# eight in a row have texts of one cluster, and it is a new one
	article => q{
SELECT nextval('turn') / 8 AS c \gset
\set w random(0, 40)
BEGIN;
WITH a AS (INSERT INTO article_attempt VALUES (article(:c, :w)) RETURNING body)
INSERT INTO articles SELECT nextval('article_id'), body FROM a;
\sleep 1 ms
COMMIT;
},
	# several of one statement
	articles => q{
SELECT nextval('turn') / 8 AS c \gset
\set w random(0, 36)
WITH a AS (INSERT INTO article_attempt SELECT article(:c, :w + i) FROM generate_series(0, 4) i RETURNING body)
INSERT INTO articles SELECT nextval('article_id'), body FROM a;
});

# Deadlocks and serialization failures are for the client to try again.
sub run_clients
{
	my ($what, $transactions, @names) = @_;
	my %chosen = map { $_ => $script{$_} } @names;
	return run_pgbench($node, $what, \%chosen, 8, $transactions, '--max-tries=1000', '--random-seed=9');
}

# What the two variants have in common
sub load
{
	my ($what, $table, $attempt, $transactions, @names) = @_;

	run_clients($what, $transactions, @names);
	is($node->safe_psql('postgres', qq{
			SELECT count(*) > 60 FROM $table;
			SELECT count(*) FROM $table a JOIN $table b
				ON a.ctid < b.ctid AND distance(a.fp::bigint, b.fp::bigint) <= 3;
		}), "t\n0", "$what: no two rows are near each other");
	is($node->safe_psql('postgres', qq{
			SELECT count(*) > 1000, count(*) FILTER (WHERE NOT EXISTS (SELECT FROM $table d
				WHERE distance(a.fp::bigint, d.fp::bigint) <= 3))
			FROM $attempt a WHERE fp IS NOT NULL;
		}), 't|0', "$what: nothing is refused without a row that is near");
	is($node->safe_psql('postgres', qq{
			SELECT count(*) > 50, min(n), max(n) FROM (
				SELECT cluster, (SELECT count(*) FROM $table d
					WHERE distance(center(cluster), d.fp::bigint) <= 1) AS n
				FROM (SELECT DISTINCT cluster FROM $attempt WHERE cluster <= 60 AND fp IS NOT NULL) c) s;
		}), 't|1|1', "$what: each narrow cluster has one representative");
	is($node->safe_psql('postgres',
			"SELECT (SELECT count(*) > 20 FROM $table WHERE fp IS NULL),
			(SELECT count(*) FROM $table WHERE fp IS NULL) = (SELECT count(*) FROM $attempt WHERE fp IS NULL)"
		),
		't|t',
		"$what: nulls are never refused") if $attempt eq 'attempt';
	return;
}

# Texts of 40 words, of which another may stand for one: those with two other words are
# alike only where these are neighbors.  A trigger keeps them out, with the lock or with the
# constraint that the page has for many sessions, without an error, as it says.
sub load_articles
{
	my ($what, $guard) = @_;
	my $alike = 'simhash_share_band(a.bands, b.bands, 7, 7) AND simhash_jaccard(a.body, b.body) >= 0.8';

	$node->safe_psql('postgres', q{
		CREATE FUNCTION article(cluster integer, what integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
			SELECT string_agg(md5(format('%s %s', cluster * 100 + i, CASE WHEN i = what THEN 'other' END)), ' ' ORDER BY i)
			FROM generate_series(1, 40) i $$;
		CREATE TABLE articles (id bigint PRIMARY KEY, body text,
			bands simhash_bits GENERATED ALWAYS AS (simhash_bands(body)) STORED);
		CREATE TABLE article_attempt (body text, bands simhash_bits GENERATED ALWAYS AS (simhash_bands(body)) STORED);
		CREATE SEQUENCE article_id START 1001;
		CREATE SEQUENCE turn START 8;
		INSERT INTO articles SELECT c * 4 + i, article(c, 20 * i / 2) FROM generate_series(1, 30) c, generate_series(0, 2) i;
	}
		  . $guard);
	run_clients($what, 100, 'article', 'articles');
	is( $node->safe_psql('postgres', "
			SELECT count(*) FILTER (WHERE b.id <= 1000) > 30, count(*) FILTER (WHERE b.id > 1000)
			FROM articles a JOIN articles b ON a.id < b.id AND $alike;
			SELECT count(*) FILTER (WHERE id <= 1000), count(*) FILTER (WHERE id > 1000) > 50 FROM articles"),
		"t|0\n90|t",
		"$what: old near-duplicates stay, and none are added");
	is( $node->safe_psql('postgres', "
			SELECT count(*) > 1000, count(*) FILTER (WHERE NOT EXISTS (SELECT FROM articles b WHERE $alike))
			FROM article_attempt a"),
		't|0',
		"$what: nothing is refused without a row that is alike");
	is_sound($node, $what, 'articles_body');
	return;
}

# as on the page, with the names of the tables here
sub constraint_statements { return page_statements('doc/constraints.md', shift) =~ s/\bbulletins/articles/gr =~ s/near_bulletin/near_article/gr }
my $trigger = constraint_statements('CREATE FUNCTION reject_near_bulletin');
$trigger =~ s/RAISE .*;/RETURN NULL;/ or die;
load_articles('trigger', $trigger);
$node->safe_psql('postgres', 'DROP TABLE articles, article_attempt; DROP FUNCTION article, reject_near_article; DROP SEQUENCE article_id, turn');
my $constraint = constraint_statements('ADD CONSTRAINT bulletins_new') =~ s/id > 203/id > 1000/r;
$trigger =~ s/^\s*PERFORM pg_advisory.*\n//m or die;
like($constraint, qr/id > 1000/, 'the page has what is changed here');
s/FROM a;/FROM a ON CONFLICT DO NOTHING;/ foreach @script{ 'article', 'articles' };
load_articles('trigger and constraint', $trigger . $constraint);
is_sound($node, 'trigger and constraint', 'articles_new');
load('constraint', 'docs', 'attempt', 200, 'slow', 'abort', 'batch', 'plain');
is_sound($node, 'constraint', 'docs_fp_excl');
$node->safe_psql('postgres', "ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'");
load('serializable', 'looked', 'looked_attempt', 160, 'look');
is_sound($node, 'serializable', 'looked_fp');
$node->stop;
done_testing();
