/*-------------------------------------------------------------------------
 *
 * clause.h
 *	  Arguments that are a clause of a query, such as an ORDER BY list.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_CLAUSE_H
#define SIMHASH_BATCH_CLAUSE_H

#include "postgres.h"

#include "nodes/parsenodes.h"
#include "parser/parse_node.h"

typedef struct ShBatchClause
{
	const char *argument;		/* its name */
	const char *prefix;			/* what makes it a query */
	const char *kind;			/* what it must be */
	const char *hint;			/* what to write, for syntax errors */
	const char *text;			/* the argument */
} ShBatchClause;

extern void shbatch_clause_start_parsing(ErrorContextCallback *context,
										 const ShBatchClause *clause);
extern void shbatch_clause_start_evaluating(ErrorContextCallback *context,
											const ShBatchClause *clause);
extern void shbatch_clause_stop(const ErrorContextCallback *context);
extern SelectStmt *shbatch_clause_parse(ParseState *pstate, const ShBatchClause *clause);
extern void shbatch_clause_refuse_rest(ParseState *pstate, const ShBatchClause *clause,
									   const SelectStmt *rest);
extern void shbatch_clause_refuse_subqueries(ParseState *pstate, const ShBatchClause *clause,
											 Node *raw);
extern void shbatch_clause_check(ParseState *pstate, const ShBatchClause *clause,
								 Node *expression);

#endif							/* SIMHASH_BATCH_CLAUSE_H */
