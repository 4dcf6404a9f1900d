# doc/reference.md describes every object of the extension, and nothing else: functions
# with their arguments, defaults, results and attributes, operators, types, casts,
# operator classes and families, the view, options of an index, and SQLSTATEs.
#
# What the page must keep to:
#
# - Between backquotes, what has an arrow is a signature: `name(arguments) → result` of a
#   function, `left operator right → result` of an operator.  `{a, b}` stands for each.
# - The attributes of functions are those of the last line "Attributes: ..., ...." before.
# - Items of lists that are those in @items below, and tables whose heads are those in %tables, list
#   the other objects.
# - The section of internal functions has only their names, with the same braces.

use lib 'test/t';
use SimhashTest;

my $top = "$FindBin::RealBin/../..";
my $page = slurp_file("$top/doc/reference.md");
my $arrow = "\xe2\x86\x92";

# Beginnings of the rows above tables, and how a row is written below.  The cells come
# without backquotes.
my %tables = (
	'option | type | range | default | description' => sub { "option $_[0] $_[1] $_[2] default $_[3]" },
	'strategy | operators' => sub {
		my ($number, $operators) = @_;
		return map { "strategy $number $_" } split /, /, $operators;
	});

# How an item of a list begins, with all its lines in one, and how it is written below
my @items = (
	[ qr/^type `(\w+)`:/, sub { "type $_[0]" } ],
	[ qr/^`([^`]+ AS [^`]+)`, (\w+):/, sub { "cast $_[0] $_[1]" } ],
	[ qr/^([0-9A-Z]{5}) (`\w+`):/, sub { "condition $_[0] " . $_[1] =~ s{`}{}gr } ],
	[ qr/^column `(\w+)`, (\w+):/, sub { "column $_[0] $_[1]" } ],
	[ qr/^family `(\w+)` of `(\w+)`, without a class:/, sub { "family $_[0] using $_[1]" } ],
	# classes, which may be in a family of another name
	[
		qr/^classes of `(\w+)`: (.*)/,
		sub {
			my ($method, $classes) = @_;
			return map {
				my ($class, $family, $type) = /^`(\w+)`(?: in `(\w+)`)? for `([^`]+)`$/ or die "not understood: $_";
				$family //= $class;
				("family $family using $method", "class $class using $method for $type family $family")
			} split /, /, $classes;
		}
	]);

# All that a text with braces stands for
sub expand
{
	my ($text) = @_;
	return $text if $text !~ /\{([^{}]+)\}/;
	my ($before, $after, @choices) = ($`, $', split /, /, $1);
	return map { expand("$before$_$after") } @choices;
}

# What the page describes, as a hash of lines
sub page_objects
{
	my ($content) = @_;
	my (%objects, $attributes, $row);

	foreach my $item ($content =~ /^- (.*(?:\n  \S.*)*)/gm)
	{
		my $line = $item =~ s/\s+/ /gr;
		foreach (@items)
		{
			my ($begins, $written) = @$_;
			my @found = $line =~ $begins or next;
			$objects{$_} = 1 foreach $written->(@found);
		}
	}
	foreach (split /\n/, $content)
	{
		$attributes = $1 if /^Attributes: (.*)\.$/;
		undef $attributes if /^#/;
		foreach my $signature (map { expand($_) } grep { /$arrow/ } /`([^`]+)`/g)
		{
			# the notation itself
			next if $signature =~ /^(name\(arguments\)|left operator right) /;
			my $line = $signature =~ /^\w+\(/ ? "function $signature | " . ($attributes // '') : "operator $signature";
			$objects{"$line (twice)"} = 1 if $objects{$line};
			$objects{$line} = 1;
		}

		if (!/^\|/)
		{
			undef $row;
		}
		elsif (!defined $row)
		{
			my $head = join ' | ', cells($_);
			$row = $tables{$head} // sub { () };
		}
		elsif (!/^\|[-|]+$/)
		{
			$objects{$_} = 1 foreach $row->(cells($_));
		}
	}
	return \%objects;
}

sub cells
{
	my ($row) = @_;
	$row =~ s/`//g;
	my @cells = split /\|/, $row, -1;
	return map { s/^\s+|\s+$//gr } @cells[ 1 .. $#cells - 1 ];
}

# What the one has and the other has not
sub differences
{
	my ($page_objects, $actual) = @_;
	return join '', map { "$_\n" }
	  (map { "not on the page: $_" } sort grep { !$page_objects->{$_} } keys %$actual),
	  (map { "not there: $_" } sort grep { !$actual->{$_} } keys %$page_objects);
}

my $node = make_node('reference_page', []);
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simhash');

my $members = q{
	CREATE TEMP VIEW members AS
	SELECT classid, objid FROM pg_depend JOIN pg_extension e ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid
	WHERE extname = 'simhash' AND deptype = 'e';
};
my %actual = map { $_ => 1 } split /\n/, $node->safe_psql('postgres', $members . q{
	CREATE FUNCTION pg_temp.type_name(oid) RETURNS text LANGUAGE sql AS 'SELECT format_type($1, NULL)';

	SELECT format('function %s(%s) → %s | %s', proname,
		(SELECT string_agg(concat_ws(' ', nullif(proargnames[n], ''), pg_temp.type_name(t),
				'DEFAULT ' || regexp_replace(pg_get_function_arg_default(p.oid, n::integer), '::[a-z ]+(\[\])?$', '')), ', ' ORDER BY n)
			FROM unnest(proargtypes) WITH ORDINALITY AS a (t, n)),
		coalesce((SELECT CASE WHEN proretset THEN 'setof ' ELSE '' END
				|| format('record (%s)', string_agg(concat_ws(' ', proargnames[n], pg_temp.type_name(t)), ', ' ORDER BY n))
			FROM unnest(proallargtypes) WITH ORDINALITY AS a (t, n) WHERE proargmodes[n] = 'o' HAVING count(*) > 0),
			pg_get_function_result(oid)),
		concat_ws(', ', CASE provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END,
			CASE WHEN proisstrict THEN 'strict' END, CASE WHEN proleakproof THEN 'leakproof' END,
			'parallel ' || CASE proparallel WHEN 's' THEN 'safe' WHEN 'r' THEN 'restricted' ELSE 'unsafe' END))
	FROM pg_proc p JOIN members ON classid = 'pg_proc'::regclass AND objid = oid;

	SELECT format('operator %s %s %s → %s', pg_temp.type_name(oprleft), oprname, pg_temp.type_name(oprright), pg_temp.type_name(oprresult))
	FROM pg_operator JOIN members ON classid = 'pg_operator'::regclass AND objid = oid;

	-- not those of arrays and of the rows of views, which only newer servers count as members
	SELECT 'type ' || pg_temp.type_name(oid)
	FROM pg_type t JOIN members ON classid = 'pg_type'::regclass AND objid = oid
	WHERE typrelid = 0 AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = t.oid);

	SELECT format('cast %s AS %s %s', pg_temp.type_name(castsource), pg_temp.type_name(casttarget),
		CASE castcontext WHEN 'i' THEN 'implicit' WHEN 'a' THEN 'assignment' ELSE 'explicit' END)
	FROM pg_cast JOIN members ON classid = 'pg_cast'::regclass AND objid = oid;

	SELECT format('class %s using %s for %s family %s', opcname, amname, pg_temp.type_name(opcintype), opfname)
	FROM pg_opclass c JOIN members ON classid = 'pg_opclass'::regclass AND objid = c.oid
	JOIN pg_am a ON a.oid = opcmethod JOIN pg_opfamily f ON f.oid = opcfamily;
	SELECT format('family %s using %s', opfname, amname)
	FROM pg_opfamily f JOIN members ON classid = 'pg_opfamily'::regclass AND objid = f.oid JOIN pg_am a ON a.oid = opfmethod;

	SELECT format('strategy %s %s %s %s', amopstrategy, pg_temp.type_name(amoplefttype), oprname, pg_temp.type_name(amoprighttype))
	FROM pg_amop JOIN pg_opfamily f ON f.oid = amopfamily JOIN pg_am a ON a.oid = opfmethod JOIN pg_operator o ON o.oid = amopopr
	WHERE amname = 'simhash' AND (opfname, amoplefttype) IN (('simhash_ops', 'simhash'::regtype), ('simhash_bits_ops', 'simhash_bits'::regtype),
		('simhash_text_ops', 'text'::regtype), ('simhash_title_ops', 'text'::regtype), ('simhash_bytea_ops', 'bytea'::regtype));

	SELECT format('column %s %s', attname, pg_temp.type_name(atttypid))
	FROM pg_attribute JOIN members ON classid = 'pg_class'::regclass AND objid = attrelid WHERE attnum > 0;
});

my %names = map { $_ => 1 } split /\n/, $node->safe_psql('postgres', q{
	SELECT proname FROM pg_proc UNION SELECT typname FROM pg_type UNION SELECT relname FROM pg_class
	UNION SELECT opcname FROM pg_opclass UNION SELECT opfname FROM pg_opfamily});

# The table of all names has what is to be called.  The section of internal functions has what says
# in its comment that it is internal, and operators' functions.
my @names_where = map {
	{ map { $_ => 1 } split /\n/, $node->safe_psql('postgres', "$members $_") }
} map {
	"SELECT DISTINCT proname FROM pg_proc p JOIN members ON classid = 'pg_proc'::regclass AND objid = p.oid
		WHERE obj_description(p.oid, 'pg_proc') $_"
} q{~ '^(internal: |I/O)'}, q{~ '^implementation of '}, q{!~ '^(internal: |I/O|implementation of )'
	UNION SELECT typname FROM pg_type t JOIN members ON classid = 'pg_type'::regclass AND objid = oid
	WHERE typrelid = 0 AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = t.oid)
	UNION SELECT relname FROM pg_class JOIN members ON classid = 'pg_class'::regclass AND objid = oid};
my ($internal, $of_operators, $to_call) = @names_where;
my ($names_table) = $page =~ /^These are all names:\n\n(.*?)\n\n/ms;
my %names_in_table = map { $_ => 1 } $names_table =~ /`(\w+)`/g;
my ($internal_section) = $page =~ /^(## Internal functions\n.*)/ms;
my %in_section = map { $_ => 1 } grep { /^\w+$/ } map { expand($_) } $internal_section =~ /`([^`]+)`/g;
# that of an operator is to be called, too, unless it is named there
is( join(' ', sort keys %names_in_table),
	join(' ', sort keys %$to_call, grep { !$in_section{$_} && !$to_call->{$_} } keys %$of_operators), 'the table of all names');
is( join(' ', sort grep { !$in_section{$_} } keys %$internal) . '; '
	  . join(' ', sort grep { !$internal->{$_} && !$of_operators->{$_} } keys %in_section), '; ',
	'internal functions have a section, and a comment that says so');

# Elsewhere each function has its signature: those of the section are not described, unless one
# of the same name is.
my %described = map { /^function (\w+)\(/ ? ($1 => 1) : () } keys %{ page_objects($page) };
my @only_named = grep { /^function (\w+)\(/ && $in_section{$1} && !$described{$1} } keys %actual;
is(join(' ', sort grep { !exists $names{$_} } keys %in_section), '', 'the internal functions that it names are there');
delete @actual{@only_named};

# other kinds of objects, and more of those of which the page has one
is( $node->safe_psql('postgres', q{
		SELECT classid::regclass, CASE classid WHEN 'pg_class'::regclass THEN objid::regclass::text WHEN 'pg_am'::regclass THEN amname::text END
		FROM pg_depend JOIN pg_extension e ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid LEFT JOIN pg_am a ON a.oid = objid
		WHERE extname = 'simhash' AND deptype = 'e'
			AND classid <> ALL ('{pg_proc,pg_operator,pg_type,pg_cast,pg_opclass,pg_opfamily}'::regclass[])
		ORDER BY 1, 2}),
	"pg_class|simhash_stat_progress\npg_am|simhash", 'one view and one access method, and no other kinds of objects');

# options: the range from the error message; the defaults in the metapage, and by the
# size of the index
load_pages($node);
$node->safe_psql('postgres', q{
	CREATE TABLE t AS SELECT hashtextextended(i::text, 0)::simhash AS fp FROM generate_series(1, 20000) i;
	CREATE INDEX t_fp ON t USING simhash (fp);
});
my %default;
@default{ 'blocks', 'distance' } =
  split /\|/, $node->safe_psql('postgres', q{SELECT blocks, distance FROM page_info('t_fp', 0)});
my $size = $node->safe_psql('postgres', q{SELECT pg_relation_size('t_fp')});
my ($fillfactor) = $page =~ /^\| `fillfactor` .* \| (\d+) \|/m;
$node->safe_psql('postgres', "CREATE INDEX other ON t USING simhash (fp) WITH (fillfactor = $fillfactor)");
$default{fillfactor} = $fillfactor if $size == $node->safe_psql('postgres', q{SELECT pg_relation_size('other')});
$default{bands} = 'by class';
foreach my $option ('blocks', 'distance', 'bands', 'fillfactor')
{
	my ($status, $stdout, $stderr) = $node->psql('postgres', "ALTER INDEX t_fp SET ($option = 1000000)");
	my ($from, $to) = $stderr =~ /Valid values are between "(\d+)" and "(\d+)"/;
	$actual{"option $option integer $from to $to default " . ($default{$option} // '?')} = 1;
}
my ($status, $stdout, $stderr) = $node->psql('postgres', 'ALTER INDEX t_fp SET (another = 1)');
like($stderr, qr/unrecognized parameter "another"/, 'an option that does not exist');
$node->stop;

# conditions: what the sources report, with the names and codes of the server's list
my $sharedir = `pg_config --sharedir` =~ s/\n//r;
my %condition;
foreach (split /\n/, slurp_file("$sharedir/errcodes.txt"))
{
	$condition{$2} //= "$1 $3" if /^(\w{5})\s+\w\s+ERRCODE_(\w+)\s+(\w+)/;
}
# (aclcheck_error has one of its own)
my %macros = map { $_ => 1 } map { s/aclcheck_error\(/errcode(ERRCODE_INSUFFICIENT_PRIVILEGE) /gr =~ /(?:errcode\(|report_refused\(clause, )ERRCODE_(\w+)/g }
  map { slurp_file($_) } glob("$top/src/*/*.[ch] $top/src/*.[ch]");
$actual{"condition $condition{$_}"} = 1 foreach keys %macros;

cmp_ok(scalar(keys %actual), '>', 200, 'there is much to describe');
is(differences(page_objects($page), \%actual), '', 'the page describes what there is, and nothing else');

# What other pages call by a name like ours is there, or is made on that page.
sub unknown_names
{
	my ($content) = @_;
	my %made = map { $_ => 1 } $content =~ /\bCREATE\b[^;(]*?\b(simhash_\w+)/g;
	my %used = map { $_ => 1 } $content =~ /\b(simhash_\w*[a-z0-9])(?!\w|\.\w)/g;
	return join ' ', sort grep { !$names{$_} && !$made{$_} } keys %used;
}
is(unknown_names(slurp_file($_)), '', substr($_, length("$top/")) . ' names what there is')
  foreach "$top/README.md", sort glob("$top/doc/*.md");
is( unknown_names("use simhash_find and simhash_reference.py\nCREATE OPERATOR CLASS simhash_8_ops ...\nsimhash_{eq, ne}, simhash_hash."),
	'simhash_find', 'a name that is not there is seen');

# Changes of the page are seen.
my $count = 0;
foreach my $change (
	[ qr/^- `hamming.*\n/m, '' ], [ qr/shingle integer DEFAULT 4/, 'shingle integer DEFAULT 5' ],
	[ qr/^Attributes: immutable, strict, leakproof, parallel safe\.$/m, 'Attributes: immutable, strict, parallel safe.' ],
	[ qr/`simhash <%> simhash $arrow boolean`/, "`simhash <&> simhash $arrow boolean`" ],
	[ qr/smallint, integer, bigint\}/, 'smallint, integer}' ],
	[ qr/`bigint AS simhash`, implicit/, '`bigint AS simhash`, assignment' ], [ qr/^- type `simhash_ball`.*\n/m, '' ],
	[ qr/`int2_ops`/, '`int8_ops`' ], [ qr/^\| 2 /m, '| 9 ' ], [ qr/\| 10 to 100 \| 90 /, '| 10 to 100 | 80 ' ],
	[ qr/`tables_done`, integer/, '`tables_done`, bigint' ], [ qr/^- 22P03 .*\n/m, '' ])
{
	my ($pattern, $other) = @$change;
	my $changed = $page;
	$changed =~ s/$pattern/$other/ or die $pattern;
	isnt(differences(page_objects($changed), \%actual), '', 'a change that is seen: ' . ++$count);
}
done_testing();
