# The pages of the documentation give what they say, and their links lead somewhere, also
# where "make install" puts them.

use strict;
use warnings;
use File::Find;
use FindBin;
use lib $FindBin::RealBin;
use SimhashTest;
use DocumentTest;
use PostgreSQL::Test::Utils;
use Test::More;

# What another test runs, with the servers or clients that it takes
my %elsewhere = (
	'doc/several-machines.md' => '025_batch_distributed.pl and 034_batch_distributed_operation.pl',
	'doc/drivers.md' => 'test/drivers/run');
my $top = "$FindBin::RealBin/../..";
my @pages = ('README.md', map { substr($_, length("$top/")) } sort glob("$top/doc/*.md"));
my $node = make_node('pages', []);

check_links($_) foreach @pages;

my ($docdir) = run_command([ 'pg_config', '--docdir' ]);
my $installed = "$docdir/extension/simhash";
SKIP:
{
	skip 'a package has put the pages elsewhere', 1 unless -e "$installed/README.md";
	my @found;
	find({ no_chdir => 1, wanted => sub { push @found, substr($_, length("$installed/")) if /\.md$/ } }, $installed);
	cmp_ok(scalar(@found), '>=', scalar(@pages), 'the pages are installed');
	check_links($_, $installed) foreach sort @found;
}

$node->start;
check_page($node, $_) foreach grep { !$elsewhere{$_} } @pages;
$node->stop;
done_testing();
