# The recipe of the documentation that takes the text out of HTML.

use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::RealBin;
use SimhashTest;
use DocumentTest;
use Test::More;

my $node = make_node('recipes_html', [ extra => [ '--encoding=UTF8', '--no-locale' ] ]);
$node->start;
$node->safe_psql('postgres',
	"CREATE EXTENSION simhash;\n" . page_statements('doc/recipes.md', 'CREATE FUNCTION html_text'));

# psql prints not every character, so bytes are compared.
#
# What it is, the HTML, what html_text gives, and a text that has the same characters
foreach my $test (
	[ 'tags', '<p class="x">One <b>two</b></p>', ' One  two  ', 'one two' ],
	[ 'comment', 'a<!-- b -->c', 'a c', 'ac' ],
	[ 'comment with a tag', 'a<!-- b > c -->d', 'a d', 'ad' ],
	[ 'two comments', 'a<!-- b -->c<!-- d -->e', 'a c e', 'ace' ],
	[ 'comment without an end', 'a<!-- b > c', 'a ', 'a' ],
	[ 'script', 'a<script>if (b < c) d();</script>e', 'a e', 'ae' ],
	[ 'two scripts', 'a<SCRIPT type="x">b</script >c<script>d</script>e', 'a c e', 'ace' ],
	[ 'style', 'a<style>b > c {}</style>d', 'a d', 'ad' ],
	[ 'comment in a script', 'a<script><!-- b //--></script>c', 'a c', 'ac' ],
	[ 'script in a comment', 'a<!-- <script> -->b<script>c</script>d', 'a b d', 'abd' ],
	[ 'not a script', 'a<scripted>b</scripted>c', 'a b c', 'abc' ],
	[ 'lines', "a<!-- b\n> c\n-->d", 'a d', 'ad' ],
	[ 'accents', 'caf&eacute; &Agrave; la carte, gar&ccedil;on', "cafe\x{301} A\x{300} la carte, garc\x{327}on",
		'café À la carte, garçon' ],
	[ 'umlauts', '&Uuml;bergr&ouml;&szlig;e', "U\x{308}bergro\x{308}ße", 'Übergröße' ],
	[ 'others', 'se&ntilde;or, b&aring;t, c&oelig;ur, &OSlash;', "sen\x{303}or, ba\x{30A}t, cœur, ø",
		'señor, båt, cœur, Ø' ],
	[ 'numbers', '&#233;&#xE9;&#X4e2d;&#1114111;', "éé中\x{10FFFF}", 'éé中' ],
	[ 'what is no character', 'a&#0;&#xD800;&#x110000;&#99999999;b', 'a    b', 'ab' ],
	[ 'punctuation', 'a&nbsp;&amp;&lt;b&gt;', 'a   b ', 'ab' ],
	[ 'once only', '&amp;eacute;', ' eacute;', 'eacute' ],
	[ 'nothing', '<br>', ' ', undef ],
	[ 'null', undef, '', undef ])
{
	my ($what, $html, $text, $like) =
	  map { utf8::encode($_) if defined $_; $_ } @$test;
	my ($html_literal, $like_literal) =
	  map { defined $_ ? "'" . $_ =~ s/'/''/gr . "'" : 'NULL' } $html, $like;

	is( $node->safe_psql(
			'postgres', qq{
			SELECT encode(convert_to(html_text(html), 'UTF8'), 'hex'),
				simhash_shingles(html_text(html), 1) IS NOT DISTINCT FROM simhash_shingles(text, 1)
			FROM (VALUES (${html_literal}::text, ${like_literal}::text)) v (html, text)}),
		unpack('H*', $text) . '|t',
		$what);
}
$node->stop;
done_testing();
