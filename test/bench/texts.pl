#!/usr/bin/perl
#
# Texts as tables have them, for test/bench/texts: rows for COPY with number, kind, number of the
# row that it was made from or \N, and text.
#
# usage: perl texts.pl FRAGMENTS ROWS LATER FILE
#
# FRAGMENTS has a name and a text on each line, as rows.pl writes them.  Their sentences are put
# together at random.  Lengths have a log-normal distribution: half of the texts have more than 600
# characters, the mean is 900, one in a hundred has more than 4,800.  Of 100 rows, 15 are near-duplicates
# of an earlier row, in the seven ways of %edits, with 1 to 20 % changed; 1 is one of 100 forms, in which
# every 15th word is filled in; 3 quote 60 to 150 words of an earlier row.  The first ROWS go to
# the standard output, so many LATER ones to FILE.  The rows are always the same for the same fragments.

use strict;
use warnings;

my ($fragments, $rows, $later, $file) = @ARGV;
srand 1;

open my $in, '<', $fragments or die "$fragments: $!\n";
my (%seen, @sentences, @words);
while (<$in>)
{
	chomp;
	s/^[^\t]*\t//;
	s/\\[ntr]/ /g;
	foreach my $sentence (split /(?<=[.!?:;])\s+|\s{3,}/)
	{
		my @own = split ' ', $sentence;
		next if @own < 5 || @own > 60 || $sentence =~ /\\/ || $seen{$sentence}++;
		push @sentences, join ' ', @own;
		push @words, $own[ rand @own ];
	}
}
@sentences > 1000 or die "$fragments: no more than " . @sentences . " sentences\n";

sub any_word { return $words[ rand @words ]; }
sub any_words { return map { any_word() } 1 .. $_[0]; }

sub new_text
{
	my $characters = 600 * exp(0.9 * sqrt(-2 * log(1 - rand)) * cos(6.283185 * rand));
	my $text = $sentences[ rand @sentences ];
	$characters = 20000 if $characters > 20000;
	$text .= ' ' . $sentences[ rand @sentences ] while length $text < $characters - 60;
	return $text;
}

# of these words, a share is edited
my %edits = (
	'words replaced' => sub { my $share = shift; map { rand() < $share / 3 ? any_word() : $_ } @_ },
	'wrong characters' => sub {
		my $share = shift;
		map { my $word = $_; substr($word, rand length $word, 1) = chr(97 + rand 26) if $word !~ /[^ -~]/ && rand() < $share / 3; $word } @_;
	},
	'words left out' => sub { my $share = shift; grep { rand() >= $share / 3 } @_ },
	'words added' => sub { my $share = shift; map { rand() < $share / 3 ? (any_word(), $_) : $_ } @_ },
	'passage replaced' => sub {
		my ($share, @text) = @_;
		my $length = int($share * @text / 2);
		splice @text, rand(@text - $length), $length, any_words($length);
		@text;
	},
	'sentences moved' => sub {
		my ($share, @text) = @_;
		my $from = int rand @text;
		my @moved = splice @text, $from, 3 + $share * 40;
		splice @text, rand(@text + 1), 0, @moved;
		@text;
	},
	'shortened' => sub { my ($share, @text) = @_; @text[ 0 .. $#text * (1 - $share) ] });
my @kinds = sort keys %edits;

my @forms = map { [ any_words(120) ] } 1 .. 100;

# earlier rows to copy from: number and text
my @earlier;

sub make
{
	my ($id) = @_;
	my $chance = rand;
	my $from = @earlier ? $earlier[ rand @earlier ] : undef;

	if ($chance < 0.15 && $from)
	{
		my $kind = $kinds[ rand @kinds ];
		return ($kind, $from->[0], join ' ', $edits{$kind}->(0.01 + rand 0.19, split ' ', $from->[1]));
	}
	if ($chance < 0.16)
	{
		my $form = $forms[ rand @forms ];
		return ('form', '\N', join ' ', map { $_ % 15 ? $form->[$_] : any_word() } 0 .. $#$form);
	}
	my $text = new_text();
	if ($chance < 0.19 && $from)
	{
		my @quoted = split ' ', $from->[1];
		my $length = 60 + int rand 90;
		my $start = @quoted > $length ? int rand(@quoted - $length) : 0;
		$length = @quoted if $length > @quoted;
		return ('quote', $from->[0], "$text " . join(' ', @quoted[ $start .. $start + $length - 1 ]) . ' ' . new_text());
	}
	$earlier[ @earlier < 10000 ? @earlier : rand @earlier ] = [ $id, $text ] if rand() < 0.2;
	return ('new', '\N', $text);
}

for my $id (1 .. $rows)
{
	print join("\t", $id, make($id)), "\n";
}
open my $out, '>', $file or die "$file: $!\n";
for my $id ($rows + 1 .. $rows + $later)
{
	print $out join("\t", $id, make($id)), "\n";
}
close $out or die "$file: $!\n";
