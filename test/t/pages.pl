# The pages of the documentation give what they say.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use SimhashTest;
use DocumentTest;
use Test::More;

# What another test runs, with the servers or clients that it takes
my %elsewhere = (
	'doc/several-machines.md' => 'batch_distributed.pl and batch_distributed_operation.pl',
	'doc/citus.md' => 'test/distributed/run',
	'doc/drivers.md' => 'test/drivers/run');
my $top = "$FindBin::RealBin/../..";
my @pages = ('README.md', map { substr($_, length("$top/")) } sort glob("$top/doc/*.md"));
my $node = make_node('pages', []);

$node->start;
check_page($node, $_, planners => effort(1, 5)) foreach grep { !$elsewhere{$_} } @pages;
$node->stop;
done_testing();
