# A page of the documentation whose SQL does not give what it says does not pass.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use SimhashTest;
use DocumentTest;
use Test::More;

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

my $node = make_node('documents', []);
$node->start;
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
$node->stop;
done_testing();
