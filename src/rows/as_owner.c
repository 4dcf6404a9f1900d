/*-------------------------------------------------------------------------
 *
 * as_owner.c
 *	  Running the functions of an index as the owner of its table.
 *
 * Functions in the expressions of an index are the owner's, and must not get the
 * privileges of the caller.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/guc.h"

#include "compat.h"
#include "rows/as_owner.h"

/*
 * Switch to the owner of a table, as REINDEX does.  An abort undoes it
 * automatically.
 */
void
shrows_become_owner(ShRowsCaller *caller, Relation table)
{
	GetUserIdAndSecContext(&caller->user, &caller->security_context);
	SetUserIdAndSecContext(table->rd_rel->relowner,
						   caller->security_context | SECURITY_RESTRICTED_OPERATION);
	caller->guc_level = NewGUCNestLevel();
	shcompat_restrict_search_path();
}

/*
 * Switch back.
 */
void
shrows_become_caller(const ShRowsCaller *caller)
{
	AtEOXact_GUC(false, caller->guc_level);
	SetUserIdAndSecContext(caller->user, caller->security_context);
}
