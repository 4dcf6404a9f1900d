/*-------------------------------------------------------------------------
 *
 * clause.h
 *	  Arguments that are a clause of a query, such as an ORDER BY list.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_CLAUSE_H
#define SIMHASH_ROWS_CLAUSE_H

#include "nodes/parsenodes.h"
#include "parser/parse_node.h"

typedef struct ShRowsClause
{
	const char *argument;		/* its name */
	const char *prefix;			/* what makes it a query */
	const char *kind;			/* what it must be */
	const char *hint;			/* what to write, where the text is none of the kind */
	const char *text;			/* the argument */
} ShRowsClause;

extern void shrows_clause_start_parsing(ErrorContextCallback *context,
										const ShRowsClause *clause);
extern void shrows_clause_start_evaluating(ErrorContextCallback *context,
										   const ShRowsClause *clause);
extern void shrows_clause_stop(const ErrorContextCallback *context);
extern SelectStmt *shrows_clause_parse(ParseState *pstate, const ShRowsClause *clause);
extern void shrows_clause_refuse_rest(ParseState *pstate, const ShRowsClause *clause,
									  const SelectStmt *rest);
extern void shrows_clause_refuse_subqueries(ParseState *pstate, const ShRowsClause *clause,
											Node *raw);
extern void shrows_clause_check(ParseState *pstate, const ShRowsClause *clause,
								Node *expression);

#endif							/* SIMHASH_ROWS_CLAUSE_H */
