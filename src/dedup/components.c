/*-------------------------------------------------------------------------
 *
 * components.c
 *	  SQL function that returns the connected components of pairs of numbers.
 *
 * The pairs can come from anywhere, such as verified pairs or the pairs found
 * by several servers, and the numbers can be IDs of any kind.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/arrayaccess.h"

#include "compat.h"
#include "dedup/call.h"
#include "dedup/progress.h"
#include "dedup/union_find.h"

PG_FUNCTION_INFO_V1(simhash_components);

/* pairs between two reports of progress and checks for interrupts */
#define PAIR_INTERVAL	4096

/*
 * Elements are ordered as unsigned numbers.  The sign is inverted, so that the
 * smallest element of a component is its smallest number.
 */
#define SIGN_BIT	(UINT64CONST(1) << 63)

static uint32
add_number(ShDupUnionFind *components, int64 number)
{
	bool		is_new;
	uint32		element = shdup_union_find_add(components, 0, (uint64) number ^ SIGN_BIT, &is_new);

	components->elements[element].size = 1;
	return element;
}

static inline int64
get_number(const ShDupElement *element)
{
	return (int64) (element->fp ^ SIGN_BIT);
}

/*
 * Join the elements of two arrays of equal length, pair by pair.  The arrays
 * are read in place, since a copy would be as large.
 *
 * If either element is null, there is no pair.
 */
static void
join_pairs(ShDupUnionFind *components, AnyArrayType *a, AnyArrayType *b, int count)
{
	array_iter	a_iterator;
	array_iter	b_iterator;

	shcompat_array_begin(&a_iterator, a);
	shcompat_array_begin(&b_iterator, b);
	for (int i = 0; i < count; i++)
	{
		bool		a_null;
		bool		b_null;
		Datum		a_value = shcompat_array_next(&a_iterator, &a_null, i);
		Datum		b_value = shcompat_array_next(&b_iterator, &b_null, i);

		if (i % PAIR_INTERVAL == 0)
		{
			CHECK_FOR_INTERRUPTS();
			shdup_progress_entries(i);
		}
		if (!a_null && !b_null)
		{
			uint32		a_element = add_number(components, DatumGetInt64(a_value));
			uint32		b_element = add_number(components, DatumGetInt64(b_value));

			shdup_union_find_join(components, a_element, b_element);
		}
	}
}

/*
 * Return all members, in the order of their first occurrence.
 */
static void
return_members(ShDupUnionFind *components, ReturnSetInfo *info)
{
	ShDupResult result;

	shdup_result_begin(&result, info);
	shdup_progress_phase(SHDUP_PHASE_RETURN_COMPONENTS, components->count);
	shdup_union_find_sum(components);
	for (uint32 i = 0; i < components->count; i++)
	{
		const ShDupElement *root = &components->elements[shdup_union_find_root(components, i)];
		Datum		values[3];

		if (i % PAIR_INTERVAL == 0)
		{
			CHECK_FOR_INTERRUPTS();
			shdup_progress_entries(i);
		}
		values[0] = Int64GetDatum(get_number(root));
		values[1] = Int64GetDatum(get_number(&components->elements[i]));
		values[2] = Int64GetDatum(root->size);
		shdup_result_add(&result, values);
	}
}

/*
 * simhash_components(a bigint[], b bigint[]) -> the numbers in pairs (a[i], b[i]),
 * each once, with the smallest number that a chain of pairs connects it to, and
 * how many are connected.
 *
 * Raises ERRCODE_ARRAY_SUBSCRIPT_ERROR if the arrays differ in length, and
 * ERRCODE_CONFIGURATION_LIMIT_EXCEEDED if the numbers do not fit into
 * maintenance_work_mem.
 */
Datum
simhash_components(PG_FUNCTION_ARGS)
{
	AnyArrayType *a = PG_GETARG_ANY_ARRAY_P(0);
	AnyArrayType *b = PG_GETARG_ANY_ARRAY_P(1);
	int			a_count = ArrayGetNItems(AARR_NDIM(a), AARR_DIMS(a));
	int			b_count = ArrayGetNItems(AARR_NDIM(b), AARR_DIMS(b));
	ShDupUnionFind components;

	InitMaterializedSRF(fcinfo, 0);
	if (a_count != b_count)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("arrays of pairs must have the same number of elements"),
				 errdetail("Their lengths are %d and %d.", a_count, b_count)));

	shdup_progress_start(SHDUP_COMPONENTS, InvalidOid, InvalidOid);
	shdup_progress_phase(SHDUP_PHASE_JOIN, a_count);
	shdup_union_find_begin(&components, SHDUP_NUMBERS, 2.0 * a_count, 0, false);
	join_pairs(&components, a, b, a_count);
	return_members(&components, (ReturnSetInfo *) fcinfo->resultinfo);
	shdup_progress_end();
	return (Datum) 0;
}
