# The relative links of a page in Markdown, also those in HTML.
#
#	use PageLinks;
#	my @links = relative_links($content);
#	my @broken = broken_links($path, $content);
#
# The second are those that lead from a page at $path to no file, or in a page to no heading.
package PageLinks;

use strict;
use warnings;
use Exporter 'import';
use File::Basename;

our @EXPORT = qw(broken_links page_content relative_links);

sub page_content
{
	my ($path) = @_;

	open my $file, '<', $path or die "$path: $!";
	local $/;
	return <$file>;
}

# A page without what is between fences and in comments
sub prose
{
	my ($content) = @_;

	$content =~ s/^```.*?^```$//msg;
	$content =~ s/<!--.*?-->//sg;
	return $content;
}

# The names that a link can give to the headings of a page: those of GitHub
sub anchors
{
	my ($content) = @_;
	my %anchors;

	foreach my $heading (prose($content) =~ /^#+ +(.*?) *$/mg)
	{
		$heading =~ s/\[([^]]*)\]\([^)]*\)/$1/g;
		$heading = lc $heading;
		$heading =~ s/[^\w\- ]//g;
		$heading =~ tr/ /-/;
		my $n = $anchors{$heading}++;
		$anchors{"$heading-$n"} = 1 if $n > 0;
	}
	return \%anchors;
}

# [text](link), [text]: link, and attributes of HTML
sub relative_links
{
	my ($content) = @_;
	my @links = prose($content) =~
	  /\]\(([^)\s]+)|^\[[^]]+\]:\s+(\S+)|\b(?:href|src|srcset)="([^"\s]+)/mg;

	return grep { defined && !/^[a-z]+:/ } @links;
}

sub broken_links
{
	my ($page, $content) = @_;
	my @broken;

	foreach my $link (relative_links($content))
	{
		my ($path, $anchor) = $link =~ /^([^#]*)#?(.*)$/;
		my $file = dirname($page) . "/$path";
		my $there = $path eq '' || -e $file;

		push @broken, $link
		  if !$there || $anchor ne '' && !anchors($path eq '' ? $content : page_content($file))->{$anchor};
	}
	return @broken;
}

1;
