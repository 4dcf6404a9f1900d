#!/usr/bin/perl
#
# sources.pl
#	From files to rows for COPY: name of the file, its contents as they are, or unpacked.
#
# usage: perl sources.pl DIRECTORY SUFFIX... > rows
#
# Reads the files below the directory whose names end in one of the suffixes, or have no other
# name, and those with .gz behind it.

use strict;
use warnings;
use File::Find;
use IO::Uncompress::Gunzip;

my ($pattern, @suffixes) = @ARGV;
my ($suffix) = map { qr/[.\/](?:$_)(?:\.gz)?$/ } join '|', map quotemeta, @suffixes;
my %escape = ("\\" => '\\\\', "\t" => '\t', "\n" => '\n', "\r" => '\r');

for my $directory (glob $pattern)
{
	my @names;

	find({
			no_chdir => 1,
			wanted => sub {
				push @names, substr $_, 1 + length $directory
				  if /$suffix/ && -f && !-l;
			}
		},
		$directory);

	for my $name (sort @names)
	{
		# what is not packed is read as it is
		my $file = IO::Uncompress::Gunzip->new("$directory/$name") or next;
		my $text = join '', $file->getlines;
		$file->close;

		utf8::decode($text) or next;
		$text =~ tr/\0//d;
		$text =~ s/([\\\t\n\r])/$escape{$1}/g;
		utf8::encode($text);
		print "$name\t$text\n";
	}
}
