/*-------------------------------------------------------------------------
 *
 * progress.c
 *	  Reporting the progress of our functions to other sessions.
 *
 * This uses the shared memory in which the server's own commands report their
 * progress, with a command number that none of them uses.  So none of the
 * pg_stat_progress views shows it, but simhash_stat_progress does.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/acl.h"
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "dedup/progress.h"

PG_FUNCTION_INFO_V1(simhash_progress);

/*
 * Far from the numbers of the server's commands, with which the server only
 * compares it: it has no array of them (see section 12 of src/README.md).
 */
#define PROGRESS_COMMAND_SIMHASH	((ProgressCommandType) 0x53694D68)

/* parameters */
enum
{
	PARAM_INDEX,
	PARAM_COMMAND,
	PARAM_PHASE,
	PARAM_TABLES_TOTAL,
	PARAM_TABLES_DONE,
	PARAM_ENTRIES_TOTAL,
	PARAM_ENTRIES_DONE,
	PARAM_FOUND,
	PARAM_CHECKED
};

#define PROGRESS_COLUMNS	12

/* results between two reports */
#define FOUND_INTERVAL		256

/* does the current command report, and how many others run within it? */
static bool reporting = false;
static int	nested = 0;
static int64 entries_total;		/* 0 if unknown */
static int64 entries_done;
static int64 found;
static int64 checked;

/*
 * Is the report still that of our command?  An abort ends a report, and another
 * command that reports may have followed.
 */
static inline bool
is_shown(void)
{
	return reporting && MyBEEntry->st_progress_command == PROGRESS_COMMAND_SIMHASH;
}

/*
 * Is what the caller does to be reported?  If a function that runs within our
 * command calls another one, only the outer one reports.
 */
static inline bool
is_reporting(void)
{
	return nested == 0 && is_shown();
}

/*
 * Begin to report, unless a command that contains this one, such as COPY, is
 * already reporting.  An abort ends the report automatically.
 */
void
shdup_progress_start(ShDupCommand command, Oid heap, Oid index)
{
	if (is_shown())
	{
		nested++;
		return;
	}
	nested = 0;
	reporting = MyBEEntry != NULL && pgstat_track_activities &&
		MyBEEntry->st_progress_command == PROGRESS_COMMAND_INVALID;
	entries_done = 0;
	found = 0;
	checked = 0;
	if (!reporting)
		return;
	pgstat_progress_start_command(PROGRESS_COMMAND_SIMHASH, heap);
	pgstat_progress_update_param(PARAM_INDEX, index);
	pgstat_progress_update_param(PARAM_COMMAND, command);
}

/*
 * Begin a phase with about the given number of entries; 0 if unknown.
 */
void
shdup_progress_phase(ShDupPhase phase, double entries)
{
	const int	params[] = {PARAM_PHASE, PARAM_ENTRIES_TOTAL, PARAM_ENTRIES_DONE};
	const int64 values[] = {phase, (int64) entries, 0};

	if (!is_reporting())
		return;
	entries_total = (int64) entries;
	entries_done = 0;
	pgstat_progress_update_multi_param(lengthof(params), params, values);
}

/* report how many of the tables are done */
void
shdup_progress_table(int done, int total)
{
	const int	params[] = {PARAM_TABLES_TOTAL, PARAM_TABLES_DONE};
	const int64 values[] = {total, done};

	if (is_reporting())
		pgstat_progress_update_multi_param(lengthof(params), params, values);
}

/* report the number of entries of this phase, now that it is known */
void
shdup_progress_total(double entries)
{
	if (!is_reporting())
		return;
	entries_total = (int64) entries;
	pgstat_progress_update_param(PARAM_ENTRIES_TOTAL, entries_total);
}

/*
 * Report that count entries of this phase are done; and what has been found.
 * If that are more than there should be, there are at least as many.
 */
void
shdup_progress_entries(double count)
{
	const int	params[] = {PARAM_ENTRIES_TOTAL, PARAM_ENTRIES_DONE, PARAM_FOUND};
	int64		values[lengthof(params)];

	if (!is_reporting())
		return;
	entries_done = (int64) count;
	if (entries_total > 0)
		entries_total = Max(entries_total, entries_done);
	values[0] = entries_total;
	values[1] = entries_done;
	values[2] = found;
	pgstat_progress_update_multi_param(lengthof(params), params, values);
}

/* report that count more entries are done */
void
shdup_progress_add(double count)
{
	shdup_progress_entries(entries_done + count);
}

/* count one more result */
void
shdup_progress_found(void)
{
	if (is_reporting() && ++found % FOUND_INTERVAL == 0)
		pgstat_progress_update_param(PARAM_FOUND, found);
}

/* count one more pair of rows that has been checked */
void
shdup_progress_checked(void)
{
	if (is_reporting())
		pgstat_progress_update_param(PARAM_CHECKED, ++checked);
}

/* report what a search for pairs reports */
void
shdup_progress_search(const ShPairsProgress *progress)
{
	const int	params[] = {PARAM_PHASE, PARAM_TABLES_TOTAL, PARAM_TABLES_DONE, PARAM_ENTRIES_TOTAL,
	PARAM_ENTRIES_DONE, PARAM_FOUND};
	const int64 values[] = {progress->phase == SHPAIRS_SORTING ? SHDUP_PHASE_SORT : SHDUP_PHASE_COMPARE,
	progress->nwalks, progress->walks_done, (int64) progress->total, (int64) progress->done, found};

	if (is_reporting())
		pgstat_progress_update_multi_param(lengthof(params), params, values);
}

void
shdup_progress_end(void)
{
	if (is_shown() && nested > 0)
	{
		nested--;
		return;
	}
	if (is_shown())
		pgstat_progress_end_command();
	reporting = false;
}

static const char *const command_names[] = {
	[SHDUP_FIND_ALL] = "simhash_find_all",
	[SHDUP_FIND_CLUSTERS] = "simhash_find_clusters",
	[SHDUP_FIND_DUPLICATES] = "simhash_find_duplicates",
	[SHDUP_COMPONENTS] = "simhash_components",
	[SHDUP_FIND_MATCHES] = "simhash_find_matches",
	[SHDUP_INDEX_CHECK] = "simhash_index_check",
	[SHDUP_ADVISE] = "simhash_advise"
};

static const char *const phase_names[] = {
	[SHDUP_PHASE_INITIALIZE] = "initializing",
	[SHDUP_PHASE_SORT] = "reading entries to sort",
	[SHDUP_PHASE_COMPARE] = "comparing",
	[SHDUP_PHASE_JOIN] = "joining pairs",
	[SHDUP_PHASE_ORDER] = "ordering rows",
	[SHDUP_PHASE_CHECK_ROWS] = "checking rows",
	[SHDUP_PHASE_RETURN] = "returning clusters",
	[SHDUP_PHASE_CHECK_TABLES] = "checking tables",
	[SHDUP_PHASE_CHECK_SAME] = "comparing tables",
	[SHDUP_PHASE_CHECK_HEAP] = "looking up rows",
	[SHDUP_PHASE_RETURN_DUPLICATES] = "returning duplicates",
	[SHDUP_PHASE_RETURN_COMPONENTS] = "returning components"
};

/* a process may have another version of the library */
static Datum
name_of(const char *const *names, int count, int64 i)
{
	return CStringGetTextDatum(i >= 0 && i < count ? names[i] : "unknown");
}

/*
 * simhash_progress(simhash) -> a row for each session that runs one of our
 * commands.  The argument is not used.
 *
 * As in the server's views, only the process and the database are shown of
 * the sessions of others, unless the caller may read all statistics.
 */
Datum
simhash_progress(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int			nbackends = pgstat_fetch_stat_numbackends();

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 1; i <= nbackends; i++)
	{
		PgBackendStatus *entry = &shcompat_get_backend_status(i)->backendStatus;
		const int64 *params = entry->st_progress_param;
		Datum		values[PROGRESS_COLUMNS] = {0};
		bool		nulls[PROGRESS_COLUMNS] = {0};

		if (entry->st_progress_command != PROGRESS_COMMAND_SIMHASH)
			continue;

		values[0] = Int32GetDatum(entry->st_procpid);
		values[1] = ObjectIdGetDatum(entry->st_databaseid);
		if (has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) ||
			has_privs_of_role(GetUserId(), entry->st_userid))
		{
			values[2] = ObjectIdGetDatum(entry->st_progress_command_target);
			values[3] = ObjectIdGetDatum((Oid) params[PARAM_INDEX]);
			nulls[2] = nulls[3] = params[PARAM_INDEX] == 0;
			values[4] = name_of(command_names, lengthof(command_names), params[PARAM_COMMAND]);
			values[5] = name_of(phase_names, lengthof(phase_names), params[PARAM_PHASE]);
			values[6] = Int32GetDatum((int32) params[PARAM_TABLES_TOTAL]);
			values[7] = Int32GetDatum((int32) params[PARAM_TABLES_DONE]);
			values[8] = Int64GetDatum(params[PARAM_ENTRIES_TOTAL]);
			nulls[8] = params[PARAM_ENTRIES_TOTAL] == 0;
			values[9] = Int64GetDatum(params[PARAM_ENTRIES_DONE]);
			values[10] = Int64GetDatum(params[PARAM_FOUND]);
			values[11] = Int64GetDatum(params[PARAM_CHECKED]);
			nulls[10] = nulls[11] = params[PARAM_COMMAND] == SHDUP_INDEX_CHECK;
		}
		else
			memset(nulls + 2, true, PROGRESS_COLUMNS - 2);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
