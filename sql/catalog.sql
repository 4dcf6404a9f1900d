--
-- What each object of the extension owes, whatever it is called.  The lists
-- have rows; the rules after them are queries for what breaks them, and find
-- nothing.
--
CREATE SCHEMA catalog_test;
SET search_path = catalog_test, public;
\pset format unaligned
\pset tuples_only on

CREATE TEMP VIEW members AS
SELECT d.classid, d.objid, pg_describe_object(d.classid, d.objid, 0) AS name
FROM pg_depend d
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND e.extname = 'simhash'
WHERE d.deptype = 'e';
CREATE TEMP VIEW functions AS
SELECT p.*, (SELECT string_agg(t, ' ' ORDER BY no) FROM unnest(proargtypes::regtype[]::text[]) WITH ORDINALITY AS a(t,
	no)) AS arguments,
	'internal' = ANY (proargtypes::regtype[]::text[]) OR prorettype = 'internal'::regtype AS internal
FROM pg_proc p JOIN members ON classid = 'pg_proc'::regclass AND objid = p.oid;
CREATE TEMP VIEW operators AS
SELECT o.*, o.oid::regoperator AS name FROM pg_operator o JOIN members ON classid = 'pg_operator'::regclass
	AND objid = o.oid;
CREATE TEMP VIEW class_operators AS
SELECT a.*, am.amname, f.opfname, amopopr::regoperator AS name,
	EXISTS (SELECT FROM pg_opclass WHERE opcfamily = f.oid) AS has_class
FROM pg_amop a JOIN pg_opfamily f ON f.oid = amopfamily JOIN pg_am am ON am.oid = amopmethod
JOIN members ON classid = 'pg_opfamily'::regclass AND objid = f.oid;

-- The surface is no larger than it has to be.
SELECT (SELECT count(*) FROM functions) <= 195 AS functions, (SELECT count(*) FROM operators) <= 62 AS operators;

-- the checks see something
SELECT (SELECT count(*) FROM members) > 150, (SELECT count(*) FROM functions) > 80,
	(SELECT count(*) FROM operators) > 20,
	(SELECT count(*) FROM class_operators) > 15;

--
-- Lists, to be looked at when they change
--
-- functions to call; the comments of others say that they are internal
SELECT proname, count(*) FROM functions
WHERE obj_description(oid, 'pg_proc') !~ '^(implementation of .* operator|I/O.*|internal: .*)$'
GROUP BY proname ORDER BY proname COLLATE "C";
-- functions that are not immutable
SELECT proname, CASE provolatile WHEN 's' THEN 'stable' ELSE 'volatile' END FROM functions WHERE provolatile <> 'i'
ORDER BY proname COLLATE "C", arguments;
-- not strict, though they have an argument
SELECT proname, arguments FROM functions WHERE NOT proisstrict AND pronargs > 0 AND prokind = 'f'
ORDER BY proname COLLATE "C", arguments;
-- not safe in a parallel worker
SELECT proname, CASE proparallel WHEN 'r' THEN 'restricted' ELSE 'unsafe' END FROM functions WHERE proparallel <> 's'
ORDER BY proname COLLATE "C", arguments;
-- operators whose result is no boolean, which need no estimator
SELECT name, oprresult::regtype FROM operators WHERE oprresult <> 'boolean'::regtype ORDER BY name::text COLLATE "C";

--
-- Rules.  Nothing has a row from here on.
--
-- no comment; types of arrays and of rows, which belong to an extension since
-- 17, need none, nor do the rules that make views
SELECT name FROM members
WHERE coalesce(obj_description(objid, classid::regclass::text::name), '') = ''
	AND classid <> 'pg_rewrite'::regclass
	AND NOT (classid = 'pg_type'::regclass AND EXISTS (
		SELECT FROM pg_type t WHERE t.typarray = objid OR (t.oid = objid AND t.typrelid <> 0)))
ORDER BY 1;

-- the function behind an operator says so, and nothing else does
SELECT name FROM operators JOIN functions f ON f.oid = oprcode
WHERE obj_description(f.oid, 'pg_proc') <> 'implementation of ' || oprname || ' operator'
	AND proname <> 'hamming'
ORDER BY name::text;
SELECT proname FROM functions f
WHERE obj_description(f.oid, 'pg_proc') LIKE 'implementation of % operator'
AND NOT EXISTS (SELECT FROM operators WHERE oprcode = f.oid);
-- a comment of an operator is its own, except where operators differ in nothing
-- but the type of a number
SELECT obj_description(oid, 'pg_operator'), count(*) FROM operators
WHERE 'simhash_distance'::regtype NOT IN (oprleft, oprright)
GROUP BY oprleft, oprright, 1 HAVING count(*) > 1;

-- a commutator that does not answer to it; none at all, except of =~@, which only the planner
-- writes; it has other operands
SELECT o.name FROM operators o LEFT JOIN pg_operator c ON c.oid = o.oprcom
WHERE (c.oprcom IS DISTINCT FROM o.oid AND o.oprname <> '=~@') OR c.oprleft <> o.oprright
OR c.oprright <> o.oprleft OR c.oprresult <> o.oprresult;
-- a negator that does not answer to it, or is the operator itself
SELECT o.name FROM operators o LEFT JOIN pg_operator n ON n.oid = o.oprnegate
WHERE o.oprnegate <> 0 AND (n.oprnegate IS DISTINCT FROM o.oid OR n.oid = o.oid OR n.oprleft <> o.oprleft
	OR n.oprright <> o.oprright);
-- a condition without estimators
SELECT name FROM operators WHERE oprresult = 'boolean'::regtype AND (oprrest = 0 OR oprjoin = 0);
-- estimators that are for another kind of operator
SELECT name, oprrest, oprjoin FROM operators
WHERE oprname = '=' AND (oprrest::text <> 'eqsel' OR oprjoin::text <> 'eqjoinsel')
	OR oprname = '<>' AND (oprrest::text <> 'neqsel' OR oprjoin::text <> 'neqjoinsel')
	OR oprname = '<' AND (oprrest::text <> 'scalarltsel' OR oprjoin::text <> 'scalarltjoinsel')
	OR oprname = '<=' AND (oprrest::text <> 'scalarlesel' OR oprjoin::text <> 'scalarlejoinsel')
	OR oprname = '>' AND (oprrest::text <> 'scalargtsel' OR oprjoin::text <> 'scalargtjoinsel')
	OR oprname = '>=' AND (oprrest::text <> 'scalargesel' OR oprjoin::text <> 'scalargejoinsel');
-- the operator and its function differ in types; the function may not be in an index
SELECT name FROM operators JOIN pg_proc p ON p.oid = oprcode
WHERE prorettype <> oprresult OR proargtypes[0] <> oprleft OR proargtypes[1] <> oprright OR provolatile <> 'i'
OR NOT proisstrict OR proparallel <> 's';
-- can be merged or hashed, without the operator class for that; and the reverse
SELECT name FROM operators o
WHERE oprcanmerge <> EXISTS (SELECT FROM class_operators WHERE amopopr = o.oid AND amname = 'btree'
	AND amopstrategy = 3 AND has_class)
	OR oprcanhash <> EXISTS (SELECT FROM class_operators WHERE amopopr = o.oid AND amname = 'hash');

-- classes that are not valid, or not what their type has by default, unless they are
-- for documents
SELECT opcname FROM pg_opclass o JOIN members ON classid = 'pg_opclass'::regclass AND objid = o.oid
WHERE NOT amvalidate(o.oid) OR opcdefault <> (opcname NOT IN ('simhash_text_ops', 'simhash_bytea_ops', 'simhash_passage_ops'));
-- of an operator class: no commutator, no estimator, no condition
SELECT amname, opfname, c.name FROM class_operators c JOIN pg_operator o ON o.oid = amopopr
WHERE (o.oprcom = 0 AND o.oprname <> '=~@') OR (amoppurpose = 's' AND (oprrest = 0 OR oprjoin = 0 OR oprresult <> 'boolean'::regtype));
-- a search operator that is symmetric but could not make an exclusion constraint
SELECT opfname, c.name FROM class_operators c JOIN pg_operator o ON o.oid = amopopr
WHERE amname = 'simhash' AND amoppurpose = 's' AND oprleft = oprright AND oprcom <> amopopr;
-- the support functions of a class can be called in any place
SELECT f.opfname, amproc FROM pg_amproc JOIN pg_opfamily f ON f.oid = amprocfamily
	JOIN members ON classid = 'pg_opfamily'::regclass AND objid = f.oid
JOIN pg_proc p ON p.oid = amproc
WHERE provolatile <> 'i' OR NOT proisstrict OR proparallel <> 's';

-- a function in C or of the server's that anybody could call with pointers
SELECT proname FROM functions WHERE internal AND NOT 'internal' = ANY (proargtypes::regtype[]::text[]);
-- SECURITY DEFINER, a setting of its own, another language
SELECT proname FROM functions JOIN pg_language l ON l.oid = prolang
WHERE prosecdef OR proconfig IS NOT NULL OR lanname NOT IN ('c', 'internal');
-- leakproof, though an error could show its arguments; only what compares
SELECT proname FROM functions f
WHERE proleakproof AND NOT EXISTS (SELECT FROM operators WHERE oprcode = f.oid)
	AND NOT EXISTS (SELECT FROM pg_amproc WHERE amproc = f.oid)
	AND proname NOT IN ('simhash_within', 'simhash_radius', 'simhash_ball', 'simhash_order_distance',
		'simhash_from_int2', 'simhash_from_int4');
-- an operator of the index that may not be used below a security barrier; those
-- of the server are as they are, those of documents report texts that they cannot read, and
-- those of wide fingerprints other widths
SELECT c.name FROM class_operators c JOIN operators o ON o.oid = amopopr JOIN pg_proc p ON p.oid = oprcode
WHERE NOT proleakproof AND oprname NOT IN ('=~=', '=~@', '~&') AND oprleft <> 'simhash_bits'::regtype;
-- casts that are no cast of ours, or to a type of the server's without being asked
SELECT m.name FROM pg_cast c JOIN members m ON classid = 'pg_cast'::regclass AND objid = c.oid
WHERE castcontext = 'i' AND NOT EXISTS (SELECT FROM members WHERE classid = 'pg_type'::regclass AND objid = casttarget);

-- Aggregates of one name with arguments of different number: a comma for ORDER
-- BY then means another one.
SELECT proname FROM functions WHERE prokind = 'a' GROUP BY proname HAVING min(pronargs) <> max(pronargs);

-- There are no settings, so the library, once it is loaded, accepts none with its prefix.
SELECT hamming(1, 2) AS loaded;
SET simhash.threshold = 0.9;

SET client_min_messages = warning;
DROP SCHEMA catalog_test CASCADE;
