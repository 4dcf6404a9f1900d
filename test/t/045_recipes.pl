# The recipes of the documentation give what it says.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use SimhashTest;
use DocumentTest;
use Test::More;

my $node = make_node('recipes', []);
$node->start;
check_page($node, 'doc/recipes.md');
$node->stop;
done_testing();
