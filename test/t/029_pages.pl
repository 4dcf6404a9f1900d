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
	'doc/several-machines.md' => '025_batch_distributed.pl and 034_batch_distributed_operation.pl',
	'doc/citus.md' => 'test/distributed/run',
	'doc/drivers.md' => 'test/drivers/run');
my $top = "$FindBin::RealBin/../..";
my @pages = ('README.md', map { substr($_, length("$top/")) } sort glob("$top/doc/*.md"));
my $node = make_node('pages', []);

$node->start;
check_page($node, $_) foreach grep { !$elsewhere{$_} } @pages;
$node->stop;
done_testing();
