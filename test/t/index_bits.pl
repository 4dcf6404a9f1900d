# Indexes of wide fingerprints, and of bands: constraints under concurrent inserts, a standby that
# verifies every replayed page, a crash, and a metapage with another width.

use lib 'test/t';
use SimhashTest;

my ($help) = run_command([ 'initdb', '--help' ]);
my $primary = start_node('primary',
	[ allows_streaming => 1, extra => [ $help =~ /--no-data-checksums/ ? '--no-data-checksums' : () ] ],
	"wal_consistency_checking = 'all'", 'max_wal_size = 1GB', 'wal_keep_size = 8GB');
my $standby = make_standby($primary);
$standby->start;

# half of the rows are near one of 200 others
$primary->safe_psql('postgres', q{
	CREATE FUNCTION draw() RETURNS simhash_bits LANGUAGE sql VOLATILE AS $$
		SELECT (CASE WHEN random() < 0.05 THEN NULL
			WHEN random() < 0.5 THEN flip_wide(wide('c' || floor(random() * 200)), floor(random() * 45)::int)
			ELSE wide(random()::text) END)::simhash_bits $$;
	CREATE TABLE kept (id bigint GENERATED ALWAYS AS IDENTITY, fp simhash_bits(256), EXCLUDE USING simhash (fp WITH %));
	CREATE TABLE free (id bigint GENERATED ALWAYS AS IDENTITY, tenant int, fp simhash_bits(256));
	CREATE INDEX free_fp ON free USING simhash (tenant, fp);
	CREATE DOMAIN four_bands AS simhash_bits(256);
	CREATE FUNCTION bands_of(simhash_bits) RETURNS four_bands LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
	BEGIN
		RETURN encode(set_byte(set_byte(set_byte(set_byte($1::bytea, 0, 0), 8, 0), 16, 0), 24, 0), 'hex');
	END $$;
	CREATE FUNCTION share(simhash_bits, simhash_bits) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000
	AS $$ BEGIN RETURN simhash_share_band(bands_of($1), bands_of($2), 12, 4); END $$;
	CREATE OPERATOR ~~~ (LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = share, COMMUTATOR = ~~~);
	CREATE OPERATOR CLASS bands_ops FOR TYPE simhash_bits USING simhash AS OPERATOR 412 ~~~, FUNCTION 3 bands_of(simhash_bits);
	CREATE TABLE apart (id bigint GENERATED ALWAYS AS IDENTITY, fp simhash_bits(256), EXCLUDE USING simhash (fp bands_ops WITH ~~~));
	CREATE TABLE banded (id bigint GENERATED ALWAYS AS IDENTITY, tenant int, fp simhash_bits(256));
	CREATE INDEX banded_fp ON banded USING simhash (tenant, fp bands_ops);
	CREATE VIEW of_tenant AS SELECT id, fp FROM free WHERE tenant = 1;
	CREATE TABLE wanted AS SELECT i AS qno, wide('c' || i)::simhash_bits AS fp FROM generate_series(1, 10) i;
	INSERT INTO radii VALUES (0), (31), (60);
});
my %script = (change => q{
\set part random(0, 19)
INSERT INTO kept (fp) SELECT draw() FROM generate_series(1, 5) ON CONFLICT DO NOTHING;
INSERT INTO apart (fp) SELECT draw() FROM generate_series(1, 3) ON CONFLICT DO NOTHING;
INSERT INTO banded (tenant, fp) SELECT i % 3, draw() FROM generate_series(1, 3) i;
INSERT INTO free (tenant, fp) SELECT i % 3, draw() FROM generate_series(1, 10) i;
DELETE FROM free WHERE id % 20 = :part AND id > (SELECT max(id) - 300 FROM free);
DELETE FROM banded WHERE id % 20 = :part AND id > (SELECT max(id) - 100 FROM banded);
DELETE FROM apart WHERE id % 20 = :part AND id > (SELECT max(id) - 100 FROM apart);
DELETE FROM kept WHERE id % 20 = :part AND id > (SELECT max(id) - 100 FROM kept);
});

# everything is found, and nothing that the constraint forbids
sub is_right
{
	my ($node, $what) = @_;
	is_sound($node, $what, 'kept_fp_excl', 'free_fp', 'apart_fp_excl', 'banded_fp');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM apart a JOIN apart b ON a.id < b.id AND share(a.fp, b.fp)'),
		'0', "$what: no two rows of the other constraint share a band");
	my @found = map { $node->safe_psql('postgres', "SET enable_seqscan = $_; SET enable_bitmapscan = off;
			SELECT count(*), sum(id) FROM banded b, wanted w WHERE b.fp ~~~ w.fp AND tenant IN (0, 2)") } ('on', 'off');
	is($found[1], $found[0], "$what: bands are found");
	is( $node->safe_psql('postgres', q{SELECT count(*) FROM kept a JOIN kept b ON a.id < b.id
			AND bit_count(a.fp::varbit # b.fp::varbit) <= 31}),
		'0', "$what: no two rows that were kept are near");
	$node->safe_psql('postgres', q{CALL expect_wide_lookups('of_tenant', 'wanted')}) if $node == $primary;
	$primary->wait_for_catchup($standby) if $node == $standby;
	is($node->safe_psql('postgres',
			q{SELECT compare_wide_lookups('free', 'free_fp', 't.fp <~> $q <= $r AND tenant = 1')}),
		'ok', "$what: the index finds the same rows as brute force");
	return;
}

run_pgbench($primary, 'concurrent changes', \%script, 8, 60);
is_right($primary, 'concurrent changes');
cmp_ok($primary->safe_psql('postgres', 'SELECT count(*) FROM kept'), '>', 500, 'many rows were kept');
$primary->safe_psql('postgres', 'VACUUM kept, free, apart, banded');
is_right($primary, 'after VACUUM');
$primary->wait_for_catchup($standby);
is_right($standby, 'standby');
$standby->stop;

# a crash in the middle
foreach my $round (1 .. 2)
{
	my $size = $primary->safe_psql('postgres', 'SELECT count(*) FROM free');
	my $run = start_pgbench($primary, \%script, '--client=4', '--transactions=1000000');
	$primary->poll_query_until('postgres', "SELECT count(*) > $size + 1000 FROM free")
	  or die 'the rows do not come';
	$primary->kill9;
	eval { $run->{handle}->finish };
	start_after_kill($primary);
	is_right($primary, "crash $round");
}

# The metapage says the width at byte 40.  Another one is refused before anything else
# is read.
my $file = $primary->data_dir . '/' . $primary->safe_psql('postgres', q{SELECT pg_relation_filepath('free_fp')});
$primary->stop;
my $sound = slurp_file($file);
foreach my $width (0, 64, 128, 255, 257, 512, 4096, 65535)
{
	my $image = $sound;
	substr($image, 40, 2) = pack('S', $width);
	open my $handle, '+<:raw', $file or die;
	print $handle $image;
	close $handle;
	$primary->start;
	foreach my $statement (
		q{SET enable_seqscan = off; SELECT count(*) FROM free WHERE tenant = 1 AND fp % wide('c1')::simhash_bits},
		q{INSERT INTO free (tenant, fp) VALUES (1, wide('c1')::simhash_bits)},
		q{SELECT simhash_index_check('free_fp')})
	{
		my ($status, $stdout, $stderr) = $primary->psql('postgres', "\\set VERBOSITY verbose\n$statement");
		like($stderr, qr/XX002: index "free_fp" has fingerprints of the wrong width in the metapage, block 0/,
			"width $width: $statement");
	}
	$primary->stop;
}
open my $handle, '+<:raw', $file or die;
print $handle $sound;
close $handle;
$primary->start;
is_right($primary, 'the sound index again');
$primary->stop;
done_testing();
