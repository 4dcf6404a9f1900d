-- Inserts: one statement that inserts all rows of table "more" into a fresh
-- copy of the table.  Time and WAL are those of the whole statement, heap
-- included; the heap alone is measured too, as a line of its own.

CREATE TEMP TABLE took (side text, ms float8, wal float8);

CREATE PROCEDURE copy_table(side text) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS c;
	IF side = 'ours' THEN
		CREATE TABLE c AS TABLE s;
		CALL make_our_index('c');
	ELSE
		CREATE TABLE c AS TABLE d;
		IF side = 'four' THEN
			CALL make_baseline_indexes('c');
		ELSIF side = 'one' THEN
			CREATE INDEX c_h ON c (h);
		END IF;
	END IF;
END $$;

CREATE PROCEDURE insert_more(side text) LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz;
	lsn pg_lsn;
BEGIN
	lsn := pg_current_wal_insert_lsn();
	started := clock_timestamp();
	IF side = 'ours' THEN
		INSERT INTO c SELECT id, fp FROM more;
	ELSE
		INSERT INTO c SELECT id, h FROM more;
	END IF;
	INSERT INTO took
	SELECT side, 1000 * extract(epoch FROM clock_timestamp() - started),
		   pg_current_wal_insert_lsn() - lsn;
END $$;

-- a round of each side in turn, so that a slow moment of the machine hits all
SELECT s
FROM setting, generate_series(1, rounds) round,
	 unnest('{heap,ours,four,one}'::text[]) WITH ORDINALITY side(side, n),
	 LATERAL (VALUES (1, format('CALL copy_table(%L)', side)),
					 (2, 'VACUUM (ANALYZE) c'),
					 (3, 'CHECKPOINT'),
					 (4, format('CALL insert_more(%L)', side))) step(step, s)
ORDER BY round, n, step
\gexec

INSERT INTO result (what, unit, ours, baseline, baseline_name)
SELECT format('insert of %s rows, full_page_writes %s', inserts,
			  current_setting('full_page_writes')),
	   'us/row', 1000 * ours.ms / inserts, 1000 * base.ms / inserts, base.name
FROM setting,
	 (SELECT median(array_agg(ms)) AS ms FROM took WHERE side = 'ours') ours,
	 (SELECT name, n, median(array_agg(ms)) AS ms
	  FROM took NATURAL JOIN (VALUES ('four', 'four btrees', 1), ('one', 'one btree on bigint', 2),
									 ('heap', 'no index at all', 3)) v(side, name, n)
	  GROUP BY name, n) base
ORDER BY n;
INSERT INTO result (what, unit, ours, baseline, baseline_name)
SELECT format('WAL of these inserts, full_page_writes %s', current_setting('full_page_writes')),
	   'bytes/row', ours.wal / inserts, base.wal / inserts, base.name
FROM setting,
	 (SELECT median(array_agg(wal)) AS wal FROM took WHERE side = 'ours') ours,
	 (SELECT name, n, median(array_agg(wal)) AS wal
	  FROM took NATURAL JOIN (VALUES ('four', 'four btrees', 1), ('one', 'one btree on bigint', 2),
									 ('heap', 'no index at all', 3)) v(side, name, n)
	  GROUP BY name, n) base
ORDER BY n;

DROP PROCEDURE copy_table, insert_more;
DROP TABLE c, took;
