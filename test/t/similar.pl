# Indexes and constraints that compare texts: under concurrent load, after crashes, after
# dump and restore, and with a very long text.

use lib 'test/t';
use SimhashTest;

my $node = start_node('similar', [], 'restart_after_crash = on', 'max_wal_size = 1GB');

# Texts of 65 words, of which the first few are others: two of a cluster share from .6 to
# all of their runs of three words.  Each transaction of a load takes its clusters from
# the same few, so that it meets others.
$node->safe_psql('postgres', q{
	CREATE FUNCTION text_of(cluster integer, what integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
		SELECT string_agg('w' || (hashint8extended(CASE WHEN i <= what % 14 THEN cluster * 1000 + what ELSE cluster END, i) & 4095),
			' ' ORDER BY i) FROM generate_series(1, 65) i $$;
	CREATE TABLE docs (cluster integer, what integer, body text,
		CONSTRAINT near EXCLUDE USING simhash (body simhash_text_ops WITH =~=));
	CREATE TABLE attempt (cluster integer, what integer);
	CREATE SEQUENCE turn START 8;
});

# A row, and time for others to come into its way; several of one statement; one that is
# refused with an error; changed and deleted rows
my %script = (
	slow => q{
SELECT nextval('turn') / 16 AS c \gset
\set w random(0, 200)
BEGIN;
INSERT INTO attempt VALUES (:c, :w);
INSERT INTO docs VALUES (:c, :w, text_of(:c, :w)) ON CONFLICT DO NOTHING;
\sleep 2 ms
COMMIT;
},
	batch => q{
SELECT nextval('turn') / 16 AS c \gset
\set w random(0, 200)
WITH a AS (INSERT INTO attempt SELECT :c + i % 2, :w + i FROM generate_series(0, 9) i RETURNING cluster, what)
INSERT INTO docs SELECT cluster, what, text_of(cluster, what) FROM a ON CONFLICT DO NOTHING;
},
	abort => q{
SELECT nextval('turn') / 16 AS c \gset
\set w random(0, 200)
BEGIN;
INSERT INTO docs VALUES (:c, :w, text_of(:c, :w)) ON CONFLICT DO NOTHING;
\sleep 2 ms
ROLLBACK;
});
my @pgbench = ('--max-tries=1000', '--random-seed=9');

# No two rows are alike, and nothing was refused without one that is.
sub is_kept_out
{
	my ($what, $attempts) = @_;

	is( $node->safe_psql('postgres', q{
			SELECT count(*) > 100, count(*) FILTER (WHERE EXISTS (SELECT FROM docs b
				WHERE b.cluster = a.cluster AND a.ctid < b.ctid AND are_alike(a.body, b.body))) FROM docs a}),
		't|0', "$what: no two texts are alike");
	is( $node->safe_psql('postgres', qq{
			SELECT count(*) > $attempts, count(*) FILTER (WHERE NOT EXISTS (SELECT FROM docs b
				WHERE b.cluster = a.cluster AND are_alike(text_of(a.cluster, a.what), b.body))) FROM attempt a}),
		't|0', "$what: nothing is refused without a text that is alike");
	is_sound($node, $what, 'near');
	return;
}

run_pgbench($node, 'load', \%script, 8, 100, @pgbench);
is_kept_out('load', 1000);

#
# Crashes in the middle of a load
#
foreach my $round (1, 2)
{
	my $size = $node->safe_psql('postgres', 'SELECT count(*) FROM attempt');
	my $run = start_pgbench($node, \%script, '--client=8', '--transactions=1000000', @pgbench);
	$node->poll_query_until('postgres', "SELECT count(*) > $size + 500 FROM attempt") or die 'the rows do not come';
	$node->stop('immediate');
	$run->{handle}->finish;
	$node->start;
	is_kept_out("crash $round", $size + 500);
}

#
# The same rows as without the index, on texts of this load
#
$node->safe_psql('postgres', q{
	CREATE TABLE wanted AS SELECT row_number() OVER () AS no, text_of(cluster, what) AS body FROM attempt
	TABLESAMPLE BERNOULLI (20) REPEATABLE (1);
	ANALYZE;
});
my $found = 'SELECT q.no, d.ctid FROM wanted q JOIN docs d ON d.body =~= q.body';
like($node->safe_psql('postgres', "EXPLAIN $found"), qr/Index Scan using near on docs/, 'a join uses the index of the constraint');
is( $node->safe_psql('postgres', "SELECT difference('$found', 'SELECT q.no, d.ctid FROM wanted q JOIN docs d ON are_alike(d.body, q.body)')"),
	'', 'and finds the same rows as without it');

#
# Dump and restore, with a class of one's own
#
$node->safe_psql('postgres', 'CREATE DATABASE old');
$node->safe_psql('old', q{
	CREATE SCHEMA ext;
	CREATE EXTENSION simhash SCHEMA ext;
	CREATE FUNCTION title_fingerprint(title text) RETURNS ext.simhash LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN ext.simhash_minhash(title, 5, 'char');
	CREATE FUNCTION same_title(a text, b text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000
	RETURN ext.hamming(title_fingerprint(a), title_fingerprint(b)) <= 12 AND ext.simhash_jaccard(a, b, 5, 'char') >= 0.6;
	CREATE OPERATOR ~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = same_title, COMMUTATOR = ~~~,
		RESTRICT = ext.simhash_sel, JOIN = ext.simhash_joinsel);
	CREATE OPERATOR CLASS title_ops FOR TYPE text USING simhash AS
		OPERATOR 16 ~~~, FUNCTION 2 title_fingerprint(text);
	CREATE DOMAIN simhash_256 AS ext.simhash_bits(256);
	CREATE FUNCTION words_fingerprint(body text) RETURNS simhash_256 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN ext.simhash_minhash_bits(body, 256, 3);
	CREATE FUNCTION same_words(a text, b text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000
	RETURN ext.hamming(words_fingerprint(a), words_fingerprint(b)) <= 36 AND ext.simhash_jaccard(a, b) >= 0.8;
	CREATE OPERATOR ~~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = same_words, COMMUTATOR = ~~~~,
		RESTRICT = ext.simhash_sel, JOIN = ext.simhash_joinsel);
	CREATE OPERATOR CLASS words_ops FOR TYPE text USING simhash AS
		OPERATOR 40 ~~~~, FUNCTION 2 words_fingerprint(text);
	CREATE DOMAIN bands_9 AS ext.simhash_bits(576);
	CREATE FUNCTION words_bands(body text) RETURNS bands_9 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN ext.simhash_bands(body, 1, bands => 9);
	CREATE FUNCTION share_words(a text, b text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000
	RETURN ext.simhash_share_band(words_bands(a), words_bands(b), 8, 6) AND ext.simhash_jaccard(a, b, 1) >= 0.8;
	CREATE OPERATOR ~~~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = share_words, COMMUTATOR = ~~~~~,
		RESTRICT = ext.simhash_sel, JOIN = ext.simhash_joinsel);
	CREATE OPERATOR CLASS bands_ops FOR TYPE text USING simhash AS
		OPERATOR 608 ~~~~~, FUNCTION 3 words_bands(text);
	CREATE TABLE books (id integer PRIMARY KEY, title text, body text,
		CONSTRAINT books_title EXCLUDE USING simhash (title title_ops WITH ~~~),
		CONSTRAINT books_title_words EXCLUDE USING simhash (title ext.simhash_title_ops WITH OPERATOR(ext.=%=)),
		CONSTRAINT books_body EXCLUDE USING simhash (body ext.simhash_text_ops WITH OPERATOR(ext.=~=)),
		CONSTRAINT books_words EXCLUDE USING simhash ((least(title, body) || ' ' || greatest(title, body)) words_ops WITH ~~~~),
		CONSTRAINT books_bands EXCLUDE USING simhash ((body || title) bands_ops WITH ~~~~~) WITH (bands = 8));
	CREATE INDEX books_first ON books USING simhash ((left(body, 100)) ext.simhash_text_ops) WHERE id > 10;
	CREATE VIEW pairs AS SELECT a.id AS a, b.id AS b FROM books a JOIN books b ON a.title ~~~ b.title AND a.id < b.id;
	CREATE VIEW duplicates AS SELECT * FROM ext.simhash_find_duplicates('books_first', keep => 'id');
	INSERT INTO books SELECT i, 'The history of ' || md5(i::text), 'A book about ' || md5('b' || i) || ' and ' || md5('c' || i)
	FROM generate_series(1, 100) i;
	INSERT INTO books VALUES (101, NULL, '...'), (102, '!', NULL);
});
is_restored($node, 'old', 'new');
foreach my $database ('old', 'new')
{
	foreach my $row (
		[ 'books_title', q{(200, upper('the history of: ' || md5('50')), 'a text')} ],
		[ 'books_body', q{(200, 'a title', 'a book about ' || md5('b50') || ', and ' || md5('c50'))} ],
		[ 'books_bands', q{(200, ' history of ' || md5('50') || ' and a book about ' || md5('b50'), md5('c50') || 'The')} ],
		[ 'books_words', q{(200, 'A book about ' || md5('b50') || ' and ' || md5('c50'), 'The history of ' || md5('50'))} ])
	{
		my ($status, $stdout, $stderr) = $node->psql($database, "INSERT INTO books VALUES $row->[1]");
		like($stderr, qr/violates exclusion constraint "$row->[0]"/, "$database: $row->[0] refuses a near-duplicate");
	}
	is($node->safe_psql($database, 'SELECT (SELECT count(*) FROM pairs), (SELECT count(*) FROM duplicates)'),
		'0|0', "$database: the views");
	is($node->safe_psql($database, "SELECT ext.simhash_index_check(i::regclass, true)
			FROM unnest('{books_title,books_title_words,books_body,books_words,books_bands,books_first}'::text[]) i"),
		"\n\n\n\n\n", "$database: the indexes are sound");
	is($node->safe_psql($database, "SELECT count(*) FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
			WHERE amname = 'simhash' AND NOT amvalidate(c.oid)"),
		'0', "$database: the operator classes are valid");
}

#
# A type that is stored like text
#
SKIP:
{
	skip 'citext is not installed', 1
	  unless $node->safe_psql('postgres', "SELECT 1 FROM pg_available_extensions WHERE name = 'citext'");
	is( $node->safe_psql('postgres', q{
			CREATE EXTENSION citext;
			CREATE TABLE notes (id integer, body citext, EXCLUDE USING simhash (body simhash_text_ops WITH =~=));
			INSERT INTO notes SELECT i, text_of(i, 0) FROM generate_series(1, 300) i;
			INSERT INTO notes SELECT id + 1000, upper(body::text) FROM notes ON CONFLICT DO NOTHING;
			ANALYZE notes;
			SET enable_seqscan = off;
			SELECT count(*), count(*) FILTER (WHERE id > 1000), (SELECT id FROM notes WHERE body =~= text_of(7, 0)),
				(SELECT count(*) FROM notes a JOIN notes b ON a.body =~= b.body) FROM notes;
		}), '300|0|7|300', 'a column of type citext');
}

#
# A text of 10 MB, and one that has a few words more
#
my $words = 900_000;
is( $node->safe_psql('postgres', qq{
		SET work_mem = '256MB';
		CREATE TEMPORARY TABLE long AS SELECT string_agg('word' || i, ' ' ORDER BY i) AS body FROM generate_series(1, $words) i;
		INSERT INTO docs SELECT -1, 0, body FROM long;
		INSERT INTO docs SELECT -1, 1, body || ' and more' FROM long ON CONFLICT DO NOTHING;
		SET enable_seqscan = off;
		SELECT count(*), min(length(d.body)) > 10 * $words FROM docs d, long l WHERE d.body =~= (l.body || '.');
	}), '1|t', 'a long text keeps one like it out, and is found');

$node->stop;
done_testing();
