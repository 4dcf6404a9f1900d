#!/usr/bin/perl
#
# rows.pl
#	From texts that follow each other to rows for COPY: number, text.
#
# usage: perl rows.pl [SEPARATOR] < texts > rows
#
# The separator is a line that is between two texts; without it, each line is a text.

use strict;
use warnings;

$/ = @ARGV ? "\n$ARGV[0]\n" : "\n";
my %escape = ("\\" => '\\\\', "\t" => '\t', "\n" => '\n', "\r" => '\r');

while (my $text = <STDIN>)
{
	chomp $text;
	utf8::decode($text) or next;
	$text =~ tr/\0//d;
	$text =~ s/([\\\t\n\r])/$escape{$1}/g;
	utf8::encode($text);
	print "$.\t$text\n";
}
