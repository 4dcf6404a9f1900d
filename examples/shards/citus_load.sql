-- on the coordinator
-- What load_documents.sql does, with Citus: loads write one after the other.
CALL load_staging(one_at_a_time => true);
