#!/usr/bin/perl
#
# generate_unicode.pl
#	Write unicode_table.c: the properties of characters, the canonical
#	decompositions and the case foldings that normalizing a text needs.
#
# usage: perl generate_unicode.pl [DIRECTORY] > unicode_table.c
#
# The data are read from the files of the Unicode Character Database, as Debian's package
# unicode-data has them, in a directory that is by default /usr/share/unicode.  The output
# names their version.  Fingerprints are stored for years, and another version of Unicode
# may give texts with new or changed characters another fingerprint.  That is why the
# output is kept in the repository, and not made again in each build.
#
# The notions are defined in unicode.h, and which characters are kept in doc/algorithm.md.

use strict;
use warnings;

my $directory = $ARGV[0] // '/usr/share/unicode';
my $block_bits = 7;
my $block_size = 1 << $block_bits;
my $last = 0x10FFFF;

# flags, as in unicode.h
my $kept = 1;
my $ignorable = 2;
my $ideograph = 4;
my $start = 8;
my $plain = 16;
my $decomposes_flag = 32;
my $second = 64;
my $unspaced = 128;

# scripts that are written without spaces between words
my %without_spaces = map { $_ => 1 } qw(Ahom Balinese Javanese Kawi Khitan_Small_Script
  Khmer Lao Myanmar New_Tai_Lue Nushu Tai_Le Tai_Tham Tai_Viet Tangut Thai Yi);

my @record_text = ('0, 0, 0');    # number 0 is replaced below
my %record_number;
my (@decompositions, @foldings, @zeros);

#
# The files of the database: fields between semicolons, the first of which is a code point
# or a range
#

sub read_file
{
	my ($name, $take) = @_;
	my $first;

	open my $file, '<', "$directory/$name" or die "$directory/$name: $!\n";
	while (my $line = <$file>)
	{
		$line =~ s/#.*//;
		my ($range, @fields) = map { s/^\s+|\s+$//gr } split /;/, $line, -1;
		next if !@fields;
		my ($from, $to) = map { hex } split /\.\./, $range;
		# ranges of UnicodeData.txt have two lines
		$first = $from if $fields[0] =~ /, First>$/;
		next if $fields[0] =~ /, First>$/;
		$from = $first if $fields[0] =~ /, Last>$/;
		$take->($from, $to // hex $range, @fields);
	}
	close $file;
	return;
}

# The code points for which a file has one of some values in the first field
sub property
{
	my ($name, @values) = @_;
	my %wanted = map { $_ => 1 } @values;
	my %result;

	read_file($name, sub {
		my ($from, $to, $value) = @_;
		@result{ $from .. $to } = ($value) x ($to - $from + 1) if $wanted{$value};
	});
	return \%result;
}

my (%category, %class, %decomposition, %fold);
read_file('UnicodeData.txt', sub {
	my ($from, $to, undef, $category, $class, undef, $decomposition, $decimal) = @_;
	@category{ $from .. $to } = ($category) x ($to - $from + 1);
	$class{$from} = $class if $class != 0;
	$decomposition{$from} = [ map { hex } split ' ', $decomposition ]
	  if $decomposition ne '' && $decomposition !~ /</;
	push @zeros, $from if $category eq 'Nd' && $decimal == 0;
	die sprintf("U+%04X: digit out of order\n", $from)
	  if $category eq 'Nd' && $from != $zeros[-1] + $decimal;
});
read_file('CaseFolding.txt', sub {
	my ($code, undef, $status, $folded) = @_;
	$fold{$code} = [ map { hex } split ' ', $folded ] if $status =~ /[CF]/;
});
my $script = property('Scripts.txt', 'Han', keys %without_spaces);
my $is_ignorable = property('DerivedCoreProperties.txt', 'Default_Ignorable_Code_Point');
my $is_noncharacter = property('PropList.txt', 'Noncharacter_Code_Point');
my $is_syntax = property('PropList.txt', 'Pattern_Syntax');
my $is_picture = property('emoji/emoji-data.txt', 'Extended_Pictographic');
my $is_excluded = property('DerivedNormalizationProps.txt', 'Full_Composition_Exclusion');

# pairs that are composed, apart from Hangul, and the second characters of them
my (%composite, %is_second);
foreach my $code (grep { !$is_excluded->{$_} } keys %decomposition)
{
	$composite{ join ' ', @{ $decomposition{$code} } } = $code;
	$is_second{ $decomposition{$code}[1] } = 1;
}

sub is_hangul_syllable
{
	my $code = shift;
	return $code >= 0xAC00 && $code <= 0xD7A3;
}

# Can this be the second character of a pair that is composed?
sub is_second
{
	my $code = shift;

	# vowels and final consonants of Hangul
	return $is_second{$code}
	  || ($code >= 0x1161 && $code <= 0x1175)
	  || ($code >= 0x11A8 && $code <= 0x11C2);
}

sub class
{
	return $class{ $_[0] } // 0;
}

# Canonical decomposition of a character, which needs no sorting
sub nfd
{
	my $code = shift;

	if (is_hangul_syllable($code))
	{
		my $index = $code - 0xAC00;
		my @result = (0x1100 + int($index / 588), 0x1161 + int($index % 588 / 28));
		push @result, 0x11A7 + $index % 28 if $index % 28 != 0;
		return @result;
	}
	return $decomposition{$code} ? map { nfd($_) } @{ $decomposition{$code} } : $code;
}

sub folded
{
	return map { @{ $fold{$_} // [$_] } } @_;
}

sub composed_pair
{
	my ($first, $second) = @_;

	return 0xAC00 + (($first - 0x1100) * 21 + $second - 0x1161) * 28
	  if $first >= 0x1100 && $first <= 0x1112 && $second >= 0x1161 && $second <= 0x1175;
	return $first + $second - 0x11A7
	  if is_hangul_syllable($first) && ($first - 0xAC00) % 28 == 0
	  && $second >= 0x11A8 && $second <= 0x11C2;
	return $composite{"$first $second"};
}

# Canonical composition of what is in canonical order
sub composed
{
	my (@result, $starter);
	my $last_class = 0;

	foreach my $code (@_)
	{
		my $class = class($code);
		my $pair = defined $starter && ($starter == $#result || $last_class < $class)
		  ? composed_pair($result[$starter], $code) : undef;
		if (defined $pair)
		{
			$result[$starter] = $pair;
			next;
		}
		push @result, $code;
		$starter = $#result if $class == 0;
		$last_class = $class;
	}
	return @result;
}

# The flags that a character has by itself, whatever it is normalized to
sub nature
{
	my $code = shift;
	my $category = $category{$code};
	my $script = $script->{$code} // '';

	return $ignorable if $is_ignorable->{$code};
	if (!defined $category)
	{
		return 0
		  if $is_noncharacter->{$code} || $is_picture->{$code} || $is_syntax->{$code}
		  || ($code >= 0x20A0 && $code <= 0x20CF);
		return $kept | $ideograph
		  if ($code >= 0x20000 && $code <= 0x3FFFF) || ($code >= 0xF900 && $code <= 0xFAFF);
		return $kept;
	}
	return 0 if $category !~ /^[LMN]/;
	return $kept | $ideograph if $script eq 'Han' && $category =~ /^[LN]/;
	return $kept | $unspaced if $without_spaces{$script} && $category =~ /^L/;
	return $kept;
}

# What is written for a character, before characters are dropped
sub normal
{
	return composed(folded(nfd($_[0])));
}

sub record_of
{
	my $code = shift;
	my ($flags, $class, $delta) = (0, 0, 0);

	# surrogates are not characters
	return number_of($start | $plain, 0, 0)
	  if $code >= 0xD800 && $code <= 0xDFFF;

	my @decomposed = nfd($code);
	my @normal = normal($code);
	my ($first_folded) = folded($decomposed[0]);

	$flags = nature($code);
	$class = class($code);

	my $decomposes = "@decomposed" ne $code;
	my $ends_in_iota = grep { $_ == 0x345 } @decomposed;
	my $begins = class($decomposed[0]) == 0 && !is_second($decomposed[0])
	  && class($first_folded) == 0 && !is_second($first_folded) && !is_second($normal[0]);
	$flags |= $start if $begins;
	$flags |= $second if is_second($code);

	if ($begins
		? !$ends_in_iota && @normal == 1 && nature($normal[0]) == nature($code)
		: $class > 0 && !is_second($code) && "@normal" eq $code && !$decomposes)
	{
		my $difference = $normal[0] - $code;

		# each of the compatibility ideographs would need a record of its own
		if (!($flags & $ideograph) || $difference == 0)
		{
			$flags |= $plain;
			$delta = $difference;
		}
	}

	if ($decomposes)
	{
		$flags |= $decomposes_flag;
		add_decomposition($code) if !is_hangul_syllable($code);
	}
	else
	{
		check_folding($code, $flags, $delta);
	}
	return number_of($flags, $class, $delta);
}

sub number_of
{
	my $text = join ', ', @_;

	if (!exists $record_number{$text})
	{
		$record_number{$text} = keys %record_number;
		$record_text[ $record_number{$text} ] = $text;
	}
	return $record_number{$text};
}

# One step of the decomposition: one character, or a pair whose first may
# decompose further
sub add_decomposition
{
	my $code = shift;
	my @codes = @{ $decomposition{$code} };

	die sprintf("U+%04X: odd decomposition\n", $code) if @codes < 1 || @codes > 2;
	die sprintf("U+%04X: second decomposes\n", $code) if @codes == 2 && $decomposition{ $codes[1] };
	push @decompositions, [ $code, $codes[0], $codes[1] // 0, !$is_excluded->{$code} ];
}

# Foldings are done on what does not decompose.  That may not have to be
# decomposed or sorted again.
sub check_folding
{
	my ($code, $flags, $delta) = @_;
	my @folded = folded($code);

	die sprintf("U+%04X: folding decomposes\n", $code) if grep { $decomposition{$_} } @folded;
	if ("@folded" eq $code)
	{
		die sprintf("U+%04X: not folded, but plain\n", $code) if $delta != 0;
		return;
	}
	die sprintf("U+%04X: folding is no starter\n", $code) if grep { class($_) != 0 } @folded;
	if ($flags & $plain)
	{
		die sprintf("U+%04X: not folded to the one that is written\n", $code)
		  if @folded != 1 || $folded[0] != $code + $delta;
		return;
	}
	die sprintf("U+%04X: folding is too long\n", $code) if @folded > 3;
	push @foldings, [ $code, $folded[0], $folded[1] // 0, $folded[2] // 0 ];
}

# What is in a row of an array, as many as fit on each line
sub print_values
{
	my $line = "\t";

	while (defined(my $value = shift))
	{
		$value .= ',' if @_;
		if (length($line) + length($value) > 95)
		{
			print $line =~ s/ $/\n/r;
			$line = "\t";
		}
		$line .= "$value ";
	}
	print $line =~ s/ $/\n/r;
}

# The same for numbers, of which many follow an equal one
sub print_numbers
{
	my @values;

	while (@_)
	{
		my $count = 1;
		$count++ while $count < @_ && $_[$count] == $_[0];
		for (my $times = 4096; $times > 1; $times /= 2)
		{
			next if $count < $times;
			push @values, "X$times($_[0])";
			splice @_, 0, $times;
			last;
		}
		push @values, shift if $count == 1;
	}
	print_values(@values);
}

sub hex_structure
{
	return '{' . join(', ', map { $_ == 0 ? 0 : sprintf '0x%X', $_ } @_) . '}';
}

my (@stage1, @stage2, %block_number);
for (my $first = 0; $first <= $last; $first += $block_size)
{
	my @block = map { record_of($_) } $first .. $first + $block_size - 1;
	my $key = join ',', @block;

	if (!exists $block_number{$key})
	{
		push @stage2, \@block;
		$block_number{$key} = $#stage2;
	}
	push @stage1, $block_number{$key};
}
die "too many records for one byte: " . @record_text . "\n" if @record_text > 256;
die "too many blocks for 16 bits\n" if @stage2 > 65536;

# the upper planes are all alike
pop @stage1 while @stage1 > 1 && $stage1[-1] == $stage1[-2];

my @ascii = map {
	nature($_) & $kept ? (normal($_))[0] : 0;
} 0 .. 127;

my @compositions = sort {
	$decompositions[$a][1] <=> $decompositions[$b][1]
	  || $decompositions[$a][2] <=> $decompositions[$b][2]
} grep { $decompositions[$_][3] } 0 .. $#decompositions;

open my $scripts, '<', "$directory/Scripts.txt" or die "$directory/Scripts.txt: $!\n";
my ($version) = <$scripts> =~ /Scripts-([0-9.]+)\.txt/ or die "no version in Scripts.txt\n";
print <<"END";
/*-------------------------------------------------------------------------
 *
 * unicode_table.c
 *	  Properties of characters, canonical decompositions and case foldings.
 *
 * Generated by generate_unicode.pl from Unicode $version.  Do not edit.
 * Of the data: Copyright (c) 1991-2025 Unicode, Inc.; see LICENSE.unicode.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/unicode.h"

/* a number so many times */
END
for (my $times = 2; $times <= 4096; $times *= 2)
{
	my $half = $times == 2 ? 'x' : sprintf 'X%d(x)', $times / 2;
	print "#define X$times(x)\t$half, $half\n";
}
print "\nconst uint8 shtext_ascii_fold[128] = {\n";
print_numbers(@ascii);
printf "};\n\nconst ShTextCharRecord shtext_records[%d] = {\n", scalar @record_text;
print_values(map { "{$_}" } @record_text);
printf "};\n\nconst uint32 shtext_nblocks = %d;\n", scalar @stage1;
printf "\nconst uint16 shtext_stage1[%d] = {\n", scalar @stage1;
print_numbers(@stage1);
printf "};\n\nconst uint8 shtext_stage2[%d * SHTEXT_BLOCK_SIZE] = {\n", scalar @stage2;
print_numbers(map { @$_ } @stage2);
printf "};\n\nconst int\tshtext_ndecompositions = %d;\n", scalar @decompositions;
printf "\nconst ShTextDecomposition shtext_decompositions[%d] = {\n", scalar @decompositions;
print_values(map { hex_structure(@$_[ 0 .. 2 ]) } @decompositions);
printf "};\n\nconst int\tshtext_ncompositions = %d;\n", scalar @compositions;
printf "\nconst uint16 shtext_compositions[%d] = {\n", scalar @compositions;
print_numbers(@compositions);
printf "};\n\nconst int\tshtext_nfoldings = %d;\n", scalar @foldings;
printf "\nconst ShTextFolding shtext_foldings[%d] = {\n", scalar @foldings;
print_values(map { sprintf '{0x%X, %s}', $$_[0], hex_structure(@$_[ 1 .. 3 ]) } @foldings);
printf "};\n\nconst int\tshtext_nzeros = %d;\n", scalar @zeros;
printf "\nconst uint32 shtext_zeros[%d] = {\n", scalar @zeros;
print_values(map { sprintf '0x%X', $_ } @zeros);
print "};\n";
