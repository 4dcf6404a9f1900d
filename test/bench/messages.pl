#!/usr/bin/perl
#
# messages.pl
#	From catalogs of translated messages (.mo files) to rows for COPY: number, the
#	translation.
#
# usage: perl messages.pl DIRECTORY > rows
#
# Reads the catalogs below the directory; each translation counts once.

use strict;
use warnings;
use File::Find;

my %escape = ("\\" => '\\\\', "\t" => '\t', "\n" => '\n', "\r" => '\r');
my (@files, %seen);

find({ no_chdir => 1, wanted => sub { push @files, $_ if /\.mo$/ && -f } }, $ARGV[0]);
for my $name (sort @files)
{
	open my $file, '<:raw', $name or next;
	my $catalog = join '', <$file>;
	close $file;

	# magic number, revision, number of messages, offsets of the originals and the translations
	next if length $catalog < 20 || unpack('V', $catalog) != 0x950412de;
	my (undef, undef, $count, undef, $offset) = unpack 'V5', $catalog;
	for my $i (1 .. $count - 1)	# the first one describes the catalog
	{
		my ($length, $start) = unpack 'V2', substr $catalog, $offset + 8 * $i, 8;
		my $text = substr $catalog, $start, $length;

		utf8::decode($text) or next;
		$text =~ tr/\0/\n/;			# between the plural forms
		next if $seen{$text}++;
		$text =~ s/([\\\t\n\r])/$escape{$1}/g;
		utf8::encode($text);
		print keys(%seen) . "\t$text\n";
	}
}
