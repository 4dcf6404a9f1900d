-- Time to build: our index against one btree on the bigint column, and against
-- the four btrees of the baseline, with the same maintenance_work_mem.

CREATE PROCEDURE bench_build(label text) LANGUAGE plpgsql AS $$
DECLARE
	rounds integer := (SELECT s.rounds FROM setting s);
	scheme text := (SELECT format('(%s,%s)', blocks, distance) FROM setting);
	statement text := (SELECT format('CREATE INDEX s_fp ON s USING simhash (fp)'
									 ' WITH (blocks = %s, distance = %s)',
									 blocks, distance) FROM setting);
	ours float8;
	one float8;
	four float8;
	took float8;
BEGIN
	CALL measure_build(statement, 's_fp', rounds, ours);
	CALL measure_build('CREATE INDEX d_h ON d (h)', 'd_h', rounds, one);
	four := 0;
	CALL measure_build('CREATE INDEX d_b ON d ((h & 65535))', 'd_b', rounds, took);
	four := four + took;
	CALL measure_build('CREATE INDEX d_b ON d (((h >> 16) & 65535))', 'd_b', rounds, took);
	four := four + took;
	CALL measure_build('CREATE INDEX d_b ON d (((h >> 32) & 65535))', 'd_b', rounds, took);
	four := four + took;
	CALL measure_build('CREATE INDEX d_b ON d (((h >> 48) & 65535))', 'd_b', rounds, took);
	four := four + took;
	INSERT INTO result (what, unit, ours, baseline, baseline_name)
	VALUES (format('build of %s, %s', scheme, label), 'ms', ours, one, 'one btree on bigint'),
		   (format('build of %s, %s', scheme, label), 'ms', ours, four, 'four btrees');
END $$;

CALL bench_build(format('%s parallel workers allowed', current_setting('max_parallel_maintenance_workers')));
SET max_parallel_maintenance_workers = 0;
CALL bench_build('no parallel workers');
RESET max_parallel_maintenance_workers;

CALL make_our_index('s');
CALL make_baseline_indexes('d');
CREATE INDEX d_h ON d (h);
INSERT INTO result (what, unit, ours, baseline, baseline_name)
SELECT 'index size', 'MB', pg_relation_size('s_fp') / 1048576.0,
	   (pg_relation_size('d_b0') + pg_relation_size('d_b1')
		+ pg_relation_size('d_b2') + pg_relation_size('d_b3')) / 1048576.0,
	   'four btrees';
INSERT INTO result (what, unit, ours, baseline, baseline_name)
SELECT 'index size', 'MB', pg_relation_size('s_fp') / 1048576.0,
	   pg_relation_size('d_h') / 1048576.0, 'one btree on bigint';
DROP INDEX d_h;
ANALYZE d;
ANALYZE s;
