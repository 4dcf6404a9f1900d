# The extension and the reference implementation in Python give the same
# fingerprints, of real texts and of random input of every form.

use lib 'test/t';
use Encode qw(encode_utf8);
use JSON::PP;
use Cwd qw(realpath);
use IO::Uncompress::Gunzip qw(gunzip);
use File::Find;
use SimhashTest;

my $test = "$FindBin::RealBin/..";
my $dir = PostgreSQL::Test::Utils::tempdir;
my @python = ('python3', '-B');

my $usable = 'import sys; assert sys.version_info >= (3, 10)';
plan skip_all => 'there is no python3 of version 3.10 or later'
  if system("python3 -c '$usable' 2>/dev/null") != 0;

my $enough = 4000;			# texts for the default form
my $longest = 4000;				# bytes of one of them

#
# Real texts, as byte strings of UTF-8
#

# One-line descriptions, or whole ones, of Debian's packages
sub package_descriptions
{
	my ($want) = @_;
	my @texts;
	local $/ = '';
	open my $pipe, '-|', 'apt-cache dumpavail 2>/dev/null' or return;
	while (@texts < $want and my $record = <$pipe>)
	{
		push @texts, $1
		  if $record =~ /^Description(?:-en)?: (.*(?:\n .*)*)/m;
	}
	# it may not have come to its end
	close $pipe;
	return @texts;
}

# All files below some directories with names that match, evenly chosen
sub files
{
	my ($want, $pattern, @directories) = @_;
	my @files;
	@directories = map { realpath($_) } grep { -d } @directories or return;
	find({ no_chdir => 1,
		   preprocess => sub { sort @_ },
		   wanted => sub { push @files, $_ if $_ =~ $pattern && -f && -r _ }
		 },
		@directories);
	my $step = @files > $want ? @files / $want : 1;
	return map { $files[ $_ * $step ] } 0 .. @files / $step - 1;
}

# What programs say in other languages: translations from gettext's catalogs,
# several at a time
sub translations
{
	my ($want) = @_;
	my @texts;
	foreach my $file (
		files($want / 5, qr/\.mo$/, '/usr/share/locale', '/usr/share/locale-langpack'))
	{
		my $catalog = slurp_file($file);
		next if length $catalog < 20;
		my ($magic, $version, $number, $originals, $table) = unpack 'V5', $catalog;
		next if $magic != 0x950412de;
		my @messages;
		# the first is a header
		foreach my $i (1 .. $number - 1)
		{
			my ($length, $offset) = unpack 'VV', substr($catalog, $table + 8 * $i, 8);
			push @messages, substr($catalog, $offset, $length) if $length < 2000;
		}
		push @texts, map { @messages ? join "\n", splice @messages, 0, 1 + 3 * $_ : () } 0 .. 4;
	}
	return @texts;
}

# Manual pages and other documentation, their beginnings
sub documents
{
	my ($want) = @_;
	my @texts;
	foreach my $file (
		files($want, qr/\.gz$|\.txt$|copyright$|README/, '/usr/share/man', '/usr/share/doc'))
	{
		my $text = slurp_file($file);
		if ($file =~ /\.gz$/)
		{
			my $packed = $text;
			gunzip(\$packed => \$text) or next;
		}
		push @texts, $text;
	}
	return @texts;
}

# Paragraphs of Perl's own library
sub paragraphs
{
	my ($want) = @_;
	my (@texts, %seen);
	foreach my $file (files(1000, qr/\.p(od|m)$/, grep { !ref && m{^/} } @INC))
	{
		push @texts, grep { /\w{3}/ && !$seen{$_}++ } split /\n\s*\n/, slurp_file($file);
		last if @texts >= $want;
	}
	return @texts;
}

# At most that many of them, cut to the length, without what is no text
my %known;
my @texts;
sub take
{
	my ($kind, $want, @candidates) = @_;
	my $taken = 0;
	foreach my $text (@candidates)
	{
		last if $taken >= $want;
		$text = substr $text, 0, $longest;
		$text =~ s/[\xc0-\xff][\x80-\xbf]{0,2}\z//;		# cut in a character
		next if $text =~ /\0/ or not utf8::decode(my $copy = $text);
		# what Perl takes for UTF-8 and others do not
		next if $text =~ /\xed[\xa0-\xbf]|[\xf5-\xff]|\xf4[\x90-\xbf]/;
		next if $known{$text}++;
		push @texts, $text;
		$taken++;
	}
	note("$taken $kind");
	return;
}

take('package descriptions', 3000, package_descriptions(4000));
take('translations', 1500, translations(2000));
take('documents', 1000, documents(1500));
take('paragraphs', 5000 - @texts, paragraphs(8000)) if @texts < 5000;

sub json
{
	my ($text) = @_;
	$text =~ s/(["\\\x00-\x1f])/sprintf '\\u%04x', ord $1/ge;
	return qq{"$text"};
}

#
# Both implementations, on files of one JSON value a line
#

my $node = make_node('reference', [ extra => [ '--encoding=UTF8', '--no-locale' ] ]);
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION simhash;
	CREATE TABLE requests (id bigint GENERATED ALWAYS AS IDENTITY, request json);

	CREATE FUNCTION elements(list json) RETURNS text[] LANGUAGE sql IMMUTABLE
	BEGIN ATOMIC
		SELECT CASE json_typeof(list) WHEN 'array'
			THEN ARRAY(SELECT value FROM json_array_elements_text(list) WITH ORDINALITY ORDER BY ordinality) END;
	END;

	CREATE FUNCTION lexemes(list json) RETURNS tsvector LANGUAGE sql IMMUTABLE
	BEGIN ATOMIC
		SELECT coalesce(string_agg(quote_literal(key)
			|| CASE WHEN json_array_length(value) > 0 THEN ':' ELSE '' END
			|| array_to_string(elements(value), ','), ' '), '')::tsvector
		FROM json_each(list);
	END;

	-- the same as evaluate() in simhash_reference.py
	CREATE FUNCTION evaluate(request json) RETURNS text LANGUAGE sql IMMUTABLE
	BEGIN ATOMIC
		SELECT CASE
			WHEN json_typeof(request) = 'string'
				THEN simhash_compute(request #>> '{}')::text
			WHEN function = 'minhash'
				THEN CASE
					WHEN form = 'text' AND shingle IS NULL
						THEN simhash_minhash(document)
					WHEN form = 'text'
						THEN simhash_minhash(document, shingle, unit)
					WHEN form = 'bytea' AND shingle IS NULL
						THEN simhash_minhash(decode(document, 'hex'))
					WHEN form = 'bytea'
						THEN simhash_minhash(decode(document, 'hex'), shingle)
					WHEN form = 'tsvector'
						THEN simhash_minhash(lexemes(request->'lexemes'))
					WHEN form = 'text[]'
						THEN simhash_minhash(elements(request->'features'))
					WHEN form = 'bigint[]'
						THEN simhash_minhash(elements(request->'hashes')::bigint[])
					END::text
			WHEN function = 'minhash_bits'
				THEN CASE
					WHEN form = 'text' AND shingle IS NULL
						THEN simhash_minhash_bits(document, bits)
					WHEN form = 'text'
						THEN simhash_minhash_bits(document, bits, shingle, unit)
					WHEN form = 'bytea' AND shingle IS NULL
						THEN simhash_minhash_bits(decode(document, 'hex'), bits)
					WHEN form = 'bytea'
						THEN simhash_minhash_bits(decode(document, 'hex'), bits, shingle)
					WHEN form = 'tsvector'
						THEN simhash_minhash_bits(lexemes(request->'lexemes'), bits)
					WHEN form = 'text[]'
						THEN simhash_minhash_bits(elements(request->'features'), bits)
					WHEN form = 'bigint[]'
						THEN simhash_minhash_bits(elements(request->'hashes')::bigint[], bits)
					END::text
			WHEN function = 'bands'
				THEN CASE
					WHEN form = 'text' AND shingle IS NULL
						THEN simhash_bands(document, minima => minima, bands => bands)
					WHEN form = 'text'
						THEN simhash_bands(document, shingle, unit, minima, bands)
					WHEN form = 'bytea' AND shingle IS NULL
						THEN simhash_bands(decode(document, 'hex'), minima => minima, bands => bands)
					WHEN form = 'bytea'
						THEN simhash_bands(decode(document, 'hex'), shingle, minima, bands)
					WHEN form = 'tsvector'
						THEN simhash_bands(lexemes(request->'lexemes'), minima, bands)
					WHEN form = 'text[]'
						THEN simhash_bands(elements(request->'features'), minima, bands)
					WHEN form = 'bigint[]'
						THEN simhash_bands(elements(request->'hashes')::bigint[], minima, bands)
					END::text
			WHEN form = 'text'
				THEN simhash_compute(document, shingle, unit)::text
			WHEN form = 'bytea'
				THEN simhash_compute(decode(document, 'hex'), shingle)::text
			WHEN form = 'tsvector'
				THEN simhash_compute(lexemes(request->'lexemes'))::text
			WHEN form = 'text[]'
				THEN simhash_compute(elements(request->'features'), elements(request->'weights')::float8[])::text
			WHEN form = 'bigint[]'
				THEN simhash_compute(elements(request->'hashes')::bigint[],
					elements(request->'weights')::float8[])::text
			WHEN form = 'hash'
				THEN simhash_hash(document)::text
			WHEN form = 'shingles'
				THEN array_to_string(simhash_shingles(document, shingle, unit), '|')
			WHEN form = 'jaccard'
				THEN round(simhash_jaccard(request->>'a', request->>'b', shingle, unit) * 1e9)::bigint::text
			WHEN form = 'containment'
				THEN round(simhash_containment(request->>'a', request->>'b', shingle, unit) * 1e9)::bigint::text
			WHEN form = 'title_bands'
				THEN simhash_title_bands(document)::text
			WHEN form = 'similar_titles'
				THEN simhash_similar_titles(request->>'a', request->>'b', coalesce((request->>'similarity')::float8, 0.7))::text
			WHEN form = 'passage_keys'
				THEN nullif(array_to_string(simhash_passage_keys(document), ' '), '')
			WHEN form = 'passages'
				THEN (SELECT string_agg(format('%s %s %s', a_word, b_word, words), '|' ORDER BY a_word)
					FROM simhash_passages(request->>'a', request->>'b', (request->>'min_words')::int))
			WHEN form = 'passage_words'
				THEN (SELECT string_agg(array_to_string(simhash_shingles(passage, 1, 'word'), ' '), '|' ORDER BY a_word)
					FROM simhash_passages(request->>'a', request->>'b', (request->>'min_words')::int))
			END
		FROM (VALUES (request->>'function', request->>'form', request->>'document', (request->>'shingle')::int,
			request->>'unit', (request->>'bits')::int, coalesce((request->>'minima')::int, 3),
			coalesce((request->>'bands')::int, 32)))
			AS r (function, form, document, shingle, unit, bits, minima, bands);
	END;
});

# Results of both for the requests in a file; their differences
sub compare
{
	my ($what, $file, $least) = @_;
	my @lines = split /\n/, slurp_file($file);
	cmp_ok(scalar(@lines), '>=', $least, "$what: there are enough");

	$node->safe_psql('postgres', 'TRUNCATE requests RESTART IDENTITY');
	# whole lines, whatever they hold
	my $whole = "(FORMAT csv, DELIMITER E'\\x02', QUOTE E'\\x01')";
	my $results = "SELECT coalesce(evaluate(request), 'NULL') FROM requests ORDER BY id";
	$node->command_ok(
		[ 'psql', '-X', '-q', '-d', 'postgres', '-v', 'ON_ERROR_STOP=1',
		  '-c', 'SET client_encoding = utf8',
		  '-c', "\\copy requests (request) FROM '$file' $whole",
		  '-c', "\\copy ($results) TO '$file.extension' $whole" ],
		"$what: extension");
	is(system("@python '$test/reference/simhash_reference.py' <'$file' >'$file.reference'"),
		0, "$what: reference");

	my @extension = split /\n/, slurp_file("$file.extension");
	my @reference = split /\n/, slurp_file("$file.reference");
	my @differ = grep { ($extension[$_] // 'nothing') ne ($reference[$_] // 'none') } 0 .. $#lines;
	is(scalar(@differ), 0, "$what: the same results");
	foreach my $i (grep { defined } @differ[ 0 .. 4 ])
	{
		diag($lines[$i]);
		diag('extension ' . ($extension[$i] // 'nothing') . ', reference ' . ($reference[$i] // 'none'));
	}
	my %results = map { $_ => 1 } @reference;
	cmp_ok(scalar(keys %results), '>', $least / 2, "$what: not the same all over");
	return;
}

sub requests_file
{
	my ($name, @requests) = @_;
	my $file = "$dir/$name";
	open my $handle, '>:raw', $file or die "$file: $!";
	print $handle map { "$_\n" } @requests;
	close $handle or die "$file: $!";
	return $file;
}

# Every so many of the texts
sub some
{
	my ($number, $from) = @_;
	my $step = @texts / $number;
	return map { json($texts[ ($from + $_ * $step) % @texts ]) } 0 .. $number - 1;
}

compare('default', requests_file('default', map { json($_) } @texts), $enough);

my $i = 0;
compare('words', requests_file('words', map {
	my $shingle = 1 + $i++ % 5;
	qq({"form": "text", "document": $_, "shingle": $shingle, "unit": "word"})
} some(2000, 0)), 2000);

compare('characters', requests_file('characters', map {
	my $shingle = 1 + $i++ % 64;
	qq({"form": "text", "document": $_, "shingle": $shingle, "unit": "char"})
} some(640, 1)), 640);

compare('features', requests_file('features', map {
	my $shingle = 1 + $i % 4;
	my $unit = $i++ % 3 ? 'word' : 'char';
	qq({"form": "shingles", "document": $_, "shingle": $shingle, "unit": "$unit"})
} some(500, 2)), 500);

# each text and its first half, if that is one
my @of_two;
foreach my $text (map { $texts[ $_ * @texts / 600 ] } 0 .. 599)
{
	my $half = substr $text, 0, length($text) / 2;
	$half =~ s/[\xc0-\xff][\x80-\xbf]{0,2}\z//;
	push @of_two, [ json($text), json($half) ] if utf8::decode(my $copy = $half);
}
foreach my $form ('jaccard', 'containment')
{
	compare($form, requests_file($form, map {
		my $shingle = 1 + $i % 4;
		my $unit = $i % 3 ? 'word' : 'char';
		my ($one, $other) = $i++ & 4 ? @$_ : reverse @$_;
		qq({"form": "$form", "a": $one, "b": $other, "shingle": $shingle, "unit": "$unit"})
	} @of_two), 300);
}

compare('keys of passages', requests_file('passage_keys', map {
	qq({"form": "passage_keys", "document": $_})
} grep { length > 300 } some(2000, 5)), 500);

compare('minhash, default', requests_file('minhash', map {
	qq({"function": "minhash", "form": "text", "document": $_})
} some(2000, 3)), 2000);

compare('minhash, words', requests_file('minhash_words', map {
	my $shingle = 1 + $i++ % 5;
	qq({"function": "minhash", "form": "text", "document": $_, "shingle": $shingle, "unit": "word"})
} some(2000, 4)), 2000);

# 1500 texts for each kind of fingerprint, and other forms
is(system("@python '$test/reference/random_requests.py' 1500 1 >'$dir/random'"), 0, 'random requests');
compare('random', "$dir/random", 7_500);

#
# Every code point, alone and before marks: the words, the numbers, and where the words behind it stand.
# b has these in reverse order, so that each is a passage.  Where they stand is asked without
# marks and with two.
#
my @marks = ('', '\u0301', '\u0338', '\u0323\u0345', '\u3099');
# ideographs, Hangul, private use, Tangut and Khitan: no mark combines with them
my @alone = ([ 0x3400, 0xA000 ], [ 0xAC00, 0xF900 ], [ 0x17000, 0x1B000 ], [ 0x20000, 0x110000 ]);
my @requests;
for (my $first = 0; $first < 0x110000; $first += 128)
{
	next if $first >= 0xD800 && $first < 0xE000;
	my $is_alone = grep { $first >= $_->[0] && $first < $_->[1] } @alone;
	foreach my $mark ($is_alone ? '' : @marks)
	{
		my $text = join ' ', map {
			my $c = $first + $_ == 0 ? '' : $first + $_ < 0x10000 ? sprintf '\u%04x', $first + $_ :
			  sprintf '\u%04x\u%04x', 0xD7C0 + ($first + $_ >> 10), 0xDC00 + ($first + $_ & 0x3FF);
			"a$c$mark" . ($first < 0x20000 ? " zzz$_" : '')
		} 0 .. 127;
		my $words = join ' - ', map { "zzz$_" } reverse 0 .. 127;
		push @requests, qq({"form": "shingles", "document": "$text", "shingle": 1, "unit": "word"});
		push @requests, qq({"form": "passage_words", "a": "$text", "b": "$words", "min_words": 1})
		  if $first < 0x20000 && ($mark eq '' || $mark eq '\u0323\u0345');
		push @requests, qq({"form": "title_bands", "document": "$text"}) if $first < 0x20000 && $mark eq '';
	}
}
compare('every code point', requests_file('every', @requests), 11_000);

#
# The vectors are what the reference gives; sql/text_vectors.sql asks the extension
#
my $vectors = "$test/vectors/vectors.jsonl";
is(system("@python '$test/reference/simhash_reference.py' <'$vectors' >'$dir/vectors'"), 0, 'the reference runs');
is(slurp_file("$dir/vectors"),
	join('', map { encode_utf8(decode_json($_)->{result} // 'NULL') . "\n" } split /\n/, slurp_file($vectors)),
	'the reference gives the pinned results');

$node->stop;
done_testing();
