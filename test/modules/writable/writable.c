/*
 * A test module: has a transaction pass for one that may write, on a standby too, as Citus has those of
 * a coordinator that is one.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(writable);

/* writable() → void: for the rest of the transaction. */
Datum
writable(PG_FUNCTION_ARGS)
{
	XactReadOnly = false;
	PG_RETURN_VOID();
}
