-- The report: one line per measurement, each with both ratios.
\pset footer off
\pset border 2
\pset null -
SELECT what AS "measured", unit,
	   round(ours::numeric, 2) AS simhash,
	   round(baseline::numeric, 2) AS baseline,
	   round((baseline / nullif(ours, 0))::numeric, 2) AS "baseline/simhash",
	   round((ours / nullif(baseline, 0))::numeric, 2) AS "simhash/baseline",
	   baseline_name AS "the baseline"
FROM result ORDER BY id;
