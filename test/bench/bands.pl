#!/usr/bin/perl
#
# Passages of texts and edited copies of them, for test/bench/bands: rows for COPY with the kind
# of the edit and both texts.
#
# usage: perl bands.pl FILE PAIRS
#
# FILE has a name and a text on each line, as rows.pl writes them.  A passage has 40 to 400 words
# in a row; PAIRS of each kind are made, most of which share at least half of their runs.
# The rows are always the same for the same texts.

use strict;
use warnings;

my ($file, $pairs) = @ARGV;
srand 1;

open my $in, '<', $file or die "$file: $!\n";
my (@texts, @words);
while (<$in>)
{
	s/^[^\t]*\t//;
	s/\\[ntr\\]/ /g;
	my @own = split ' ';
	next if @own < 60;
	push @texts, join ' ', @own;
	push @words, @own[ map { rand @own } 1 .. 10 ];
}
@texts > 100 or die "$file: no more than " . @texts . " texts\n";

sub any_word { return $words[ rand @words ]; }

# each word is edited with at most the probability that comes first, or such a share of the words
# is: that leaves less than half of the runs of three words, or of eight bytes
my %edits = (
	'words replaced' => [ 0.22, sub { my $p = shift; map { rand() < $p ? any_word() : $_ } @_ } ],
	'wrong characters' => [
		0.4,
		sub {
			my $p = shift;
			map { my $word = $_; substr($word, rand length $word, 1) = chr(97 + rand 26) if rand() < $p && $word !~ /[^ -~]/; $word } @_;
		}
	],
	'words left out' => [ 0.28, sub { my $p = shift; grep { rand() >= $p } @_ } ],
	'words added' => [ 0.34, sub { my $p = shift; map { rand() < $p ? (any_word(), $_) : $_ } @_ } ],
	'passage replaced' => [
		0.38,
		sub {
			my ($p, @text) = @_;
			my $length = int($p * @text);
			splice @text, rand(@text - $length + 1), $length, map { any_word() } 1 .. $length;
			@text;
		}
	],
	'passages moved' => [
		0.18,
		sub {
			my ($p, @text) = @_;
			foreach (1 .. 1 + $p * @text)
			{
				my @moved = splice @text, rand(@text - 8), 3 + rand 5;
				splice @text, rand(@text + 1), 0, @moved;
			}
			@text;
		}
	],
	'shortened' => [
		0.54,
		sub {
			my ($p, @text) = @_;
			my $length = int($p * @text);
			return rand() < 0.5 ? @text[ $length .. $#text ] : @text[ 0 .. $#text - $length ];
		}
	]);

foreach my $kind (sort keys %edits)
{
	my ($most, $edit) = @{ $edits{$kind} };
	for (1 .. $pairs)
	{
		my @text = split ' ', $texts[ rand @texts ];
		my $length = 40 * 10**rand;
		my $start = @text > $length ? int rand(@text - $length) : 0;
		@text = @text[ $start .. ($start + $length < $#text ? $start + $length : $#text) ];
		print join("\t", $kind, join(' ', @text), join ' ', $edit->($most * rand()**1.5, @text)), "\n";
	}
}
