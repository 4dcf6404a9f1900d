/*-------------------------------------------------------------------------
 *
 * catalog.c
 *	  Finding the extension's own database objects.
 *
 * Planner support builds calls of the extension's functions, so it needs their
 * OIDs.  A name looked up over search_path could find nothing, or another
 * object.  The server tells a support function one OID that is certain: the
 * support function's own.  That one is a member of the extension; the others
 * are in the same schema, since the extension is relocatable, and are members
 * too.
 *
 * The OIDs are kept for the rest of the session, until the server reports a
 * change of a function, an operator or a type: the extension may be dropped,
 * created again and moved to another schema while the session lives.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_am.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "planner/catalog.h"

static ShPlanCatalog cached;
static bool cached_valid = false;

/* number of reported changes, to notice one while cached is being filled */
static uint64 changes = 0;

static void
invalidate(Datum arg, int cacheid, uint32 hashvalue)
{
	cached_valid = false;
	changes++;
}

/*
 * The object, if it is a member of the extension; otherwise InvalidOid.
 */
static Oid
member_of(Oid extension, Oid classid, Oid objectid)
{
	if (OidIsValid(objectid) &&
		getExtensionOfObject(classid, objectid) == extension)
		return objectid;
	return InvalidOid;
}

static Oid
find_type(Oid extension, Oid schema, const char *name)
{
	return member_of(extension, TypeRelationId,
					 GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
									 CStringGetDatum(name),
									 ObjectIdGetDatum(schema)));
}

static Oid
find_function(Oid extension, Oid schema, const char *name,
			  int nargs, const Oid *args)
{
	oidvector  *vector = buildoidvector(args, nargs);
	Oid			result;

	result = member_of(extension, ProcedureRelationId,
					   GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
									   CStringGetDatum(name),
									   PointerGetDatum(vector),
									   ObjectIdGetDatum(schema)));
	pfree(vector);
	return result;
}

static Oid
find_radius(Oid extension, Oid schema, Oid bound_type)
{
	Oid			args[2] = {bound_type, BOOLOID};

	return find_function(extension, schema, "simhash_radius", 2, args);
}

static Oid
find_operator(Oid extension, Oid schema, const char *name, Oid left, Oid right)
{
	return member_of(extension, OperatorRelationId,
					 GetSysCacheOid4(OPERNAMENSP, Anum_pg_operator_oid,
									 CStringGetDatum(name),
									 ObjectIdGetDatum(left),
									 ObjectIdGetDatum(right),
									 ObjectIdGetDatum(schema)));
}

/*
 * Fill in what there is for a type of fingerprints.  Returns false if an object is
 * missing.
 */
static bool
load_type(Oid extension, Oid schema, const char *name, ShPlanType *t)
{
	char	   *ball = psprintf("%s_ball", name);
	Oid			args[3];

	t->type = find_type(extension, schema, name);
	t->ball_type = find_type(extension, schema, ball);
	if (!OidIsValid(t->type) || !OidIsValid(t->ball_type))
		return false;

	args[0] = t->type;
	args[1] = t->type;
	args[2] = INT4OID;
	t->hamming = find_function(extension, schema, "hamming", 2, args);
	t->order_distance = find_function(extension, schema, "simhash_order_distance", 2, args);
	t->order_operator = find_operator(extension, schema, "<~~>", t->type, t->type);
	t->within = find_function(extension, schema, "simhash_within", 3, args);

	args[1] = INT4OID;
	t->make_ball = find_function(extension, schema, ball, 2, args);

	args[1] = t->ball_type;
	t->in_ball = find_function(extension, schema, psprintf("%s_in_ball", name), 2, args);
	t->in_ball_operator = find_operator(extension, schema, "<@", t->type, t->ball_type);

	args[0] = t->ball_type;
	args[1] = t->type;
	t->ball_contains = find_function(extension, schema, psprintf("%s_contains", ball), 2, args);

	return OidIsValid(t->hamming) && OidIsValid(t->order_distance) &&
		OidIsValid(t->order_operator) && OidIsValid(t->within) && OidIsValid(t->make_ball) &&
		OidIsValid(t->in_ball) && OidIsValid(t->in_ball_operator) &&
		OidIsValid(t->ball_contains);
}

/*
 * Fill in *c from the system catalogs.  Returns false if an object is missing.
 */
static bool
load(Oid extension, Oid schema, ShPlanCatalog *c)
{
	Oid			args[5];

	c->schema = schema;

	c->distance_type = find_type(extension, schema, "simhash_distance");
	if (!OidIsValid(c->distance_type) ||
		!load_type(extension, schema, "simhash", &c->simhash))
		return false;

	/* what there is for simhash does not need the other type */
	if (!load_type(extension, schema, "simhash_bits", &c->bits))
		memset(&c->bits, 0, sizeof(c->bits));

	/* access methods are in no schema */
	c->access_method = member_of(extension, AccessMethodRelationId,
								 get_am_oid("simhash", true));

	c->radius_int2 = find_radius(extension, schema, INT2OID);
	c->radius_int4 = find_radius(extension, schema, INT4OID);
	c->radius_int8 = find_radius(extension, schema, INT8OID);
	c->radius_float8 = find_radius(extension, schema, FLOAT8OID);

	args[0] = INTERNALOID;
	args[1] = OIDOID;
	args[2] = INTERNALOID;
	args[3] = INT4OID;
	c->distance_support = find_function(extension, schema,
										"simhash_distance_support", 1, args);
	c->within_support = find_function(extension, schema,
									  "simhash_within_support", 1, args);
	c->hamming_support = find_function(extension, schema,
									   "simhash_hamming_support", 1, args);
	c->restriction_sel = find_function(extension, schema,
									   "simhash_sel", 4, args);

	args[3] = INT2OID;
	args[4] = INTERNALOID;
	c->join_sel = find_function(extension, schema, "simhash_joinsel", 5, args);

	return OidIsValid(c->access_method) &&
		OidIsValid(c->hamming_support) &&
		OidIsValid(c->radius_int2) && OidIsValid(c->radius_int4) &&
		OidIsValid(c->radius_int8) && OidIsValid(c->radius_float8) &&
		OidIsValid(c->distance_support) && OidIsValid(c->within_support) &&
		OidIsValid(c->restriction_sel) && OidIsValid(c->join_sel);
}

/*
 * Find the objects of the extension that the function entry belongs to.
 *
 * entry is the OID that the server called a support or estimation function
 * by.  Returns false, leaving *catalog undefined, if entry is not a member of
 * an extension or one of the objects does not exist, as in the middle of the
 * extension's script.
 */
bool
shplan_catalog(Oid entry, ShPlanCatalog *catalog)
{
	static bool registered = false;
	Oid			extension;
	Oid			schema;
	uint64		changes_before;

	if (cached_valid &&
		(entry == cached.distance_support || entry == cached.within_support ||
		 entry == cached.hamming_support || entry == cached.restriction_sel ||
		 entry == cached.join_sel))
	{
		*catalog = cached;
		return true;
	}

	if (!registered)
	{
		CacheRegisterSyscacheCallback(PROCOID, invalidate, (Datum) 0);
		CacheRegisterSyscacheCallback(OPEROID, invalidate, (Datum) 0);
		CacheRegisterSyscacheCallback(TYPEOID, invalidate, (Datum) 0);
		registered = true;
	}

	extension = getExtensionOfObject(ProcedureRelationId, entry);
	if (!OidIsValid(extension))
		return false;
	schema = get_func_namespace(entry);

	changes_before = changes;
	if (!load(extension, schema, catalog))
		return false;
	if (changes == changes_before)
	{
		cached = *catalog;
		cached_valid = true;
	}
	return true;
}
