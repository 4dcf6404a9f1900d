-- on the coordinator
-- Experimental: load what is in staging, without what is near existing rows or other rows of staging.  If another
-- session has loaded a near-duplicate in the meantime, a shard rejects the rows, and this starts again.
CREATE PROCEDURE load_staging(one_at_a_time boolean DEFAULT false) LANGUAGE plpgsql AS $$
DECLARE
    loaded boolean := false;
    conflict text;
    conflicts text[];
BEGIN
    PERFORM FROM docs WHERE id = ANY (ARRAY(SELECT id FROM staging)) LIMIT 1;
    IF NOT FOUND THEN
        PERFORM FROM block_rows WHERE id = ANY (ARRAY(SELECT id FROM staging)) LIMIT 1;
    END IF;
    IF FOUND THEN
        RAISE unique_violation USING MESSAGE = 'docs or block_rows has some of these ids already',
            HINT = 'If a load of these rows has failed, delete what it left in both tables. Then load again.';
    END IF;
    WHILE NOT loaded LOOP
        WITH near AS MATERIALIZED (SELECT fp FROM docs WHERE fp % ANY (ARRAY(SELECT fp FROM staging)))
        DELETE FROM staging s USING near WHERE s.fp % near.fp;
        COMMIT;
        IF one_at_a_time THEN
            PERFORM pg_advisory_xact_lock('block_rows'::regclass::bigint);
        END IF;
        BEGIN
            DELETE FROM staging s USING simhash_find_duplicates('staging_fp', 3, keep => 'id') f WHERE s.ctid = f.duplicate;
            INSERT INTO block_rows SELECT b.prefix * 4 + b.table_no, s.fp, s.id FROM staging s, simhash_blocks(s.fp) b ORDER BY 1;
            INSERT INTO docs SELECT id, body, fp FROM staging;
            loaded := true;
        EXCEPTION
            WHEN exclusion_violation OR lock_not_available OR deadlock_detected OR internal_error THEN
                -- Citus calls what a shard refuses an internal error
                IF SQLSTATE = 'XX000' AND SQLERRM !~ 'violates exclusion constraint|deadlock detected' THEN
                    RAISE;
                END IF;
                RAISE NOTICE 'starting again: %', SQLERRM;
                GET STACKED DIAGNOSTICS conflict = PG_EXCEPTION_DETAIL;
                conflicts := conflicts || conflict;
                IF conflict <> '' AND cardinality(array_positions(conflicts, conflict)) = 3 THEN
                    RAISE integrity_constraint_violation USING MESSAGE = 'block_rows has a row without its document',
                        DETAIL = conflict, HINT = 'Find its id by block and fp. If docs has no such row, delete the id from block_rows.';
                END IF;
        END;
        IF loaded THEN
            COMMIT;
        ELSE
            ROLLBACK;
            PERFORM pg_sleep(random() / 5);
        END IF;
    END LOOP;
END $$;
