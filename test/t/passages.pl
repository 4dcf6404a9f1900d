# ~& finds the same rows by its index as by sets of runs of 13 words made here: for random
# texts in several languages and encodings, under concurrent load, after crashes, on a
# standby, after dump and restore, in partitions, and behind logical replication.
#
# PASSAGES_CORPORA in the environment is the number of random collections of texts.

use utf8;
use lib 'test/t';
use SimhashTest;
use Time::HiRes qw(usleep);

my $corpora = $ENV{PASSAGES_CORPORA} // 48;
my $dir = PostgreSQL::Test::Utils::tempdir;

my $node = make_node('passages', [ allows_streaming => 'logical', extra => [ '--encoding=UTF8', '--no-locale' ] ],
	'restart_after_crash = on', 'max_wal_size = 1GB');
$node->start;
load_brute_force($node);

#
# Random collections.  A text is a list of words here, as the normalization leaves them; what
# is stored has capitals, punctuation and other spaces.
#
my $seed = 1;
srand($seed);

my @latin = qw(über straße été naïve ñandú garçon á ö ålesund);
my @kana = qw(いろは ちりぬる テキスト ひらがな);
my @han = split //, '天地玄黄宇宙洪荒日月盈昃辰宿列張東京都千代田区永田町';
my @cyrillic = qw(съешь ещё этих мягких булок чаю);
my %words = (
	UTF8 => [ [], \@latin, [ @kana, @han ], \@cyrillic, [ @latin, @kana, @han, @cyrillic, qw(한국어 ऋषियों εἶναι) ] ],
	LATIN1 => [ [], \@latin ],
	EUC_JP => [ [], [ @kana, @han ], [ @han, @cyrillic ] ],
	SQL_ASCII => [ [], \@latin ]);

sub pick { return $_[ rand @_ ] }

# Words of this collection: of a few or of thousands
sub vocabulary
{
	my ($encoding) = @_;
	my $size = int exp rand 8;
	return [ @{ pick(@{ $words{$encoding} }) }, map { "w$_" } 1 .. 1 + $size ];
}

sub some_words
{
	my ($vocabulary, $most) = @_;
	return map { pick(@$vocabulary) } 1 .. rand($most + 1);
}

# Texts with parts of earlier ones, whole, cut and changed
sub make_texts
{
	my ($vocabulary, $number, @earlier) = @_;
	my @texts;
	foreach (1 .. $number)
	{
		my @text = some_words($vocabulary, pick(0, 12, 13, 20, 60, 400));
		foreach (1 .. int rand 5)
		{
			my $other = (@earlier || @texts) ? pick(@earlier, @texts) : [];
			my $start = int rand(@$other + 1);
			my @part = @$other[ $start .. min_of($start + pick(11, 12, 13, 14, 20, 40, 400), $#$other) ];
			$part[ rand @part ] = 'changed' if @part && rand() < .3;
			splice @text, rand(@text + 1), 0, @part;
		}
		push @texts, \@text;
	}
	return @texts;
}

sub min_of { return $_[0] < $_[1] ? $_[0] : $_[1] }

# As it is stored, quoted
sub literal
{
	my ($encoding, $text) = @_;
	my $result = pick('', '', '"', '... ');
	foreach my $word (@$text)
	{
		my $capital = rand() < .2 && ($encoding ne 'SQL_ASCII' || $word !~ /[^a-z0-9]/) && $word ne 'straße';
		$result .= ($capital ? uc $word : $word) . pick((' ') x 6, ', ', ".\n", ' -- ', "\t");
	}
	return "'$result'";
}

sub runs
{
	my ($text) = @_;
	return map { join ' ', @$text[ $_ .. $_ + 12 ] } 0 .. $#$text - 12;
}

my ($differences, $pairs, $done) = ('', 0, 0);
foreach my $encoding (sort keys %words)
{
	my $database = lc $encoding;
	$node->safe_psql('postgres', "CREATE DATABASE $database ENCODING '$encoding' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
	my $script = "CREATE EXTENSION simhash; CREATE TABLE doc (id int, body text); CREATE TABLE query (id int, body text);\n"
	  . "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;\n";
	$script .= "SET client_encoding = 'UTF8';\n" if $encoding ne 'SQL_ASCII';
	my @wanted;
	foreach my $corpus (1 .. $corpora * ($encoding eq 'UTF8' ? .4 : .2))
	{
		my $vocabulary = vocabulary($encoding);
		my @docs = make_texts($vocabulary, 1 + int rand 40);
		my @queries = (make_texts($vocabulary, 10, @docs), pick(@docs));
		my (%docs_with, @answer);

		# built first, or filled with a list of pending entries or without
		my $options = pick('fastupdate = on', 'fastupdate = off');
		my $create = "CREATE INDEX doc_body ON doc USING gin (body simhash_passage_ops) WITH ($options);\n";
		my $first = rand() < .5;
		$script .= "DROP INDEX IF EXISTS doc_body; TRUNCATE doc, query;\n";
		$script .= $create if $first;
		foreach my $id (0 .. $#docs)
		{
			$script .= "INSERT INTO doc VALUES ($id, " . literal($encoding, $docs[$id]) . ");\n";
			$docs_with{$_}{$id} = 1 foreach runs($docs[$id]);
		}
		$script .= $create if !$first;
		foreach my $q (0 .. $#queries)
		{
			my %found = map { %{ $docs_with{$_} // {} } } runs($queries[$q]);
			$script .= "INSERT INTO query VALUES ($q, " . literal($encoding, $queries[$q]) . ");\n";
			push @answer, map { "$q-$_" } sort { $a <=> $b } keys %found;
			$pairs += keys %found;
		}
		push @wanted, "corpus $corpus: @answer";
		foreach my $condition ('doc.body ~& query.body', 'query.body ~& doc.body', 'simhash_shares_passage(query.body, doc.body)')
		{
			$script .= "SELECT 'corpus $corpus: ' || coalesce(string_agg(query.id || '-' || doc.id, ' ' ORDER BY query.id, doc.id), '')\n"
			  . "FROM query JOIN doc ON $condition;\n";
		}
		$done++;
	}
	utf8::encode($script);
	append_to_file("$dir/$database.sql", $script);
	my ($out, $err) = run_command([ 'psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), '-f', "$dir/$database.sql" ]);
	is($err =~ s/^.*NOTICE: .*\n?//mgr, '', "$encoding: no errors");
	is($out, join("\n", map { ($_) x 3 } @wanted), "$encoding: the pairs that share a run, by the index and without it");
	like($node->safe_psql($database, 'SET enable_seqscan = off; EXPLAIN SELECT FROM query JOIN doc ON doc.body ~& query.body'),
		qr/Bitmap Index Scan on doc_body/, "$encoding: the index was used");
}
cmp_ok($pairs, '>', 5 * $corpora, "there are pairs");
note("$done collections, $pairs pairs");

#
# A load of inserts, updates, deletes and VACUUM, with lists of pending entries and without
#
$node->safe_psql('postgres', q{
	-- 40 words of 30 lists that overlap, and 20 of its own
	CREATE FUNCTION text_of(n bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
		SELECT string_agg(CASE WHEN i <= 40 THEN 'w' || hashint8extended((n % 30) * 9 + i, 0) ELSE 'own' || hashint8extended(n, i) END,
			' ' ORDER BY i) FROM generate_series(1, 60) i $$;
	CREATE TABLE pending (id bigint GENERATED ALWAYS AS IDENTITY, tenant int, body text);
	CREATE TABLE direct (LIKE pending INCLUDING IDENTITY);
	CREATE INDEX pending_body ON pending USING gin (body simhash_passage_ops) WITH (fastupdate = on, gin_pending_list_limit = 64);
	CREATE INDEX direct_body ON direct USING gin (body simhash_passage_ops) WITH (fastupdate = off);
	CREATE TABLE wanted AS SELECT n AS id, text_of(n) AS body FROM generate_series(1, 30) n
	UNION ALL SELECT 30 + n, 'short ' || n FROM generate_series(1, 3) n;
	ANALYZE wanted;
});
my %load = ('load@30' => q{
\set n random(1, 1000000)
INSERT INTO pending (tenant, body) SELECT i % 3, text_of(:n + i) FROM generate_series(1, 5) i;
INSERT INTO direct (tenant, body) SELECT i % 3, text_of(:n + i) FROM generate_series(1, 5) i;
UPDATE pending SET body = text_of(:n) WHERE id = (SELECT max(id) - 20 FROM pending);
UPDATE direct SET body = text_of(:n) WHERE id = (SELECT max(id) - 20 FROM direct);
}, 'change@1' => q{
DELETE FROM pending WHERE id % 7 = 0 AND id > (SELECT max(id) - 300 FROM pending);
DELETE FROM direct WHERE id % 7 = 0 AND id > (SELECT max(id) - 300 FROM direct);
VACUUM pending;
VACUUM direct;
});

sub start_load
{
	return start_pgbench($node, \%load, '--client=4', '--max-tries=100', '--transactions=1000000')->{handle};
}

sub wait_for_rows
{
	my ($more) = @_;
	my $size = $node->safe_psql('postgres', 'SELECT coalesce(max(id), 0) FROM pending');
	$node->poll_query_until('postgres', "SELECT max(id) > $size + $more FROM pending") or die 'the rows do not come';
	return;
}

# An index finds what the function finds in the table itself.
sub is_same
{
	my ($at, $what, $table, $index, $condition, $database) = @_;
	$condition //= 'true';
	$database //= 'postgres';
	my $join = "SELECT q.id, d.id FROM wanted q JOIN $table d ON d.body ~& q.body AND $condition";
	my $truth = "SELECT q.id, d.id FROM wanted q JOIN $table d ON simhash_shares_passage(d.body, q.body) AND $condition";
	my $off = 'SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;';
	like($at->safe_psql($database, "$off EXPLAIN $join"), qr/Bitmap Index Scan on $index/, "$what: the index of $table is used");
	is( $at->safe_psql($database, qq{$off
			WITH found AS MATERIALIZED ($join), truth AS MATERIALIZED ($truth)
			SELECT (SELECT count(*) > 50 FROM truth), (SELECT count(*) FROM (TABLE truth EXCEPT ALL TABLE found) s),
				(SELECT count(*) FROM (TABLE found EXCEPT ALL TABLE truth) s)}),
		't|0|0', "$what: the index of $table finds the same rows as without it");
	return;
}

foreach my $round (1 .. 2)
{
	my $load = start_load();
	wait_for_rows(500);
	if ($round == 2)
	{
		$node->safe_psql('postgres', "CREATE INDEX CONCURRENTLY ${_}_later ON $_ USING gin (body simhash_passage_ops); DROP INDEX ${_}_body")
		  foreach 'pending', 'direct';
		$node->safe_psql('postgres', "ALTER INDEX pending_later RENAME TO pending_body; ALTER INDEX direct_later RENAME TO direct_body;
			ALTER INDEX direct_body SET (fastupdate = off)");
		wait_for_rows(200);
	}
	$node->stop('immediate');
	eval { $load->finish };
	$node->start;
	is_same($node, "crash $round", $_, "${_}_body") foreach 'pending', 'direct';
}

#
# On a standby, behind logical replication, from a dump
#
my $standby = make_standby($node);
$standby->start;
my $load = start_load();
wait_for_rows(300);
$load->kill_kill;
$load->finish;
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'pgbench'") or die 'pgbench goes on';
$node->wait_for_catchup($standby);
is_same($_, $_->name, 'pending', 'pending_body'), is_same($_, $_->name, 'direct', 'direct_body') foreach $node, $standby;
$standby->stop;

is_restored($node, 'postgres', 'restored');
is_same($node, 'restored', 'pending', 'pending_body', 'true', 'restored');
$node->safe_psql('postgres', 'CREATE DATABASE subscriber');
$node->safe_psql('postgres', 'ALTER TABLE direct ADD PRIMARY KEY (id); CREATE PUBLICATION pub FOR TABLE direct');
$node->safe_psql('subscriber', q{CREATE EXTENSION simhash; CREATE TABLE direct (id bigint PRIMARY KEY, tenant int, body text);
	CREATE TABLE wanted (id bigint, body text); CREATE INDEX direct_body ON direct USING gin (body simhash_passage_ops)});
$node->safe_psql('postgres', "SELECT pg_create_logical_replication_slot('sub', 'pgoutput')");
$node->safe_psql('subscriber', "CREATE SUBSCRIPTION sub CONNECTION '" . $node->connstr . " dbname=postgres' PUBLICATION pub WITH (create_slot = false)");
$node->wait_for_subscription_sync($node, 'sub', 'subscriber');
$node->safe_psql('postgres', 'INSERT INTO direct (tenant, body) SELECT 1, body FROM wanted; DELETE FROM direct WHERE id % 5 = 0;
	UPDATE direct SET body = text_of(id) WHERE id % 11 = 0');
$node->wait_for_catchup('sub');
$node->safe_psql('subscriber', 'INSERT INTO wanted ' . join ' UNION ALL ', map { "SELECT $_->[0], '$_->[1]'" }
	map { [ split /\|/ ] } split /\n/, $node->safe_psql('postgres', 'SELECT * FROM wanted'));
is_same($node, 'replicated', 'direct', 'direct_body', 'true', 'subscriber');
is($node->safe_psql('subscriber', 'SELECT count(*), sum(hashtext(body)) FROM direct'),
	$node->safe_psql('postgres', 'SELECT count(*), sum(hashtext(body)) FROM direct'), 'all rows were replicated');
$node->safe_psql('subscriber', 'DROP SUBSCRIPTION sub');

#
# Partitions, and several columns
#
$node->safe_psql('postgres', q{
	CREATE TABLE parted (id bigint, tenant int, body text) PARTITION BY LIST (tenant);
	CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0);
	CREATE TABLE parted_rest PARTITION OF parted DEFAULT;
	CREATE INDEX ON parted USING gin (body simhash_passage_ops);
	INSERT INTO parted SELECT * FROM direct;
	CREATE TABLE parted_7 (id bigint, tenant int, body text);
	INSERT INTO parted_7 SELECT id, 7, body FROM pending LIMIT 100;
	ALTER TABLE parted ATTACH PARTITION parted_7 FOR VALUES IN (7);
});
is_same($node, 'partitions', 'parted', 'parted_rest_body');
SKIP:
{
	skip 'there is no btree_gin', 2
	  if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'btree_gin'}) eq '0';
	$node->safe_psql('postgres', 'CREATE EXTENSION btree_gin; DROP INDEX direct_body;
		CREATE INDEX direct_columns ON direct USING gin (tenant, body simhash_passage_ops)');
	is_same($node, 'several columns', 'direct', 'direct_columns', 'd.tenant = 1');
}

#
# Long texts, in little memory, until they are cancelled
#
$node->safe_psql('postgres', q{
	CREATE TABLE long (id int, body text);
	INSERT INTO long SELECT 1, string_agg('n' || i, ' ') FROM generate_series(1, 1000000) i;
	INSERT INTO long SELECT 2, string_agg('m' || i, ' ') FROM generate_series(1, 1000000) i;
	CREATE INDEX long_body ON long USING gin (body simhash_passage_ops) WITH (fastupdate = off);
	CREATE FUNCTION ended(boolean) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'it has ended'; RETURN $1; END $$;
});
is($node->safe_psql('postgres', "SET work_mem = '64kB'; SET hash_mem_multiplier = 1; SET temp_file_limit = '100MB';
		SELECT a.body ~& b.body, round(simhash_containment(a.body, b.body || ' n1 n2 n3') * 999998) FROM long a, long b WHERE a.id = 1 AND b.id = 2"),
	'f|1', 'texts of 8 MB are compared');
is( $node->safe_psql('postgres', q{SET enable_seqscan = off; SELECT id, pg_column_size(body || '') > 7e6 FROM long
		WHERE body ~& 'so n999980 n999981 n999982 n999983 n999984 n999985 n999986 n999987 n999988 n999989 n999990 n999991 n999992'}),
	'1|t', 'a quote from a text of 8 MB');
is( $node->safe_psql('postgres', q{
		WITH part AS (SELECT string_agg('n' || i, ' ' ORDER BY i) AS words FROM generate_series(200001, 400000) i)
		SELECT a_word, b_word, p.words, passage = part.words FROM part, long, simhash_passages(body, 'so ' || part.words) p WHERE id = 1}),
	'200001|2|200000|t', 'and a passage of 1 MB');
foreach my $call ('a.body ~& b.body', 'simhash_containment(a.body, b.body) > 0')
{
	# one call, which hashes 16 MB in little memory: if it is not cancelled, what follows it is
	my ($ret, $out, $err) = $node->psql('postgres', "SET work_mem = '64kB'; SET hash_mem_multiplier = 1;
		SET statement_timeout = '50ms'; SELECT ended($call) FROM long a, long b WHERE a.id = 1 AND b.id = 2");
	like($err, qr/canceling statement due to statement timeout/, "$call is cancelled");
	unlike($err, qr/NOTICE|ended/, 'and does not go on to its end');
}

$node->stop;
done_testing();
