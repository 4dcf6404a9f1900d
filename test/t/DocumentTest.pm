# Run the SQL of a page of the documentation, and compare its results with those on
# the page.
#
#	use DocumentTest;
#	check_page($node, 'doc/cleaning.md');
#	check_pages_together($node, 'doc/cleaning.md', 'doc/texts.md');
#
# page_statements('doc/cleaning.md', 'LOCK TABLE') is the text of the one block that has these
# words, to run it with other rows.
#
# What a page must keep to:
#
# - Each block of code that begins with ```sql is run, in the order of the page, in one
#   session of psql, in an empty database of its own, in UTF-8 with the collation C.  So the
#   page creates the extension, IF NOT EXISTS.  It may use psql's commands, such as \set, and
#   leave a transaction open for the next block.  A reader may have followed other pages before
#   it in the same database, so no two pages give the same name to what they create.
# - A block ```text right after it, with nothing but empty lines between them, is its
#   output: all that psql prints, command tags included; first what goes to the standard
#   output, then errors, warnings and notices.  White space at the ends of lines does not
#   count.  Without such a block it may print what it likes, but no error.
# - A block that cannot be run has the line
#		<!-- not run: why -->
#   right before it.
# - A block that takes the extension away from other pages has the line
#		<!-- alone: why -->
#   right before it, and is not run where pages follow each other in one database.
# - Statements that the reader does not see, such as to make rows, stand in a comment:
#		<!-- sql
#		INSERT INTO docs ...;
#		-->
# - A fence, ``` with or without a word, begins at the beginning of its line.  Other
#   blocks, such as ```sh or ```text elsewhere, are prose.
#
# Results must not depend on the plan.  So the page is run again in other settings of the
# planner.  Options behind the name of the page:
#
#	settings => [...]	instead of these; '' is the server's own
#	planners => 1		only the first of these
#	psql => [...]		further arguments of psql, such as -v name=value
#
# The page's path is relative to the top of the sources.  A page may be written with empty
# blocks of output: the failures show what belongs there.
package DocumentTest;

use strict;
use warnings;
use Exporter 'import';
use FindBin;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(check_page check_pages_together page_failures page_statements);

my @settings = (
	'',
	'-c enable_seqscan=off',
	'-c enable_indexscan=off -c enable_bitmapscan=off',
	'-c enable_hashjoin=off -c enable_hashagg=off',
	'-c enable_nestloop=off -c enable_sort=off');
my $top = "$FindBin::RealBin/../..";
my $databases = 0;

# What is on a page to be run: hashes of the number of the first line (line), the
# statements (sql), and the output if there is one (text).
sub blocks
{
	my ($content) = @_;
	my (@blocks, $inside, $skip, $alone, $followed);
	my $n = 0;

	foreach (split /\n/, $content)
	{
		$n++;
		if (defined $inside)
		{
			if ($_ eq ($inside eq 'comment' ? '-->' : '```'))
			{
				$followed = $inside eq 'sql';
				undef $inside;
			}
			elsif ($inside eq 'sql' || $inside eq 'comment')
			{
				$blocks[-1]{sql} .= "$_\n";
			}
			elsif ($inside eq 'result')
			{
				$blocks[-1]{text} .= "$_\n";
			}
		}
		elsif (/^```\s*(\w*)/)
		{
			$inside = $1 eq 'sql' && !$skip ? 'sql'
			  : $1 eq 'text' && $followed ? 'result'
			  : 'other';
			push @blocks, { line => $n, sql => '', alone => $alone } if $inside eq 'sql';
			$blocks[-1]{text} = '' if $inside eq 'result';
			$skip = $alone = $followed = 0;
		}
		elsif ($_ eq '<!-- sql')
		{
			$inside = 'comment';
			push @blocks, { line => $n, sql => '' };
		}
		elsif (/\S/)
		{
			die "line $n: a fence that is indented" if /^\s+```/;
			$skip = /^<!-- not run: .+-->$/;
			$alone = /^<!-- alone: .+-->$/;
			$followed = 0;
		}
	}
	die 'the last block has no end' if defined $inside;
	die 'there is no SQL' if !@blocks;
	return @blocks;
}

sub page_content
{
	my ($page) = @_;
	return slurp_file("$top/$page");
}

# The one block of a page that has some words
sub page_statements
{
	my ($page, $words) = @_;
	my @found = grep { index($_, $words) >= 0 } map { $_->{sql} } blocks(page_content($page));

	die scalar(@found) . " blocks of $page have \"$words\"" if @found != 1;
	return $found[0];
}

sub without_trailing_space
{
	my ($text) = @_;
	$text =~ s/[ \t]+$//mg;
	$text =~ s/\n*\z/\n/;
	return $text;
}

# Run blocks in one session; the output and the errors of each.
sub run_blocks
{
	my ($node, $database, $settings, $psql, @blocks) = @_;
	my ($input, $out, $err) = ('', '', '');
	my $mark = 'end of block';

	$input .= "$_->{sql}\n\\echo '$mark'\n\\warn '$mark'\n" foreach @blocks;
	local $ENV{PGOPTIONS} = $settings;
	local $ENV{PGCLIENTENCODING} = 'UTF8';
	IPC::Run::run([ 'psql', '-X', @$psql, '-d', $node->connstr($database) ],
		'<', \$input, '>', \$out, '2>', \$err);
	return [ split /^$mark\n/m, $out, -1 ], [ split /^$mark\n/m, $err, -1 ];
}

sub create_database
{
	my ($node) = @_;
	my $database = 'page_' . ++$databases;

	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'");
	return $database;
}

# Run what is on a page in a database of its own, and tell what is not as it says.
sub page_failures
{
	my ($node, $content, $settings, $psql) = @_;
	my $database = create_database($node);
	my @failures = failures_in($node, $database, $settings // '', $psql // [], blocks($content));

	$node->safe_psql('postgres', "DROP DATABASE $database WITH (FORCE)");
	return @failures;
}

sub failures_in
{
	my ($node, $database, $settings, $psql, @blocks) = @_;
	my ($out, $err) = run_blocks($node, $database, $settings, $psql, @blocks);
	my @failures;

	# There is nothing behind the last mark; but psql may stop early, or take a mark for
	# part of a statement that has no end.
	push @failures, scalar(@blocks) . " blocks, but not all were run\n"
	  if @$out != @blocks + 1 || @$err != @blocks + 1 || "$$out[-1]$$err[-1]" ne '';
	foreach my $block (@blocks)
	{
		my $printed = shift @$out // '';
		my $errors = shift @$err // '';

		# as another page has created it in this database
		$errors =~ s/^NOTICE:  extension "simhash" already exists, skipping\n//m;
		if (defined $block->{text})
		{
			my $got = without_trailing_space($printed . $errors);
			push @failures, "line $block->{line}: what it prints is not as shown:\n$got"
			  if $got ne without_trailing_space($block->{text});
		}
		else
		{
			# notices and warnings, and what belongs to them
			$errors =~ s/^(NOTICE|WARNING): .*\n((DETAIL|HINT|LINE|CONTEXT|\s).*\n)*//mg;
			push @failures, "line $block->{line}: $errors" if $errors ne '';
		}
	}
	return @failures;
}

sub check_page
{
	my ($node, $page, %options) = @_;
	my $content = page_content($page);

	my @all = @{ $options{settings} // \@settings };

	foreach my $settings (@all[ 0 .. ($options{planners} // @all) - 1 ])
	{
		is(join('', page_failures($node, $content, $settings, $options{psql})),
			'', "$page gives what it shows" . ($settings ? " with $settings" : ''));
	}
	return;
}

# What a reader sees who follows one page after the other in one database
sub check_pages_together
{
	my ($node, @pages) = @_;
	my $database = create_database($node);

	foreach my $page (@pages)
	{
		my @blocks = grep { !$_->{alone} } blocks(page_content($page));
		is(join('', failures_in($node, $database, '', [], @blocks)), '', "$page gives what it shows, behind the pages before it");
	}
	$node->safe_psql('postgres', "DROP DATABASE $database WITH (FORCE)");
	return;
}

1;
