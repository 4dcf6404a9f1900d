/*-------------------------------------------------------------------------
 *
 * operator_class.h
 *	  What the operator class of an index says of fingerprints.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TYPE_OPERATOR_CLASS_H
#define SIMHASH_TYPE_OPERATOR_CLASS_H

/* support function of the fingerprint column: the fingerprint of a value */
#define SIMHASH_FINGERPRINT_PROC	2

extern bool shtype_is_64_bits(Oid type);
extern bool shtype_can_search(Oid function, Oid left, Oid right, int strategy);
extern int	shtype_fingerprint_width(Oid type, int32 typmod);
extern int	shtype_function_width(Oid function);
extern bool shtype_is_fingerprint_function(Oid function, Oid type);
extern Oid	shtype_fingerprint_function(Oid family, Oid type);
extern Oid	shtype_near_operator(Oid family, Oid type, int *radius);

#endif							/* SIMHASH_TYPE_OPERATOR_CLASS_H */
