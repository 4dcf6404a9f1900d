#!/usr/bin/perl
#
# From texts of many kinds to rows for COPY: the name of a text, or its number, and the text.
#
# usage: perl rows.pl packages < records     descriptions of Debian's package lists, as
#                                            "apt-cache dumpavail" and apt's translation files
#                                            have them; of several of a package the last one
#        perl rows.pl manuals DIRECTORY      manual pages below a directory such as
#                                            /usr/share/man, without what only concerns layout
#        perl rows.pl html DIRECTORY         the texts of the .html files there
#        perl rows.pl files DIRECTORY SUFFIX...
#                                            files below it, as they are
#        perl rows.pl messages DIRECTORY     different translations in the .mo files below it
#        perl rows.pl texts [SEPARATOR] < texts
#                                            lines, or what is between lines with a separator
#
# Files may be compressed by gzip.

use strict;
use warnings;
use File::Find;
use IO::Uncompress::Gunzip;

my ($kind, @arguments) = @ARGV;
my %escape = ("\\" => '\\\\', "\t" => '\t', "\n" => '\n', "\r" => '\r');

# what is not UTF-8 is left out
sub row
{
	my ($name, $text, $plain) = @_;

	utf8::decode($text) or return;
	$text = $plain->($text) if $plain;
	return unless defined $text;
	$text =~ tr/\0//d;
	$text =~ s/([\\\t\n\r])/$escape{$1}/g;
	utf8::encode($text);
	print "$name\t$text\n";
	return;
}

sub content
{
	my $file = IO::Uncompress::Gunzip->new($_[0]) or return '';
	return join '', $file->getlines;
}

# the names of the files below a directory that match
sub below
{
	my ($directory, $pattern) = @_;
	my @names;

	find({ no_chdir => 1, wanted => sub { push @names, $_ if $_ =~ $pattern && -f && !-l } }, $directory);
	return sort @names;
}

sub base_name
{
	return $_[0] =~ m{([^/]+?)(?:\.gz)?$};
}

sub packages
{
	my %description;

	local $/ = '';				# a record is a paragraph
	while (my $record = <STDIN>)
	{
		my ($package) = $record =~ /^Package: (\S+)/m or next;

		# one line, and further ones that begin with a space; an empty one has a point
		my ($text) = $record =~ /^Description(?:-en)?: (.*(?:\n .*)*)/m or next;
		$description{$package} = $text =~ s/\n \.?/\n/gr;
	}
	row($_, $description{$_}) for sort keys %description;
	return;
}

sub manuals
{
	for my $file (grep { !-l } sort glob "$_[0]/man[1-9]/*")
	{
		row(base_name($file), content($file), sub {
			my $text = shift;

			return if $text =~ /^\.so /;
			$text =~ s/^[.'].{0,2}\\".*\n//mg;		# comments
			$text =~ s/^[.']\s*\w+[ \t]*//mg;		# macros, but not their arguments
			$text =~ s/\\f(?:\[\w*\]|\(..|.)//g;	# fonts
			$text =~ s/\\-/-/g;
			return $text =~ s/\\[&%]//gr;
		});
	}
	return;
}

sub html
{
	my %entity = (amp => '&', lt => '<', gt => '>', quot => '"', nbsp => ' ');
	my $character = sub { $_[0] > 0x10FFFF || $_[0] >= 0xD800 && $_[0] < 0xE000 ? ' ' : chr $_[0] };

	for my $file (sort glob "$_[0]/*.html $_[0]/*.html.gz")
	{
		row(base_name($file), content($file), sub {
			my $text = shift;

			$text =~ s/<!--.*?-->|<(head|script|style)\b.*?<\/\1\s*>/ /gis;
			$text =~ s/<[^>]*>/ /g;
			$text =~ s/&#(\d+);/$character->($1)/ge;
			$text =~ s/&#x([0-9a-f]+);/$character->(hex $1)/gie;
			return $text =~ s/&(\w+);/$entity{$1} || ' '/ger;
		});
	}
	return;
}

sub files
{
	my ($pattern, @suffixes) = @_;
	my ($suffix) = map { qr/[.\/](?:$_)(?:\.gz)?$/ } join '|', map { quotemeta } @suffixes;

	for my $directory (glob $pattern)
	{
		row(substr($_, 1 + length $directory), content($_)) for below($directory, $suffix);
	}
	return;
}

sub messages
{
	my %seen;

	for my $catalog (map { content($_) } below($_[0], qr/\.mo$/))
	{
		# magic number, revision, number of messages, offsets of the originals and the translations
		next if length $catalog < 20 || unpack('V', $catalog) != 0x950412de;
		my (undef, undef, $count, undef, $offset) = unpack 'V5', $catalog;
		for my $i (1 .. $count - 1)	# the first one describes the catalog
		{
			my ($length, $start) = unpack 'V2', substr $catalog, $offset + 8 * $i, 8;
			my $text = substr($catalog, $start, $length) =~ tr/\0/\n/r;	# between the plural forms

			row(scalar keys %seen, $text) unless $seen{$text}++;
		}
	}
	return;
}

sub texts
{
	local $/ = @_ ? "\n$_[0]\n" : "\n";
	while (my $text = <STDIN>)
	{
		chomp $text;
		row($., $text);
	}
	return;
}

my %of = (packages => \&packages, manuals => \&manuals, html => \&html, files => \&files, messages => \&messages,
	texts => \&texts);
die "no such kind of texts\n" unless $kind && $of{$kind};
$of{$kind}->(@arguments);
