/*-------------------------------------------------------------------------
 *
 * interrupts.h
 *	  Letting long loops be cancelled.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_INTERRUPTS_H
#define SIMHASH_ROWS_INTERRUPTS_H

#include "miscadmin.h"

/*
 * Check for interrupts now and then, at iteration i of a loop over memory, whose length
 * only maintenance_work_mem limits.
 */
static inline void
shrows_check_at(size_t i)
{
	if (unlikely(i % 65536 == 65535))
		CHECK_FOR_INTERRUPTS();
}

#endif							/* SIMHASH_ROWS_INTERRUPTS_H */
