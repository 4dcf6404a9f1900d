/*-------------------------------------------------------------------------
 *
 * server.h
 *	  What src/text and src/pairs need of a server, for programs without one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEST_SERVER_H
#define SIMHASH_TEST_SERVER_H

#include <setjmp.h>

/*
 * Where an error goes, and what its SQLSTATE is; while NULL, an error ends the
 * program.
 */
extern jmp_buf *server_catch;
extern int	server_sqlstate;

/* how often interrupts have been checked for, while InterruptPending is set */
extern int	server_checks;
extern void (*server_at_check) (void);	/* called at each, or NULL */

/* the most bytes of one piece of memory that is not asked for as a huge one */
extern Size server_max_piece;

/* of a hash table, and what a context is said to have allocated */
extern Size server_memory_limit;
extern Size server_allocated;

/* is all memory tracked, to be freed by server_reset? */
extern bool server_tracks;
extern void server_reset(void);

#endif							/* SIMHASH_TEST_SERVER_H */
