#!/usr/bin/perl
#
# generate_unicode.pl
#	Write unicode_table.c: the properties of characters, the canonical
#	decompositions and the case foldings that normalizing a text needs.
#
# usage: perl generate_unicode.pl > unicode_table.c
#
# The data come from Perl's own copy of the Unicode Character Database, so the
# version of Perl decides the version of Unicode; the output names it.
# Fingerprints are stored for years: another version of Unicode may give texts
# with new or changed characters another fingerprint.  That is why the output
# is kept in the repository, and not made again in each build; Perl 5.36 makes
# it again as it is, byte by byte.
#
# The notions are defined in unicode.h.

use strict;
use warnings;
use feature qw(unicode_strings);

use Unicode::Normalize
  qw(NFC NFD getCombinClass getCanon isComp2nd isExclusion isSingleton isNonStDecomp);
use Unicode::UCD qw(charinfo prop_invmap);

my $block_bits = 7;
my $block_size = 1 << $block_bits;
my $last = 0x10FFFF;

# flags, as in unicode.h
my $kept = 1;
my $ignorable = 2;
my $ideograph = 4;
my $start = 8;
my $plain = 16;
my $decomposes = 32;
my $second = 64;

my @record_text = ('0, 0, 0');    # number 0 is replaced below
my %record_number;
my (@decompositions, @foldings);

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
	return isComp2nd($code)
	  || ($code >= 0x1161 && $code <= 0x1175)
	  || ($code >= 0x11A8 && $code <= 0x11C2);
}

# The flags that a character has by itself, whatever it is normalized to
sub nature
{
	my $char = shift;

	return $ignorable if $char =~ /\p{Default_Ignorable_Code_Point}/;
	return 0 if $char !~ /[\p{L}\p{M}\p{N}]/;
	return $kept | $ideograph
	  if $char =~ /\p{Script=Han}/ && $char =~ /[\p{L}\p{N}]/;
	return $kept;
}

# What is written for a text, before characters are dropped
sub normal
{
	return NFC(CORE::fc(NFD($_[0])));
}

sub record_of
{
	my $code = shift;
	my ($flags, $class, $delta) = (0, 0, 0);

	# surrogates are not characters
	return number_of($start | $plain, 0, 0)
	  if $code >= 0xD800 && $code <= 0xDFFF;

	my $char = chr($code);
	my $decomposed = NFD($char);
	my $normal = normal($char);

	$flags = nature($char);
	$class = getCombinClass($code);

	my $first = ord($decomposed);
	my $ends_in_iota = $decomposed =~ /\x{345}/;
	my $begins =
	  getCombinClass($first) == 0 && !is_second($first)
	  && getCombinClass(ord CORE::fc(chr $first)) == 0
	  && !is_second(ord CORE::fc(chr $first))
	  && !is_second(ord $normal);
	$flags |= $start if $begins;
	$flags |= $second if is_second($code);

	if ($begins
		? !$ends_in_iota && length($normal) == 1 && nature($normal) == nature($char)
		: $class > 0 && !is_second($code) && $normal eq $char && $decomposed eq $char)
	{
		my $difference = ord($normal) - $code;

		# each of the compatibility ideographs would need a record of its own
		if (!($flags & $ideograph) || $difference == 0)
		{
			$flags |= $plain;
			$delta = $difference;
		}
	}

	if ($decomposed ne $char)
	{
		$flags |= $decomposes;
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
	my $step = charinfo($code)->{decomposition};

	my @codes = map { hex } split ' ', $step;
	die sprintf("U+%04X: odd decomposition\n", $code)
	  if @codes < 1 || @codes > 2 || $step =~ /</;
	die sprintf("U+%04X: second decomposes\n", $code)
	  if @codes == 2 && NFD(chr $codes[1]) ne chr $codes[1];
	my $composes =
	  @codes == 2 && !isExclusion($code) && !isNonStDecomp($code) && !isSingleton($code);
	push @decompositions, [ $code, $codes[0], $codes[1] // 0, $composes ];
}

# Foldings are done on what does not decompose.  That may not have to be
# decomposed or sorted again.
sub check_folding
{
	my ($code, $flags, $delta) = @_;
	my $char = chr($code);
	my $folded = CORE::fc($char);

	die sprintf("U+%04X: folding decomposes\n", $code)
	  if NFD($folded) ne $folded;
	if ($folded eq $char)
	{
		die sprintf("U+%04X: not folded, but plain\n", $code) if $delta != 0;
		return;
	}
	for my $f (split //, $folded)
	{
		die sprintf("U+%04X: folding is no starter\n", $code)
		  if getCombinClass(ord $f) != 0;
	}
	if ($flags & $plain)
	{
		die sprintf("U+%04X: not folded to the one that is written\n", $code)
		  if length($folded) != 1 || ord($folded) != $code + $delta;
		return;
	}
	die sprintf("U+%04X: folding is too long\n", $code) if length($folded) > 3;
	my @codes = map { ord } split //, $folded;
	push @foldings, [ $code, $codes[0], $codes[1] // 0, $codes[2] // 0 ];
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
	my $folded = normal(chr);
	nature(chr) & $kept ? ord $folded : 0;
} 0 .. 127;

my @compositions = sort {
	$decompositions[$a][1] <=> $decompositions[$b][1]
	  || $decompositions[$a][2] <=> $decompositions[$b][2]
} grep { $decompositions[$_][3] } 0 .. $#decompositions;

my $version = Unicode::UCD::UnicodeVersion();
print <<"END";
/*-------------------------------------------------------------------------
 *
 * unicode_table.c
 *	  Properties of characters, canonical decompositions and case foldings.
 *
 * Generated by generate_unicode.pl from Unicode $version.  Do not edit.
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
print "};\n";
