#!/usr/bin/perl
#
# manuals.pl
#	From manual pages to rows for COPY: name of the page, its text.
#
# usage: perl manuals.pl DIRECTORY > rows
#
# Reads the English pages below a directory such as /usr/share/man, compressed or
# not, and drops what only concerns their layout.

use strict;
use warnings;

my %escape = ("\\" => '\\\\', "\t" => '\t', "\n" => '\n', "\r" => '\r');

for my $file (sort glob "$ARGV[0]/man[1-9]/*")
{
	my ($name) = $file =~ m{([^/]+?)(?:\.gz)?$};
	my $page;

	next if -l $file;			# another name of a page that is read anyway
	open $page, '-|', 'gzip', '-dcf', $file or next;
	my $text = join '', <$page>;
	close $page;

	utf8::decode($text) or next;
	next if $text =~ /^\.so /;
	$text =~ s/^[.'].{0,2}\\".*\n//mg;	# comments
	$text =~ s/^[.']\s*\w+[ \t]*//mg;	# macros, but not their arguments
	$text =~ s/\\f(?:\[\w*\]|\(..|.)//g;	# fonts
	$text =~ s/\\-/-/g;
	$text =~ s/\\[&%]//g;
	$text =~ tr/\0//d;
	$text =~ s/([\\\t\n\r])/$escape{$1}/g;
	utf8::encode($text);
	print "$name\t$text\n";
}
