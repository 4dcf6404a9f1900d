-- See the file texts.  Variables: rows, lookups.  Needs measure.sql.

SET client_min_messages = warning;
CREATE EXTENSION simhash;
CREATE EXTENSION pg_trgm;
ALTER DATABASE texts SET pg_trgm.similarity_threshold = 0.8;
CREATE UNIQUE INDEX document_id ON document (id);
CREATE TABLE later (LIKE document);
\copy later from 'later'
CREATE TABLE asked AS SELECT row_number() OVER ()::int AS id, body FROM (SELECT body FROM document ORDER BY hashint8(id), id LIMIT :lookups) s;
CREATE UNIQUE INDEX ON asked (id);
CREATE TABLE band (key bigint, id int);
CREATE TABLE asked_band (key bigint, id int);
CREATE INDEX ON asked_band (id);
VACUUM (FREEZE, ANALYZE);
INSERT INTO took (measured, way, counted) SELECT 'bytes of the table', 'none', pg_table_size('document');

-- Each way has an index, i, and the statements that use it.
CREATE TABLE jobs (place serial, way text, phase text, measured text, per float8, statements text[]);
INSERT INTO jobs (way, phase, measured, per, statements) VALUES
('simhash', 'read', 'build', 1, '{CREATE INDEX i ON document USING simhash (body simhash_text_ops),SELECT pg_relation_size(''i'')}'),
('md5', 'read', 'build', 1, '{CREATE INDEX i ON document (md5(body)),SELECT pg_relation_size(''i'')}'),
('trgm', 'read', 'build', 1, '{CREATE INDEX i ON document USING gin (body gin_trgm_ops),SELECT pg_relation_size(''i'')}'),
('bands', 'read', 'build', 1, '{CREATE INDEX i ON band (key) INCLUDE (id),SELECT pg_relation_size(''i'')}'),
('passages', 'read', 'build', 1, '{CREATE INDEX i ON document USING gin (body simhash_passage_ops),SELECT pg_relation_size(''i'')}'),
('simhash', 'read', 'lookups in one statement, each', :lookups, '{SELECT count(*) FROM asked q JOIN document d ON d.body =~= q.body}'),
('md5', 'read', 'lookups in one statement, each', :lookups, '{SELECT count(*) FROM asked q JOIN document d ON md5(d.body) = md5(q.body)}'),
('simhash', 'read', 'find_duplicates', 1, '{SELECT count(*) FROM simhash_find_duplicates(''i'')}'),
('simhash', 'read', 'find_clusters', 1, '{SELECT count(*) FROM simhash_find_clusters(''i'')}'),
('md5', 'read', 'find_duplicates', 1, '{SELECT count(*) - count(DISTINCT md5(body)) FROM document}');

INSERT INTO jobs (way, phase, measured, per, statements)
SELECT way, 'write', 'insert, a row', 5000, ARRAY[format('INSERT INTO document SELECT * FROM later WHERE id <= %s', :rows + 5000)]
FROM unnest('{none,simhash,md5,trgm,passages}'::text[]) way;
INSERT INTO jobs (way, phase, measured, per, statements) VALUES
('simhash', 'write', 'delete duplicates', 1, ARRAY[format('CREATE TABLE clean AS SELECT * FROM document d WHERE id <= %s AND NOT EXISTS (SELECT FROM simhash_find_duplicates(''i'') f'
	' WHERE f.duplicate = d.ctid)', :rows), 'SELECT count(*) FROM clean']),
('simhash', 'write', 'ADD CONSTRAINT', 1, '{ALTER TABLE clean ADD CONSTRAINT c EXCLUDE USING simhash (body simhash_text_ops WITH =~=)}'),
('simhash', 'write', 'insert with the constraint, a row', 5000,
 ARRAY[format('INSERT INTO clean SELECT * FROM later WHERE id <= %s ON CONFLICT DO NOTHING', :rows + 5000)]);

-- the greatest memory of this process, but for shared buffers
CREATE FUNCTION private_memory() RETURNS bigint LANGUAGE sql
RETURN (SELECT 1024 * (substring(status, 'VmHWM:\s+(\d+)')::bigint - substring(status, 'RssShmem:\s+(\d+)')::bigint)
	FROM pg_read_file('/proc/self/status') status);

CREATE PROCEDURE run(wanted text, phase_wanted text) LANGUAGE plpgsql AS $$
DECLARE
	job jobs;
	wal pg_lsn;
BEGIN
	FOR job IN SELECT * FROM jobs WHERE way = wanted AND phase = phase_wanted ORDER BY place LOOP
		wal := pg_current_wal_insert_lsn();
		CALL measure(job.measured, job.way, job.per, NULL, VARIADIC job.statements);
		IF job.measured ~ '^(build|insert)' THEN
			INSERT INTO took (measured, way, counted)
			SELECT job.measured || ', bytes of WAL', job.way, (pg_current_wal_insert_lsn() - wal) / job.per;
		END IF;
		IF job.measured ~ '^(build|find)' THEN
			INSERT INTO took (measured, way, counted) SELECT job.measured || ', bytes of memory', job.way, private_memory();
		END IF;
		COMMIT;
	END LOOP;
	IF phase_wanted = 'write' THEN
		SET LOCAL client_min_messages = warning;
		DROP INDEX IF EXISTS i;
		DELETE FROM document USING later WHERE document.id = later.id;
	END IF;
END $$;

CREATE PROCEDURE scan() LANGUAGE plpgsql AS $$
BEGIN
	CALL measure('lookup, p50', 'scan', 1, NULL, 'SELECT count(*) FROM document WHERE body =~= (SELECT body FROM asked WHERE id = 1)');
END $$;

-- of rows made from others, 1,000 of each kind: those that share 0.8 and more
CREATE VIEW recall AS
SELECT kind, count(*) FILTER (WHERE jaccard >= 0.8) AS pairs, count(*) FILTER (WHERE found AND jaccard >= 0.8) AS found,
	count(*) FILTER (WHERE jaccard < 0.8) AS "below 0.8", count(*) FILTER (WHERE found AND jaccard < 0.8) AS "wrongly found"
FROM (SELECT d.kind, simhash_jaccard(d.body, o.body) AS jaccard, d.body =~= o.body AS found
	FROM (SELECT *, row_number() OVER (PARTITION BY kind) AS number FROM document WHERE origin IS NOT NULL AND kind <> 'quote') d
	JOIN document o ON o.id = d.origin WHERE number <= 1000 OFFSET 0) p
GROUP BY kind ORDER BY kind;

CREATE VIEW report AS
SELECT measured, way, CASE WHEN seconds < 1 THEN round(1000 * seconds::numeric, 3) || ' ms' ELSE round(seconds::numeric, 1) || ' s' END AS elapsed,
	CASE WHEN cpu < 1 THEN round(1000 * cpu::numeric, 3) || ' ms' ELSE round(cpu::numeric, 1) || ' s' END AS cpu,
	CASE WHEN measured ~ 'bytes' OR measured = 'build' THEN pg_size_pretty(counted) ELSE counted::text END AS counted
FROM took ORDER BY min(id) OVER (PARTITION BY measured), id;
