# DBD::Pg, with and without statements prepared by the server
use strict;
use warnings;
use DBI;
use DBD::Pg qw(:pg_types);

sub check
{
	my ($what, $got, $expected) = @_;
	print $got eq $expected ? "ok - $what\n" : "not ok - $what: $got\n";
}

sub run
{
	my ($mode, $prepare) = @_;
	my $dbh = DBI->connect('dbi:Pg:', '', '', { RaiseError => 1, PrintError => 0 });
	$dbh->{pg_server_prepare} = $prepare;
	my $values = sub {
		my ($query, @args) = @_;
		return join ' ', map { @$_ } @{ $dbh->selectall_arrayref($query, undef, @args) };
	};

	my $fp = '17841137466214345717';
	$dbh->do('INSERT INTO docs VALUES (?, ?::simhash)', undef, 10, $fp);

	my $near = $dbh->selectall_arrayref('
		SELECT id, fp <~> $1::simhash AS distance FROM docs
		 WHERE fp <~> $1::simhash <= $2::int
		 ORDER BY fp <~> $1::simhash LIMIT 10', undef, $fp, 3);

	my $some = $dbh->selectcol_arrayref(
		'SELECT id FROM docs WHERE fp % ANY (?::simhash[])', undef, [ $fp, 1 ]);

	my $sth = $dbh->prepare('
		SELECT simhash_minhash(?::text), simhash_minhash(?::bytea),
		       simhash_minhash(?::text[]), simhash_minhash(?::bigint[])');
	$sth->bind_param(2, pack('H*', '00015c2780ff616263646566'), { pg_type => PG_BYTEA });
	$sth->bind_param(1, 'hello world');
	$sth->bind_param(3, [ 'alpha', 'beta' ]);
	$sth->bind_param(4, [ -1, -1, 5 ]);
	$sth->execute;
	my @computed = $sth->fetchrow_array;
	$sth->finish;

	my ($text, $signed) = $dbh->selectrow_array('SELECT fp, fp::bigint FROM docs WHERE id = 10');
	my $same = unpack('Q', pack('q', $signed));

	check("$mode: nearest first", join(' ', map { $_->[1] } @$near), '0 0 1');
	check("$mode: any of an array", join(' ', sort { $a <=> $b } @$some), '1 2 3 10');
	check("$mode: computed", "@computed",
		'3568961919840134528 720769818233651409 7023365908306380860 18218831152844919349');
	check("$mode: read exactly", "$text $same", "$fp $fp");

	my $equal = 'SELECT fp::text FROM docs WHERE fp = ?::simhash LIMIT 1';
	check("$mode: written as $_", $values->($equal, $_), $fp)
	  for 0 + $fp, unpack('q', pack('Q', $fp)), '0xF79873FFC69E6BF5';
	check("$mode: array of numbers",
		$values->('SELECT id FROM docs WHERE fp = ANY (?::simhash[]) ORDER BY 1',
			[ unpack('q', pack('Q', $fp)), 1 ]), '1 3 10');
	check("$mode: an index by its name",
		$values->('SELECT count(*) > 0 FROM simhash_find_all(?::regclass)', 'docs_fp'), 1);

	my $body = 'The Harbor Bridge is closed until Monday; and buses take the tunnel!';
	my $alike = $dbh->selectcol_arrayref('SELECT id FROM texts WHERE body =~= ?', undef, $body);

	my $pdq = pack('H*', '0f' x 32);
	$dbh->do('INSERT INTO images VALUES (?, ?)', undef, 10, unpack('H*', $pdq));
	my $images = $dbh->selectall_arrayref(
		'SELECT id, pdq FROM images WHERE pdq <~> ?::simhash_bits(256) <= ?::int ORDER BY id',
		undef, unpack('H*', $pdq), 31);
	my $first = pack('H*', $images->[0][1]);

	$sth = $dbh->prepare('SELECT id, pdq::bytea FROM images WHERE pdq % ?::bytea::simhash_bits ORDER BY id');
	$sth->bind_param(1, $pdq, { pg_type => PG_BYTEA });
	$sth->execute;
	my $by_bytes = $sth->fetchall_arrayref;

	check("$mode: a text", "@$alike", '1');
	check("$mode: any of some texts",
		$values->('SELECT id FROM texts WHERE body =~= ANY (?::text[])', [ $body, '...' ]), '1');
	check("$mode: hexadecimal digits", join(' ', map { $_->[0] } @$images), '1 2 10');
	check("$mode: read as digits", $first, $pdq);
	check("$mode: bytes", join(' ', map { $_->[0] } @$by_bytes), '1 2 10');
	check("$mode: read as bytes", $by_bytes->[0][1], $pdq);
	check("$mode: array of digits",
		$values->('SELECT id FROM images WHERE pdq % ANY (?::simhash_bits[]) ORDER BY id',
			[ '0f' x 32, 'f0' x 32 ]), '1 2 3 10');
	{
		local $@;
		eval { $values->('SELECT ?::simhash_bits(256)', '0f' x 31) };
		check("$mode: too few digits", $dbh->state, '22026');
	}
	$dbh->do('DELETE FROM images WHERE id >= 10');

	# what the page warns of
	check("$mode: array taken as text",
		$values->('SELECT simhash_minhash(?)::text', [ 'alpha', 'beta' ]),
		$values->(q(SELECT simhash_minhash('{"alpha","beta"}'::text)::text)));
	check("$mode: bytes taken as text", $values->('SELECT simhash_minhash(?)::text', '\x4142'),
		$values->(q(SELECT simhash_minhash('\x4142'::text)::text)));
	check("$mode: bytes without their type",
		$values->('SELECT simhash_minhash(?::bytea)::text', 'alpha\101tagaga'),
		$values->(q(SELECT simhash_minhash('alphaAtagaga'::bytea)::text)));
	{
		local $@;
		eval { $values->('SELECT simhash_compute(?, ?)', 'hello world', 3) };
		check("$mode: simhash_compute, text and shingle without types", $dbh->state, '42725');
	}

	$dbh->do('INSERT INTO corpus (body) VALUES (?) ON CONFLICT DO NOTHING', undef, $_)
	  for 'hello world', 'Hello, world!';
	check("$mode: kept out", $values->('SELECT body FROM corpus'), 'hello world');

	$dbh->do('COPY docs (id, fp) FROM STDIN');
	$dbh->pg_putcopydata("20\t$fp\n");
	$dbh->pg_putcopydata("21\t-1\n");
	$dbh->pg_putcopyend;
	check("$mode: COPY", $values->('SELECT fp::text FROM docs WHERE id >= 20 ORDER BY id'),
		"$fp 18446744073709551615");
	$dbh->do('DELETE FROM docs WHERE id >= 10');
	$dbh->disconnect;
}

run('prepared', 1);
run('not prepared', 0);
