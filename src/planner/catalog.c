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
 * change of one of the objects: the extension may be dropped, created again and
 * moved to another schema while the session lives.
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

/* the most objects that there are in ShPlanCatalog */
#define MAX_OBJECTS		48

static ShPlanCatalog cached;
static bool cached_valid = false;

/* by which the server reports changes of the objects that are cached */
static uint32 cached_hashes[MAX_OBJECTS];
static int	ncached_hashes = 0;

/* number of reported changes, to notice one while cached is being filled */
static uint64 changes = 0;

static void
invalidate(Datum arg, int cacheid, uint32 hashvalue)
{
	changes++;

	/*
	 * 0 stands for all objects; an object of another kind may have the hash
	 * of ours
	 */
	if (hashvalue == 0)
		cached_valid = false;
	for (int i = 0; i < ncached_hashes && cached_valid; i++)
		cached_valid = hashvalue != cached_hashes[i];
}

/* where objects are looked for, and whether all have been found so far */
typedef struct Finder
{
	Oid			extension;
	Oid			schema;
	bool		complete;
	uint32		hashes[MAX_OBJECTS];	/* of those that were found */
	int			nhashes;
} Finder;

/*
 * The object, if it is a member of the extension; otherwise InvalidOid.  cacheid is
 * the cache of objects of its kind by OID.
 */
static Oid
member(Finder *finder, Oid classid, int cacheid, Oid objectid)
{
	if (OidIsValid(objectid) && getExtensionOfObject(classid, objectid) == finder->extension)
	{
		Assert(finder->nhashes < MAX_OBJECTS);
		finder->hashes[finder->nhashes++] =
			GetSysCacheHashValue1(cacheid, ObjectIdGetDatum(objectid));
		return objectid;
	}
	finder->complete = false;
	return InvalidOid;
}

static Oid
find_type(Finder *finder, const char *name)
{
	return member(finder, TypeRelationId, TYPEOID,
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
	return member(finder, ProcedureRelationId, PROCOID,
				  GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
								  CStringGetDatum(name),
								  PointerGetDatum(buildoidvector(args, nargs)),
								  ObjectIdGetDatum(finder->schema)));
}

static Oid
find_operator(Finder *finder, const char *name, Oid left, Oid right)
{
	return member(finder, OperatorRelationId, OPEROID,
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
	t->within = find_function(finder, "simhash_within", 3, t->type, t->type, INT4OID);
	t->make_ball = find_function(finder, ball, 2, t->type, INT4OID);
	t->in_ball = find_function(finder, psprintf("%s_in_ball", name), 2, t->type, t->ball_type);
	t->in_ball_operator = find_operator(finder, "<@", t->type, t->ball_type);
	t->ball_contains = find_function(finder, psprintf("%s_contains", ball), 2, t->ball_type, t->type);
}

/*
 * Fill in what there is for a type of documents.
 */
static void
load_documents(Finder *finder, Oid type, const char *bands, Oid ball_type, ShPlanType *t)
{
	t->type = type;
	t->ball_type = ball_type;
	t->within = find_function(finder, "simhash_similar", 3, type, type, FLOAT8OID);
	t->make_ball = find_function(finder, "simhash_similar_ball", 2, type, FLOAT8OID);
	t->in_ball = find_function(finder, "simhash_similar_in_ball", 2, type, ball_type);
	t->in_ball_operator = find_operator(finder, "=~@", type, ball_type);
	t->bands = find_function(finder, bands, 1, type);
}

/*
 * Fill in *c from the system catalogs.  Returns false if an object is missing.
 * *whole tells whether there is also all of wide fingerprints and documents, which
 * fingerprints of 64 bits do not need.
 */
static bool
load(Finder *finder, ShPlanCatalog *c, bool *whole)
{
	memset(c, 0, sizeof(*c));
	load_type(finder, "simhash", &c->simhash);
	c->schema = finder->schema;
	c->order_distance = find_function(finder, "simhash_order_distance", 2, c->simhash.type, c->simhash.type);
	c->order_operator = find_operator(finder, "<~~>", c->simhash.type, c->simhash.type);
	c->distance_type = find_type(finder, "simhash_distance");
	/* access methods are in no schema */
	c->access_method = member(finder, AccessMethodRelationId, AMOID, get_am_oid("simhash", true));
	c->radius = find_function(finder, "simhash_radius", 2, INT8OID, BOOLOID);
	c->distance_support = find_function(finder, "simhash_distance_support", 1, INTERNALOID);
	c->within_support = find_function(finder, "simhash_within_support", 1, INTERNALOID);
	c->hamming_support = find_function(finder, "simhash_hamming_support", 1, INTERNALOID);
	c->restriction_sel = find_function(finder, "simhash_sel", 4,
									   INTERNALOID, OIDOID, INTERNALOID, INT4OID);
	c->join_sel = find_function(finder, "simhash_joinsel", 5,
								INTERNALOID, OIDOID, INTERNALOID, INT2OID, INTERNALOID);
	if (!finder->complete)
		return false;

	load_type(finder, "simhash_bits", &c->bits);
	load_documents(finder, TEXTOID, "simhash_bands_text", c->bits.ball_type, &c->documents[0]);
	load_documents(finder, BYTEAOID, "simhash_bands_bytea", c->bits.ball_type, &c->documents[1]);
	*whole = finder->complete;
	if (!finder->complete)
	{
		memset(&c->bits, 0, sizeof(c->bits));
		memset(c->documents, 0, sizeof(c->documents));
	}
	return true;
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
	Finder		finder = {.complete = true};
	bool		whole;
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
		CacheRegisterSyscacheCallback(AMOID, invalidate, (Datum) 0);
		registered = true;
	}

	finder.extension = getExtensionOfObject(ProcedureRelationId, entry);
	if (!OidIsValid(finder.extension))
		return false;
	finder.schema = get_func_namespace(entry);

	changes_before = changes;
	if (!load(&finder, catalog, &whole))
		return false;

	/* what is missing has no hash to wait for */
	if (whole && changes == changes_before)
	{
		cached = *catalog;
		memcpy(cached_hashes, finder.hashes, sizeof(cached_hashes));
		ncached_hashes = finder.nhashes;
		cached_valid = true;
	}
	return true;
}
