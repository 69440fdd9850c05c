/*
 * Functions that do nothing: what calling any C function costs. The benchmark takes that off the
 * cost of functions that do something. And the calling of functions again and again, as the executor
 * calls them but with nothing else between: in a query the rest of the executor's work overlaps with
 * what is to be measured, and hides a part of it that differs from function to function.
 */
#include "postgres.h"

#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(empty);
PG_FUNCTION_INFO_V1(empty_bigint);
PG_FUNCTION_INFO_V1(empty_bigint_layout);
PG_FUNCTION_INFO_V1(empty_key);
PG_FUNCTION_INFO_V1(repeat);
PG_FUNCTION_INFO_V1(repeat_keys);

Datum empty(PG_FUNCTION_ARGS)
{
  PG_RETURN_INT64(0);
}

Datum empty_bigint(PG_FUNCTION_ARGS)
{
  PG_RETURN_INT64(PG_GETARG_INT64(0));
}

Datum empty_bigint_layout(PG_FUNCTION_ARGS)
{
  PG_RETURN_INT64(PG_GETARG_INT64(0) + *(int64 *) PG_GETARG_POINTER(1));
}

Datum empty_key(PG_FUNCTION_ARGS)
{
  PG_RETURN_INT64(PG_GETARG_INT32(0) + PG_GETARG_INT64(1));
}

/*
 * repeat(function regprocedure, argument int, mask int, calls int [, layout snowid_layout]): calls a
 * function that takes these arguments, or one, or none. Where there is a mask, the argument is a
 * random number of its bits instead.
 */
Datum repeat(PG_FUNCTION_ARGS)
{
  FmgrInfo function;
  LOCAL_FCINFO(call, 2);
  uint32 random = 1;
  int32 argument = PG_GETARG_INT32(1);
  int32 mask = PG_GETARG_INT32(2);
  int32 calls = PG_GETARG_INT32(3);

  fmgr_info(PG_GETARG_OID(0), &function);
  for (int32 i = 0; i < calls; i++)
  {
    random = random * 1664525u + 1013904223u;
    InitFunctionCallInfoData(*call, &function, function.fn_nargs, InvalidOid, NULL, NULL);
    call->args[0].value = Int64GetDatum(mask == 0 ? argument : (int32) (random >> 16) & mask);
    call->args[0].isnull = false;
    call->args[1].value = PG_NARGS() > 4 ? PG_GETARG_DATUM(4) : 0;
    call->args[1].isnull = false;
    (void) FunctionCallInvoke(call);
  }
  PG_RETURN_VOID();
}

/*
 * repeat_keys(function regprocedure, argument int, keys int, calls int): calls a function that takes
 * this argument and a bigint, which is a random one of so many.
 */
Datum repeat_keys(PG_FUNCTION_ARGS)
{
  FmgrInfo function;
  LOCAL_FCINFO(call, 2);
  uint32 random = 1;
  int32 argument = PG_GETARG_INT32(1);
  int32 keys = PG_GETARG_INT32(2);
  int32 calls = PG_GETARG_INT32(3);

  fmgr_info(PG_GETARG_OID(0), &function);
  for (int32 i = 0; i < calls; i++)
  {
    random = random * 1664525u + 1013904223u;
    InitFunctionCallInfoData(*call, &function, function.fn_nargs, InvalidOid, NULL, NULL);
    call->args[0].value = Int32GetDatum(argument);
    call->args[0].isnull = false;
    call->args[1].value = Int64GetDatum((int64) (((uint64) random * keys) >> 32));
    call->args[1].isnull = false;
    (void) FunctionCallInvoke(call);
  }
  PG_RETURN_VOID();
}
