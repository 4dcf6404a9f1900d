--
-- XOR of all fingerprints and of the queries with one mask changes no answer: distances
-- are the same, whatever bits the scheme looks at first
--
\pset format unaligned
\pset footer off
CREATE SCHEMA batch_masked_test;
SET search_path = batch_masked_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;

-- of 64 bits; those of 96 below repeat some of them
CREATE TABLE plain AS SELECT id, fp::bigint AS h FROM mixed_rows() WHERE id % 3 = 0;
CREATE TABLE mask (mask bigint);
INSERT INTO mask VALUES (-1), (1), (-1::bigint << 63), (6148914691236517205), (bits('mask'));
CREATE TABLE masked (id int, fp simhash);
CREATE INDEX masked_fp ON masked USING simhash (fp);
CREATE TABLE wide (id int, fp simhash_bits(96));
CREATE INDEX wide_fp ON wide USING simhash (fp);

-- The answers as texts: the queries are every 40th row
CREATE FUNCTION answers(mask bigint) RETURNS TABLE (what text, answer text) LANGUAGE plpgsql AS $$
DECLARE
	wide_mask varbit := (mask::bit(64) || substring(mask::bit(64), 17, 32))::varbit;
BEGIN
	TRUNCATE masked, wide;
	INSERT INTO masked SELECT id, (h # mask)::simhash FROM plain;
	INSERT INTO wide SELECT id, ((h::bit(64) || substring(h::bit(64), 9, 32))::varbit # wide_mask)::simhash_bits FROM plain;
	ANALYZE masked, wide;
	RETURN QUERY SELECT 'look-ups', string_agg(format('%s %s %s', q.id, r, near), ';' ORDER BY q.id, r)
		FROM masked q, unnest('{0,3,6,14}'::int[]) r,
			LATERAL (SELECT array_agg(m.id ORDER BY m.id) AS near FROM masked m WHERE m.fp <~> q.fp <= r) s
		WHERE q.id % 40 = 0;
	RETURN QUERY SELECT 'wide look-ups', string_agg(format('%s %s %s', q.id, r, near), ';' ORDER BY q.id, r)
		FROM wide q, unnest('{0,5,11,20}'::int[]) r,
			LATERAL (SELECT array_agg(m.id ORDER BY m.id) AS near FROM wide m WHERE m.fp <~> q.fp <= r) s
		WHERE q.id % 40 = 0;
	-- of rows at one distance, any may come first
	RETURN QUERY SELECT 'nearest', string_agg(format('%s %s', q.id, near), ';' ORDER BY q.id)
		FROM masked q, LATERAL (SELECT array_agg(d ORDER BY d) AS near
			FROM (SELECT m.fp <~> q.fp AS d FROM masked m ORDER BY m.fp <~> q.fp LIMIT 50) n) s
		WHERE q.id % 40 = 0;
	RETURN QUERY SELECT format('pairs of %s within %s', t, r), string_agg(format('%s %s %s', least(i.id, j.id),
			greatest(i.id, j.id), f.distance), ';' ORDER BY least(i.id, j.id), greatest(i.id, j.id))
		FROM (VALUES ('masked', 3), ('masked', 8), ('wide', 11)) v (t, r),
			simhash_find_all((t || '_fp')::regclass, r) f, rows_of(t) i, rows_of(t) j
		WHERE i.place = f.a AND j.place = f.b GROUP BY t, r;
	RETURN QUERY SELECT format('clusters of %s within %s', t, r), string_agg(members, ';' ORDER BY members)
		FROM (SELECT t, r, array_agg(i.id ORDER BY i.id)::text AS members
			FROM (VALUES ('masked', 3), ('masked', 8), ('wide', 11)) v (t, r),
				simhash_find_clusters((t || '_fp')::regclass, r) f, rows_of(t) i
			WHERE i.place = f.member GROUP BY t, r, f.cluster) c
		GROUP BY t, r;
END $$;
CREATE FUNCTION rows_of(t text) RETURNS TABLE (id int, place tid) LANGUAGE sql AS $$
	SELECT id, ctid FROM masked WHERE t = 'masked' UNION ALL SELECT id, ctid FROM wide WHERE t = 'wide'
$$;

SET enable_seqscan = off; SET enable_sort = off;
CREATE TABLE unmasked AS SELECT * FROM answers(0);
SELECT what, length(answer) > 500 AS long FROM unmasked ORDER BY what COLLATE "C";
SELECT mask, count(*), string_agg(what, ', ') FILTER (WHERE a.answer IS DISTINCT FROM u.answer) AS differ
FROM mask, answers(mask) a FULL JOIN unmasked u USING (what) GROUP BY mask ORDER BY mask;

-- through the indexes
SELECT plan('SELECT id FROM masked WHERE fp <~> ''42'' <= 14');
SELECT plan('SELECT id FROM masked ORDER BY fp <~> ''42'' LIMIT 50');

DROP SCHEMA batch_masked_test CASCADE;
