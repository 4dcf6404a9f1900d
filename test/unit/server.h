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

#endif							/* SIMHASH_TEST_SERVER_H */
