/*
 * Functions that do nothing: what calling any C function costs. The benchmark takes that off the
 * cost of functions that do something.
 */
#include "postgres.h"

#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(empty);
PG_FUNCTION_INFO_V1(empty_int);

Datum empty(PG_FUNCTION_ARGS)
{
  PG_RETURN_INT64(0);
}

Datum empty_int(PG_FUNCTION_ARGS)
{
  PG_RETURN_INT64(PG_GETARG_INT32(0));
}
