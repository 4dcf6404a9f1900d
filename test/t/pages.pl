# The pages of the documentation give what they say, and a page that does not is noticed.
# The function that takes the text out of HTML does so.

use utf8;
use lib 'test/t';
use SimhashTest;
use DocumentTest;

# Pages without SQL, and what another test runs, with the servers or clients that it takes
my %elsewhere = (
	'doc/measurements.md' => '',
	'doc/several-machines.md' => 'batch_distributed.pl',
	'doc/drivers.md' => 'test/drivers/run');
my $top = "$FindBin::RealBin/../..";
my @pages = ('README.md', map { substr($_, length("$top/")) } sort glob("$top/doc/*.md"));
my $node = make_node('pages', []);

$node->start;
@pages = grep { !exists $elsewhere{$_} } @pages;
check_page($node, $_, planners => effort(1, 5)) foreach @pages;
check_pages_together($node, @pages);
check_pages_together($node, reverse @pages) if effort(0, 1);

#
# A page whose SQL does not give what it says does not pass.
#
my $right = <<'END';
```sql
CREATE TABLE t (i int);
```

Prose.

```sql
INSERT INTO t VALUES (1);
SELECT i AS one FROM t;
```

```text
INSERT 0 1
 one
-----
   1
(1 row)

```

<!-- sql
DO $$ BEGIN RAISE NOTICE 'not an error' USING HINT = 'at all'; END $$;
INSERT INTO t VALUES (2);
-->

```sql
SELECT length('größer') AS characters;
```

```text
 characters
------------
          6
(1 row)
```

```sql
SELECT 1 / (i - i) FROM t;
```

```text
ERROR:  division by zero
```

<!-- not run: there is no such table -->
```sql
SELECT * FROM nowhere;
```

```sh
nothing
```
END

my $wrong = <<'END';
```sql
SELECT 1 AS one;
```

```text
 one
-----
   2
(1 row)
```

```sql
SELECT 1 / 0;
```

The result of something else:

```text
ERROR:  division by zero
```

<!-- sql
DO $$ BEGIN RAISE NOTICE 'not an error'; END $$;
SELECT nothing;
-->

```sql
\nothing
```
END

is(join('', page_failures($node, $right)), '', 'a page that is right');
my @failures = page_failures($node, $wrong);
like(shift @failures, $_, 'a failure is seen')
  foreach qr/^line 1: .* as shown:\n one\n.*\n   1\n/s, qr/^line 12: ERROR:  division by zero\n/,
  qr/^line 22: ERROR:  column "nothing" does not exist\n/, qr/^line 27: .*\\nothing/;
is("@failures", '', 'and nothing else');
foreach my $statement ("SELECT 'a;", 'SELECT 1', '\\q')
{
	@failures = page_failures($node, "```sql\nSELECT 1;\n```\n```sql\n$statement\n```\n");
	is(shift @failures, "2 blocks, but not all were run\n", "$statement: seen");
}
foreach my $page ("Prose\n", "```sql\nSELECT 1;\n", "- item\n  ```sql\n  SELECT 1;\n  ```\n")
{
	ok(!defined eval { page_failures($node, $page) }, 'a page that is not understood is an error');
}

#
# html_text of doc/texts.md
#
$node->safe_psql('postgres', "CREATE DATABASE html TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'");
$node->safe_psql('html',
	"CREATE EXTENSION simhash;\n" . page_statements('doc/texts.md', 'CREATE FUNCTION html_text'));

# psql prints not every character, so bytes are compared.
#
# What it is, the HTML, what html_text gives, and a text that has the same characters
foreach my $test (
	[ 'tags', '<p class="x">One <b>two</b></p>', ' One two ', 'one two' ],
	[ 'tags in a word', '<i>post</i>poned<br>un<em class="x">til</em>', 'postponed until', 'postponed until' ],
	[ 'not such a tag', 'one<base>two<br/>three', 'one two three', 'one two three' ],
	[ 'an attribute with >', q{<p title="x>y">a<p title='x>"y'>b<b title="x>y">c</b>}, ' a bc', 'a bc' ],
	[ 'a quotation mark alone', '<p title="x>a', ' a', 'a' ],
	[ 'quotation marks outside', q{a "<br>b" it's <br>c}, 'a " b" it' . "'" . 's  c', 'a b its c' ],
	[ 'comment', 'a<!-- b -->c', 'a c', 'ac' ],
	[ 'comment with a tag', 'a<!-- b > c -->d', 'a d', 'ad' ],
	[ 'two comments', 'a<!-- b -->c<!-- d -->e', 'a c e', 'ace' ],
	[ 'comment without an end', 'a<!-- b > c', 'a ', 'a' ],
	[ 'script', 'a<script>if (b < c) d();</script>e', 'a e', 'ae' ],
	[ 'two scripts', 'a<SCRIPT type="x">b</script >c<script>d</script>e', 'a c e', 'ace' ],
	[ 'style', 'a<style>b > c {}</style>d', 'a d', 'ad' ],
	[ 'comment in a script', 'a<script><!-- b //--></script>c', 'a c', 'ac' ],
	[ 'script in a comment', 'a<!-- <script> -->b<script>c</script>d', 'a b d', 'abd' ],
	[ 'script without an end', 'a<script>b </style>c', 'a ', 'a' ],
	[ 'style without an end', 'a<style>b </script>c', 'a ', 'a' ],
	[ 'script with a long end', 'a<script>b</script  c>d', 'a d', 'ad' ],
	[ 'an attribute with <', '<p title="x<y>z">a<b>b</b>', ' ab', 'ab' ],
	[ 'not a script', 'a<scripted>b</scripted>c', 'a b c', 'abc' ],
	[ 'lines', "a<!-- b\n> c\n-->d", 'a d', 'ad' ],
	[ 'accents', 'caf&eacute; &Agrave; la carte, gar&ccedil;on', 'café À la carte, garçon', "cafe\x{301} A\x{300} la carte, garc\x{327}on" ],
	[ 'umlauts', '&Uuml;bergr&ouml;&szlig;e', 'Übergröße', 'Übergröße' ],
	[ 'others', 'se&ntilde;or, b&aring;t, c&oelig;ur, &Oslash;', 'señor, båt, cœur, Ø', 'señor, båt, cœur, ø' ],
	[ 'ends of the list', '&szlig;&Agrave;&yuml;&THORN;&Yuml;&divide;', 'ßÀÿÞŸ÷', 'ßàÿþÿ' ],
	[ 'letters of other lists', 'G&eth;&ETH;, &scaron;&Scaron;&zcaron;', 'GðÐ, šŠž', 'Gðð ššž' ],
	[ 'what shows nothing', 'soft&shy;hyphen, zero&#8203;width', "softhyphen, zero\x{200B}width", 'softhyphen zerowidth' ],
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

	is($node->safe_psql('html', qq{
			SELECT encode(convert_to(html_text(html), 'UTF8'), 'hex'),
				simhash_shingles(html_text(html), 1) IS NOT DISTINCT FROM simhash_shingles(text, 1)
			FROM (VALUES (${html_literal}::text, ${like_literal}::text)) v (html, text)}),
		unpack('H*', $text) . '|t',
		$what);
}

# Hostile HTML of 80 kB and more: what takes the square of its length, or worse, is not done in days
foreach my $html (q{repeat('<script></style>', 5000)}, q{repeat('<script>', 50000)}, q{repeat('<!--', 50000)},
	q{repeat('<', 500000) || '"<b>'}, q{repeat('<a "', 100000) || repeat('>', 100000)},
	q{(SELECT string_agg('&#' || code || ';', '') FROM generate_series(1000, 50000) AS code)})
{
	is($node->safe_psql('html', "SET statement_timeout = '2min'; SELECT length(html_text($html)) > 0"), 't', "not slow: $html");
}

# In another encoding, letters that it does not have are dropped.
$node->safe_psql('postgres', "CREATE DATABASE latin1 TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'");
is( $node->safe_psql('latin1',
		"CREATE EXTENSION simhash;\n" . page_statements('doc/texts.md', 'CREATE FUNCTION html_text') .
		"SELECT encode(convert_to(html_text('caf&eacute;<br>&scaron;&#233;&#353;'), 'UTF8'), 'hex')"),
	unpack('H*', "caf\xC3\xA9  \xC3\xA9 "), 'in a database in LATIN1');
$node->stop;
done_testing();
