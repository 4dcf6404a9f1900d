#!/usr/bin/perl
#
# packages.pl
#	From records of Debian's package lists, as `apt-cache dumpavail` and apt's
#	translation files have them, to rows for COPY: package, description.
#
# usage: perl packages.pl < records > rows
#
# Of several records of one package the last one counts.

use strict;
use warnings;

my %description;

$/ = '';						# a record is a paragraph
while (my $record = <STDIN>)
{
	my ($package) = $record =~ /^Package: (\S+)/m or next;

	# one line, and further ones that begin with a space
	my ($text) = $record =~ /^Description(?:-en)?: (.*(?:\n .*)*)/m or next;
	$text =~ s/\n \./\n/g;		# how a record writes an empty line
	$text =~ s/\n /\n/g;
	$description{$package} = $text;
}

my %escape = ("\\" => '\\\\', "\t" => '\t', "\n" => '\n', "\r" => '\r');
for my $package (sort keys %description)
{
	my $text = $description{$package};
	$text =~ s/([\\\t\n\r])/$escape{$1}/g;
	print "$package\t$text\n";
}
