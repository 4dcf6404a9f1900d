#!/usr/bin/perl
#
# sources.pl
#	From files to rows for COPY: name of the file, its contents as they are.
#
# usage: perl sources.pl DIRECTORY SUFFIX... > rows
#
# Reads the files below the directory whose names end in one of the suffixes.

use strict;
use warnings;
use File::Find;

my ($pattern, @suffixes) = @ARGV;
my ($suffix) = map { qr/\.(?:$_)$/ } join '|', map quotemeta, @suffixes;
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
		open my $file, '<', "$directory/$name" or next;
		my $text = join '', <$file>;
		close $file;

		utf8::decode($text) or next;
		$text =~ tr/\0//d;
		$text =~ s/([\\\t\n\r])/$escape{$1}/g;
		utf8::encode($text);
		print "$name\t$text\n";
	}
}
