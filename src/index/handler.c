/*-------------------------------------------------------------------------
 *
 * handler.c
 *	  Handler function of the index access method, and its shorter callbacks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/htup_details.h"
#include "catalog/pg_index.h"
#include "commands/vacuum.h"
#include "fmgr.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "index/build.h"
#include "index/class.h"
#include "index/handler.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_handler);

/* the Makefile computes it */
const ShIdxBuildId shidx_build_id = {"simhash build " SIMHASH_BUILD_ID};

/*
 * Is a column the last one of an index, that of the fingerprint?
 */
static bool
is_last_column(Oid index, int attno)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = attno == ((Form_pg_index) GETSTRUCT(tuple))->indnkeyatts;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * amproperty: properties of a column
 *
 * The last column supports ordering by distance, if its operator family has
 * the ordering operator.
 */
static bool
property(Oid index_oid, int attno, IndexAMProperty prop, const char *propname, bool *res,
		 bool *isnull)
{
	Oid			opclass;
	Oid			type;

	if (prop != AMPROP_DISTANCE_ORDERABLE || attno == 0)
		return false;

	opclass = get_index_column_opclass(index_oid, attno);
	if (!OidIsValid(opclass))
	{
		*isnull = true;
		return true;
	}
	type = get_opclass_input_type(opclass);
	*res = is_last_column(index_oid, attno) &&
		OidIsValid(get_opfamily_member(get_opclass_family(opclass), type, type,
									   SIMHASH_STRATEGY_DISTANCE));
	return true;
}

/*
 * simhash_handler(internal) -> index_am_handler
 */
Datum
simhash_handler(PG_FUNCTION_ARGS)
{
	IndexAmRoutine *am = shcompat_make_am_routine();

	am->amstrategies = 0;		/* no fixed set: a number for each radius */
	am->amsupport = SIMHASH_BANDS_PROC; /* the last of three */
	am->amoptsprocnum = 0;
	am->amcanorder = false;
	am->amcanorderbyop = true;
	am->amcanbackward = false;
	am->amcanunique = false;
	am->amcanmulticol = true;
	am->amoptionalkey = true;
	am->amsearcharray = true;
	am->amsearchnulls = true;
	am->amstorage = false;
	am->amclusterable = false;
	am->ampredlocks = true;
	am->amcanparallel = false;
	SHCOMPAT_SET_BUILD_PARALLEL(am);
	am->amcaninclude = false;
	am->amusemaintenanceworkmem = false;
	am->amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL;
	am->amkeytype = InvalidOid;

	am->ambuild = shidx_build;
	am->ambuildempty = shidx_buildempty;
	am->aminsert = shidx_insert;
	am->ambulkdelete = shidx_bulkdelete;
	am->amvacuumcleanup = shidx_vacuumcleanup;
	am->amcanreturn = shidx_canreturn;
	am->amcostestimate = shidx_costestimate;
	am->amoptions = shidx_options;
	am->amproperty = property;
	am->ambuildphasename = shidx_buildphasename;
	am->amvalidate = shidx_validate;
	am->amadjustmembers = NULL;
	am->ambeginscan = shidx_beginscan;
	am->amrescan = shidx_rescan;
	am->amgettuple = shidx_gettuple;
	am->amgetbitmap = shidx_getbitmap;
	am->amendscan = shidx_endscan;
	am->ammarkpos = NULL;
	am->amrestrpos = NULL;
	am->amestimateparallelscan = NULL;
	am->aminitparallelscan = NULL;
	am->amparallelrescan = NULL;

	PG_RETURN_POINTER(am);
}
