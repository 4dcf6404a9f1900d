# Near-duplicate keys within tenants under concurrency: 8 sessions load into 1,000
# tenants with ON CONFLICT DO NOTHING.  No two rows of a tenant that are near each
# other are ever committed, and no row is refused without one that is the cause.
# Then a dump of such tables, and its restoration.

use lib 'test/t';
use SimhashTest;

my $node = start_node('exclusion_columns', [ extra => [ '--encoding=UTF8', '--no-locale' ] ], 'max_wal_size = 1GB');

# In each tenant 12 clusters, the same ones in all of them; what is offered
# differs in up to three bits from the center, so that a cluster can have several
# rows.  The number of a row says what it is.
$node->safe_psql('postgres', q{
	CREATE FUNCTION offer(cluster integer, what integer) RETURNS simhash LANGUAGE sql IMMUTABLE AS $$
		SELECT CASE WHEN what % 25 > 0 THEN (hashint8extended(cluster, 5) # (1::bigint << (what % 64))
			# (1::bigint << (what / 64 % 64)) # (1::bigint << (what / 4096 % 64)))::simhash END $$;
	CREATE TABLE docs (tenant integer, kind text, fp simhash,
		EXCLUDE USING simhash (tenant WITH =, kind WITH =, fp WITH %));
	CREATE TABLE attempt (tenant integer, kind text, fp simhash);
});

my %script = (
	# a batch, for tenants that others load as well, in the same order
	batch => q{
\set t random(0, 999)
\set w random(0, 262143)
WITH a AS (INSERT INTO attempt SELECT nullif((:t + i / 4) % 1000, 500), CASE WHEN i % 9 > 0 THEN 'k' || i % 2 END,
	offer(i % 12, :w + 67 * i)
	FROM generate_series(0, 47) i RETURNING tenant, kind, fp)
INSERT INTO docs SELECT tenant, kind, fp FROM a ORDER BY tenant, kind, fp ON CONFLICT DO NOTHING;
},
	# few tenants, and time for others to come into the way
	slow => q{
\set t random(0, 9)
\set c random(0, 11)
\set w random(0, 262143)
BEGIN;
WITH a AS (INSERT INTO attempt VALUES (:t, 'k1', offer(:c, :w)) RETURNING tenant, kind, fp)
INSERT INTO docs SELECT tenant, kind, fp FROM a ON CONFLICT DO NOTHING;
\sleep 2 ms
COMMIT;
},
	abort => q{
\set t random(0, 9)
\set c random(0, 11)
\set w random(0, 262143)
BEGIN;
INSERT INTO docs VALUES (:t, 'k1', offer(:c, :w)) ON CONFLICT DO NOTHING;
\sleep 2 ms
ROLLBACK;
});
run_pgbench($node, 'load', \%script, 8, 150, '--max-tries=1000', '--random-seed=28');
is($node->safe_psql('postgres', q{
		SELECT count(*) > 2000, count(DISTINCT tenant) > 600, count(*) < (SELECT count(*) FROM attempt) FROM docs;
		SELECT count(*) FROM docs a JOIN docs b ON a.ctid < b.ctid AND a.tenant = b.tenant AND a.kind = b.kind
			AND distance(a.fp::bigint, b.fp::bigint) <= 3;
	}), "t|t|t\n0", 'no two rows of a tenant are near each other');
is($node->safe_psql('postgres', q{
		SELECT count(*) > 2000, count(*) FILTER (WHERE NOT EXISTS (SELECT FROM docs d
			WHERE d.tenant = a.tenant AND d.kind = a.kind
			AND distance(a.fp::bigint, d.fp::bigint) <= 3))
		FROM attempt a WHERE fp IS NOT NULL AND tenant IS NOT NULL AND kind IS NOT NULL;
	}), 't|0', 'nothing is refused without a row of the tenant that is near');
is($node->safe_psql('postgres', q{
		SELECT (SELECT count(*) FROM docs WHERE tenant IS NULL OR kind IS NULL OR fp IS NULL)
			= count(*), count(*) > 200 FROM attempt WHERE tenant IS NULL OR kind IS NULL OR fp IS NULL;
	}), 't|t', 'rows with a null are never refused');
is($node->safe_psql('postgres', q{
		SELECT count(*) > 100 FROM docs a JOIN docs b
			ON a.tenant <> b.tenant AND a.kind = b.kind AND a.fp = b.fp;
	}), 't', 'other tenants may have the same fingerprints');
is_sound($node, 'after the load', 'docs_tenant_kind_fp_excl');
is($node->safe_psql('postgres', q{
		SET enable_seqscan = off;
		SELECT count(*) FROM docs d WHERE tenant IS NOT NULL AND kind IS NOT NULL AND fp IS NOT NULL
			AND (SELECT count(*) FROM docs e WHERE e.tenant = d.tenant AND e.kind = d.kind AND e.fp <~> d.fp <= 3) <> 1;
	}), '0', 'every row is found by a lookup, alone');

# Dump and restore: constraints, indexes, collations, operator classes of one's
# own, partitions.
my $partitioned = $node->pg_version >= 17;
$node->safe_psql('postgres', q{
	CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE OPERATOR CLASS macaddr_ops DEFAULT FOR TYPE macaddr USING simhash AS
		OPERATOR 1 =, FUNCTION 1 hashmacaddrextended(macaddr, bigint);
	CREATE TABLE kinds (tenant bigint, address macaddr, lang text, fp simhash,
		EXCLUDE USING simhash (tenant WITH =, fp WITH <%>) DEFERRABLE INITIALLY DEFERRED,
		EXCLUDE USING simhash (address WITH =, lang COLLATE ignore_case WITH =, fp WITH =) WITH (blocks = 6)
			WHERE (tenant > 0));
	CREATE INDEX kinds_lang ON kinds USING simhash (lower(lang), (tenant % 7), fp) WITH (fillfactor = 80);
	INSERT INTO kinds SELECT i % 100, CASE WHEN i % 3 > 0 THEN '08:00:2b:01:02:03'::macaddr END, chr(65 + i % 40),
		hashint8extended(i, 0) FROM generate_series(1, 3000) i;
	CREATE TABLE parts (tenant integer, fp simhash) PARTITION BY LIST (tenant);
	CREATE TABLE p1 PARTITION OF parts FOR VALUES IN (1);
	CREATE TABLE p2 PARTITION OF parts FOR VALUES IN (2, NULL);
	CREATE INDEX parts_fp ON parts USING simhash (tenant, fp);
	INSERT INTO parts SELECT nullif(i % 3, 0), hashint8extended(i, 0) FROM generate_series(1, 300) i;
} . ($partitioned ? 'ALTER TABLE parts ADD EXCLUDE USING simhash (tenant WITH =, fp WITH %);' : ''));
is_restored($node, 'postgres', 'new');
is($node->safe_psql('new', q{
		SELECT string_agg(simhash_index_check(indexrelid, true)::text, ''), count(*) FROM pg_index
			JOIN pg_class c ON c.oid = indexrelid
		WHERE relkind = 'i' AND relam = (SELECT oid FROM pg_am WHERE amname = 'simhash');
	}),
	'|' . ($partitioned ? 8 : 6),
	'the indexes of the copy are sound');
my ($status, $stdout, $stderr) = $node->psql('new', 'INSERT INTO kinds SELECT * FROM kinds
	WHERE tenant = 5 AND address IS NOT NULL');
like($stderr, qr/violates exclusion constraint "kinds_address_lang_fp_excl"/, 'a constraint of the copy holds');
$node->stop;
done_testing();
