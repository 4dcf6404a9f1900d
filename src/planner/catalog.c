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

/* where objects are looked for, and whether all have been found so far */
typedef struct Finder
{
	Oid			extension;
	Oid			schema;
	bool		complete;
} Finder;

/*
 * The object, if it is a member of the extension; otherwise InvalidOid.
 */
static Oid
member(Finder *finder, Oid classid, Oid objectid)
{
	if (OidIsValid(objectid) && getExtensionOfObject(classid, objectid) == finder->extension)
		return objectid;
	finder->complete = false;
	return InvalidOid;
}

static Oid
find_type(Finder *finder, const char *name)
{
	return member(finder, TypeRelationId,
				  GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
								  CStringGetDatum(name),
								  ObjectIdGetDatum(finder->schema)));
}

/*
 * The function with a name and these types of arguments, each an Oid.
 */
static Oid
find_function(Finder *finder, const char *name, int nargs,...)
{
	Oid			args[FUNC_MAX_ARGS];
	va_list		list;

	va_start(list, nargs);
	for (int i = 0; i < nargs; i++)
		args[i] = va_arg(list, Oid);
	va_end(list);
	return member(finder, ProcedureRelationId,
				  GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
								  CStringGetDatum(name),
								  PointerGetDatum(buildoidvector(args, nargs)),
								  ObjectIdGetDatum(finder->schema)));
}

static Oid
find_operator(Finder *finder, const char *name, Oid left, Oid right)
{
	return member(finder, OperatorRelationId,
				  GetSysCacheOid4(OPERNAMENSP, Anum_pg_operator_oid,
								  CStringGetDatum(name),
								  ObjectIdGetDatum(left),
								  ObjectIdGetDatum(right),
								  ObjectIdGetDatum(finder->schema)));
}

/*
 * Fill in what there is for a type of fingerprints.
 */
static void
load_type(Finder *finder, const char *name, ShPlanType *t)
{
	char	   *ball = psprintf("%s_ball", name);

	t->type = find_type(finder, name);
	t->ball_type = find_type(finder, ball);
	t->hamming = find_function(finder, "hamming", 2, t->type, t->type);
	t->order_distance = find_function(finder, "simhash_order_distance", 2, t->type, t->type);
	t->order_operator = find_operator(finder, "<~~>", t->type, t->type);
	t->within = find_function(finder, "simhash_within", 3, t->type, t->type, INT4OID);
	t->make_ball = find_function(finder, ball, 2, t->type, INT4OID);
	t->in_ball = find_function(finder, psprintf("%s_in_ball", name), 2, t->type, t->ball_type);
	t->in_ball_operator = find_operator(finder, "<@", t->type, t->ball_type);
	t->ball_contains = find_function(finder, psprintf("%s_contains", ball), 2, t->ball_type, t->type);
}

/*
 * Fill in *c from the system catalogs.  Returns false if an object is missing.
 */
static bool
load(Oid extension, Oid schema, ShPlanCatalog *c)
{
	Finder		finder = {extension, schema, true};

	/* what there is for simhash does not need the other type */
	load_type(&finder, "simhash_bits", &c->bits);
	if (!finder.complete)
		memset(&c->bits, 0, sizeof(c->bits));

	finder.complete = true;
	load_type(&finder, "simhash", &c->simhash);
	c->schema = schema;
	c->distance_type = find_type(&finder, "simhash_distance");
	/* access methods are in no schema */
	c->access_method = member(&finder, AccessMethodRelationId, get_am_oid("simhash", true));
	c->radius_int2 = find_function(&finder, "simhash_radius", 2, INT2OID, BOOLOID);
	c->radius_int4 = find_function(&finder, "simhash_radius", 2, INT4OID, BOOLOID);
	c->radius_int8 = find_function(&finder, "simhash_radius", 2, INT8OID, BOOLOID);
	c->radius_float8 = find_function(&finder, "simhash_radius", 2, FLOAT8OID, BOOLOID);
	c->distance_support = find_function(&finder, "simhash_distance_support", 1, INTERNALOID);
	c->within_support = find_function(&finder, "simhash_within_support", 1, INTERNALOID);
	c->hamming_support = find_function(&finder, "simhash_hamming_support", 1, INTERNALOID);
	c->restriction_sel = find_function(&finder, "simhash_sel", 4,
									   INTERNALOID, OIDOID, INTERNALOID, INT4OID);
	c->join_sel = find_function(&finder, "simhash_joinsel", 5,
								INTERNALOID, OIDOID, INTERNALOID, INT2OID, INTERNALOID);
	return finder.complete;
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
