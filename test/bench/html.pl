#!/usr/bin/perl
#
# html.pl
#	From HTML files to rows for COPY: name of the file, its text without markup.
#
# usage: perl html.pl DIRECTORY > rows

use strict;
use warnings;

my %entity = (amp => '&', lt => '<', gt => '>', quot => '"', nbsp => ' ');
my %escape = ("\\" => '\\\\', "\t" => '\t', "\n" => '\n', "\r" => '\r');

sub character
{
	my $code = shift;

	return ' ' if $code > 0x10FFFF || $code >= 0xD800 && $code < 0xE000;
	return chr $code;
}

for my $file (sort glob "$ARGV[0]/*.html $ARGV[0]/*.html.gz")
{
	my ($name) = $file =~ m{([^/]+?)(?:\.gz)?$};
	my $page;

	open $page, '-|', 'gzip', '-dcf', $file or next;
	my $text = join '', <$page>;
	close $page;

	utf8::decode($text) or next;
	$text =~ s/<!--.*?-->|<(head|script|style)\b.*?<\/\1\s*>/ /gis;
	$text =~ s/<[^>]*>/ /g;
	$text =~ s/&#(\d+);/character($1)/ge;
	$text =~ s/&#x([0-9a-f]+);/character(hex $1)/gie;
	$text =~ s/&(\w+);/$entity{$1} || ' '/ge;
	$text =~ tr/\0//d;
	$text =~ s/([\\\t\n\r])/$escape{$1}/g;
	utf8::encode($text);
	print "$name\t$text\n";
}
