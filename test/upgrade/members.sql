-- All that the catalogs say about the extension, without OIDs: to compare an
-- extension that was updated with one that was installed fresh, or the catalogs
-- before and after a change of the script.  Run by psql -XAtq; compare the output.
--
-- A line for each row of a catalog: of the extension, of its members, and of what
-- belongs to these, such as the operators of a family.  It has all columns, with
-- the names of the objects that they refer to; and the comment, the initial
-- privileges, and what the object depends on.
SET search_path = pg_catalog;

-- A column of a catalog as an expression, or null if it says nothing that can be
-- compared: an OID of its own, what the server counts (some put a number into
-- attoptions), or an expression in a form that has OIDs (these are deparsed below).
CREATE FUNCTION pg_temp.column_value(catalog regclass, col name, coltype regtype) RETURNS text LANGUAGE sql AS $$
	SELECT CASE
		WHEN col = 'oid' OR coltype IN ('pg_node_tree'::regtype, 'xid'::regtype)
			OR col IN ('relfilenode', 'relpages', 'reltuples', 'relallvisible', 'relallfrozen', 'attoptions') THEN NULL
		WHEN pktable IS NULL THEN format('to_jsonb(x.%I::text)', col)
		WHEN is_array THEN format('(SELECT jsonb_agg(pg_describe_object(%L::regclass, o, 0) ORDER BY no)'
			' FROM unnest(x.%I) WITH ORDINALITY AS u (o, no))', pktable, col)
		ELSE format('to_jsonb(pg_describe_object(%L::regclass, nullif(x.%I::oid, 0), 0))', pktable, col)
		END
	FROM (VALUES (true)) AS one LEFT JOIN pg_get_catalog_foreign_keys()
		ON fktable = catalog AND fkcols = ARRAY[col::text] AND pkcols = ARRAY['oid'];
$$;

-- Rows of a catalog, those with one of some objects in a column
CREATE FUNCTION pg_temp.catalog_rows(catalog regclass, col name, objects oid[])
RETURNS TABLE (object text, definition jsonb) LANGUAGE plpgsql AS $$
DECLARE
	id text := CASE WHEN EXISTS (SELECT FROM pg_attribute WHERE attrelid = catalog AND attname = 'oid') THEN 'x.oid' ELSE 'NULL' END;
	columns text := (
		SELECT string_agg(format('%L, %s', attname, value), ', ' ORDER BY attnum)
		FROM pg_attribute, pg_temp.column_value(catalog, attname, atttypid) AS value
		WHERE attrelid = catalog AND attnum > 0 AND NOT attisdropped AND value IS NOT NULL);
BEGIN
	RETURN QUERY EXECUTE format(
		'SELECT pg_describe_object(%L::regclass, %s, 0), jsonb_build_object(%s) FROM %s x WHERE x.%I = ANY ($1)',
		catalog, id, columns, catalog, col) USING objects;
END $$;

CREATE TEMP VIEW members AS
SELECT classid::regclass AS catalog, objid AS id
FROM pg_depend JOIN pg_extension e ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid
WHERE extname = 'simhash' AND deptype = 'e'
UNION ALL
SELECT 'pg_extension'::regclass, oid FROM pg_extension WHERE extname = 'simhash';

CREATE TEMP VIEW lines AS
-- members, and what belongs to them
SELECT c.catalog::text, object, definition::text
FROM (SELECT catalog, 'oid' AS col, array_agg(id) AS objects FROM members GROUP BY catalog
	UNION ALL
	SELECT s.catalog, col, array_agg(id)
	FROM (VALUES ('pg_aggregate'::regclass, 'aggfnoid', 'pg_proc'::regclass),
		('pg_amop', 'amopfamily', 'pg_opfamily'), ('pg_amproc', 'amprocfamily', 'pg_opfamily'),
		('pg_attribute', 'attrelid', 'pg_class'), ('pg_constraint', 'contypid', 'pg_type'),
		('pg_enum', 'enumtypid', 'pg_type')) AS s (catalog, col, of)
	JOIN members m ON m.catalog = s.of GROUP BY s.catalog, col) AS c,
	pg_temp.catalog_rows(c.catalog, col, objects)
UNION ALL
-- expressions
SELECT 'arguments', pg_describe_object(catalog, id, 0), pg_get_function_arguments(id) FROM members WHERE catalog = 'pg_proc'::regclass
UNION ALL
SELECT 'body', pg_describe_object(catalog, id, 0), pg_get_function_sqlbody(id) FROM members WHERE catalog = 'pg_proc'::regclass
UNION ALL
SELECT 'view', pg_describe_object(catalog, id, 0), pg_get_viewdef(id) FROM members WHERE catalog = 'pg_class'::regclass
UNION ALL
-- comments, privileges, dependencies
SELECT 'comment', pg_describe_object(catalog, id, 0), obj_description(id, catalog::text::name) FROM members
UNION ALL
SELECT 'initial privileges', pg_describe_object(catalog, id, objsubid), format('%s %s', privtype, initprivs)
FROM members JOIN pg_init_privs ON classoid = catalog AND objoid = id
UNION ALL
SELECT 'dependency', pg_describe_object(catalog, id, objsubid), format('%s %s', deptype, pg_describe_object(refclassid, refobjid, refobjsubid))
FROM (SELECT * FROM members
	UNION ALL
	SELECT 'pg_amop'::regclass, o.oid FROM pg_amop o JOIN members ON catalog = 'pg_opfamily'::regclass AND id = amopfamily
	UNION ALL
	SELECT 'pg_amproc'::regclass, p.oid FROM pg_amproc p JOIN members ON catalog = 'pg_opfamily'::regclass AND id = amprocfamily) AS all_objects
JOIN pg_depend ON classid = catalog AND objid = id;

SELECT line
FROM (SELECT concat_ws(' | ', catalog, object, definition) AS line FROM lines WHERE definition IS NOT NULL) AS all_lines
ORDER BY line COLLATE "C";
