# Logical replication: of rows that only their values tell apart, balls and
# fingerprints among them, and from a bigint column into one of fingerprints.

use lib 'test/t';
use SimhashTest;

my $publisher = make_node('publisher', [ allows_streaming => 'logical' ]);
$publisher->start;
my $subscriber = make_node('subscriber', [ allows_streaming => 'logical' ], "wal_retrieve_retry_interval = '10ms'");
$subscriber->start;

my $watches = q{
	CREATE TABLE watches (id int PRIMARY KEY, ball simhash_ball, fp simhash, note text);
};
$publisher->safe_psql('postgres', qq{
	CREATE EXTENSION simhash;
	$watches
	CREATE TABLE images (id integer PRIMARY KEY, h bigint);
	INSERT INTO watches VALUES (1, '(1,3)', '5', 'a'), (2, '(1,3)', '5', 'b'), (3, '(-1,0)', '-59', 'c'), (4, NULL, NULL, 'd');
	INSERT INTO images VALUES (1, -59), (2, 59), (3, -9223372036854775808), (4, NULL);
	CREATE PUBLICATION pub FOR TABLE watches, images;
});
$subscriber->safe_psql('postgres', qq{
	CREATE EXTENSION simhash;
	$watches
	CREATE TABLE images (id integer PRIMARY KEY, h simhash);
	CREATE INDEX images_h ON images USING simhash (h);
});
my $connection = $publisher->connstr . ' dbname=postgres';
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION sub CONNECTION '$connection' PUBLICATION pub");
$subscriber->wait_for_subscription_sync($publisher, 'sub');

is($subscriber->safe_psql('postgres', 'SELECT id, h FROM images ORDER BY id'),
	"1|18446744073709551557\n2|59\n3|9223372036854775808\n4|", 'what is there is copied, negative numbers bit for bit');

$publisher->safe_psql('postgres', q{
	UPDATE watches SET note = 'e' WHERE note = 'b';
	DELETE FROM watches WHERE ball::text = '(-1,0)';
	INSERT INTO watches VALUES (5, '(7,64)', -1, 'f');
	UPDATE watches SET ball = '(2,2)' WHERE ball IS NULL;
	INSERT INTO images VALUES (5, -1);
	UPDATE images SET h = -2 WHERE id = 2;
});
$publisher->wait_for_catchup('sub');

my $query = 'SELECT ball, fp, note FROM watches ORDER BY note';
is($subscriber->safe_psql('postgres', $query), $publisher->safe_psql('postgres', $query),
	'balls and fingerprints are replicated');
is( $subscriber->safe_psql('postgres', q{SELECT id, h FROM images WHERE h % -1 ORDER BY id}),
	"2|18446744073709551614\n5|18446744073709551615", 'changes of a bigint column arrive as fingerprints');
is($subscriber->safe_psql('postgres', q{SELECT simhash_index_check('images_h', true)}), '', 'the index is sound');

# A near-duplicate of a row that the subscriber has stops replication until that row is gone.
$subscriber->safe_psql('postgres', 'ALTER TABLE images ADD EXCLUDE USING simhash (h WITH %) WHERE (id > 5); INSERT INTO images VALUES (10, 4095)');
my $log = -s $subscriber->logfile;
$publisher->safe_psql('postgres', 'INSERT INTO images VALUES (11, 4094), (12, 0)');
ok($subscriber->poll_query_until('postgres', q{SELECT apply_error_count > 0 FROM pg_stat_subscription_stats}), 'a near-duplicate is refused');
like(slurp_file($subscriber->logfile, $log), qr/violates exclusion constraint "images_h_excl"/, 'with the error of the constraint');
is($subscriber->safe_psql('postgres', 'SELECT id FROM images WHERE id > 5'), '10', 'and nothing comes after it');
$subscriber->safe_psql('postgres', 'DELETE FROM images WHERE id = 10');
$publisher->wait_for_catchup('sub');
is($subscriber->safe_psql('postgres', 'SELECT id FROM images WHERE id > 5 ORDER BY id'), "11\n12", 'until the row is deleted');

$subscriber->stop;
$publisher->stop;
done_testing();
