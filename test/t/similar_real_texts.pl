# The operator =~= on real texts: with an index the rows are those of its definition, found
# without the index and without fingerprints.

use lib 'test/t';
use SimhashTest;

my $node = start_node('similar_real', [], 'work_mem = 64MB', 'maintenance_work_mem = 64MB');
$node->safe_psql('postgres', slurp_file("$FindBin::RealBin/../similar.sql"));

# Paragraphs as they are; in a frame that all of them share, like the pages of a site; and
# edited ones, of which such texts have few.
my %corpus = (
	plain => q{SELECT body FROM (SELECT DISTINCT ON (md5(body)) body FROM texts) s ORDER BY md5(body) LIMIT 6000},
	framed => q{SELECT frame || ' ' || body FROM (SELECT body FROM texts WHERE length(body) BETWEEN 150 AND 700
			ORDER BY md5(body) LIMIT 1500) own,
		(SELECT string_agg(body, ' ') AS frame FROM (SELECT body FROM texts WHERE length(body) BETWEEN 60 AND 100
			ORDER BY md5(body) LIMIT 10) s) frames},
	edited => q{SELECT CASE n % 4 WHEN 0 THEN body WHEN 1 THEN upper(body) || ' ' || n WHEN 2 THEN 'Re: ' || body
			ELSE regexp_replace(body, '\w+', 'edited', 1, 5 + n) END
		FROM (SELECT body FROM texts WHERE length(body) BETWEEN 100 AND 600 ORDER BY md5(body) LIMIT 400) s,
			generate_series(0, 7) n});
my $texts = library_texts(8000);
$node->safe_psql('postgres', "CREATE TABLE texts (name text, body text); COPY texts FROM '$texts'");

foreach my $name (sort keys %corpus)
{
	$node->safe_psql('postgres', qq{
		CREATE TABLE $name AS SELECT row_number() OVER ()::bigint AS id, body FROM ($corpus{$name}) s (body);
		ALTER TABLE $name ADD PRIMARY KEY (id);
		CREATE INDEX ${name}_body ON $name USING simhash (body simhash_text_ops);
		VACUUM ANALYZE $name;
		CALL expect_similar('$name');
		DROP TABLE IF EXISTS bands;
		CREATE TABLE bands AS SELECT id, simhash_bands(body, bands => 7) AS bands FROM $name;
	});
	my ($rows, $candidates, $pairs) = split /\|/, $node->safe_psql('postgres', qq{
		SELECT (SELECT count(*) FROM $name), (SELECT count(*) FROM bands x JOIN bands y ON x.id < y.id AND share_band(x.bands, y.bands)),
			(SELECT count(*) FROM similar_pair)});
	note("$name: $rows rows, $candidates pairs that share a band, $pairs pairs");
	cmp_ok($rows, '>', 1000, "$name: there are texts");
	cmp_ok($candidates, '>', $pairs, "$name: there are pairs that only the texts tell apart");
	cmp_ok($pairs, '>', $name eq 'edited' ? 1000 : 0, "$name: there are pairs");
	foreach my $line (split /\n/, $node->safe_psql('postgres', "SELECT * FROM compare_similar('$name', '${name}_body')"))
	{
		my ($what, $found, $missing, $wrong) = split /\|/, $line;
		note("$name, $what: $found rows");
		cmp_ok($found, '>', 0, "$name, $what: finds rows") if $what ne 'pairs';
		is("$missing missing, $wrong wrong", '0 missing, 0 wrong', "$name, $what: the same rows as without the index");
	}
	is_sound($node, $name, "${name}_body", 'kept_body_excl');
}
$node->stop;
done_testing();
