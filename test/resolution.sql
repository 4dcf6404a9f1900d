-- What an expression over the table "columns" means: which operators, casts and types the
-- server has chosen, those of parameters, or the error.  For tests that compare this with
-- and without the extension.  The plan shows the casts, and a literal's error its type.
CREATE FUNCTION resolved(expression text) RETURNS text LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	types regtype[];
	line text;
BEGIN
	EXECUTE format('PREPARE resolved AS SELECT pg_typeof(%1$s), %1$s FROM columns', expression);
	SELECT parameter_types INTO types FROM pg_prepared_statements WHERE name = 'resolved';
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) EXECUTE resolved' ||
		coalesce('(' || (SELECT string_agg('NULL', ',') FROM unnest(types)) || ')', '') LOOP
		EXIT WHEN line LIKE '%Output: %';
	END LOOP;
	DEALLOCATE resolved;
	RETURN concat_ws(' ', line, types);
EXCEPTION
	WHEN OTHERS THEN
		-- a prepared statement outlives the error of its plan
		DEALLOCATE ALL;
		RETURN concat_ws(' ', SQLSTATE, SQLERRM);
END $$;
