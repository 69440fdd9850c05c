/*
 * Functions that do nothing: what calling any C function costs. The benchmark takes that off the
 * cost of functions that do something. And the calling of functions again and again, as the executor
 * calls them but with nothing else between: in a query the rest of the executor's work overlaps with
 * what is to be measured, and hides a part of it that differs from function to function.
 *
 * A function that is called takes one argument and maybe a second one, both by value but for a layout,
 * or none: what it does not take it does not look at.
 */
#include "postgres.h"

#include <sys/time.h>
#include <time.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(empty);
PG_FUNCTION_INFO_V1(empty_bigint);
PG_FUNCTION_INFO_V1(empty_bigint_layout);
PG_FUNCTION_INFO_V1(empty_key);
PG_FUNCTION_INFO_V1(empty_set);
PG_FUNCTION_INFO_V1(clock_and_swap);
PG_FUNCTION_INFO_V1(repeat);
PG_FUNCTION_INFO_V1(repeat_keys);
PG_FUNCTION_INFO_V1(durations);

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

/* empty_set(regclass) returns setof bigint: one row. */
Datum empty_set(PG_FUNCTION_ARGS)
{
  FuncCallContext *call;

  if (SRF_IS_FIRSTCALL()) SRF_FIRSTCALL_INIT()->max_calls = 1;
  call = SRF_PERCALL_SETUP();
  if (call->call_cntr >= call->max_calls) SRF_RETURN_DONE(call);
  SRF_RETURN_NEXT(call, Int64GetDatum(0));
}

/*
 * clock_and_swap(shard bigint): what no ID can do without, a reading of the clock and a compare-and-swap,
 * of one of 8,192 words in cache lines of their own.
 */
Datum clock_and_swap(PG_FUNCTION_ARGS)
{
  enum { kShards = 8192, kWordsInLine = 8 };
  static uint64 ticks[kShards * kWordsInLine];
  uint64 *tick = &ticks[PG_GETARG_INT64(0) % kShards * kWordsInLine];
  struct timeval now;
  uint64 last = __atomic_load_n(tick, __ATOMIC_RELAXED);

  gettimeofday(&now, NULL);
  (void) __atomic_compare_exchange_n(tick, &last, last + 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  PG_RETURN_INT64((int64) now.tv_sec * 1000000 + now.tv_usec);
}

static void call_with(FmgrInfo *function, Datum first, Datum second)
{
  LOCAL_FCINFO(call, 2);

  InitFunctionCallInfoData(*call, function, function->fn_nargs, InvalidOid, NULL, NULL);
  call->args[0].value = first;
  call->args[0].isnull = false;
  call->args[1].value = second;
  call->args[1].isnull = false;
  (void) FunctionCallInvoke(call);
}

/* The next of a session's random numbers. Another session has others; the upper bits are the good ones. */
static uint32 next_random(void)
{
  static uint32 last = 0;

  if (last == 0) last = (uint32) MyProcPid * 2654435761u;
  last = last * 1664525u + 1013904223u;
  return last;
}

/*
 * repeat(function regprocedure, argument int, mask int, calls int [, layout snowid_layout]): where there
 * is a mask, the argument is a random number of its bits instead.
 */
Datum repeat(PG_FUNCTION_ARGS)
{
  FmgrInfo function;
  int32 argument = PG_GETARG_INT32(1);
  int32 mask = PG_GETARG_INT32(2);
  int32 calls = PG_GETARG_INT32(3);
  Datum layout = PG_NARGS() > 4 ? PG_GETARG_DATUM(4) : 0;

  fmgr_info(PG_GETARG_OID(0), &function);
  for (int32 i = 0; i < calls; i++)
  {
    int32 random = (int32) (next_random() >> 16) & mask;

    call_with(&function, Int64GetDatum(mask == 0 ? argument : random), layout);
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
  int32 argument = PG_GETARG_INT32(1);
  int32 keys = PG_GETARG_INT32(2);
  int32 calls = PG_GETARG_INT32(3);

  fmgr_info(PG_GETARG_OID(0), &function);
  for (int32 i = 0; i < calls; i++)
    call_with(&function, Int32GetDatum(argument),
              Int64GetDatum((int64) (((uint64) next_random() * keys) >> 32)));
  PG_RETURN_VOID();
}

static uint64 now_ns(void)
{
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64) now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * Which bucket a duration is counted in: one for each nanosecond below 64, and 32 for each power of two
 * from there on, so that none is more than 3 % wide. bucket_ns() in crowd.sql is the way back.
 */
enum { kBuckets = 2048 };

static int bucket(uint64 ns)
{
  int shift = ns < 64 ? 0 : 58 - __builtin_clzll(ns);

  return shift * 32 + (int) (ns >> shift);
}

/*
 * durations(function regprocedure, argument int, calls int [, layout snowid_layout]) returns bigint[]:
 * in how many of the calls the duration was that of each bucket. Each has the one reading of the clock
 * between two calls in it.
 */
Datum durations(PG_FUNCTION_ARGS)
{
  FmgrInfo function;
  int32 argument = PG_GETARG_INT32(1);
  int32 calls = PG_GETARG_INT32(2);
  Datum layout = PG_NARGS() > 3 ? PG_GETARG_DATUM(3) : 0;
  int64 *counts = palloc0(kBuckets * sizeof(int64));
  Datum *elements = palloc(kBuckets * sizeof(Datum));
  uint64 before;

  fmgr_info(PG_GETARG_OID(0), &function);
  before = now_ns();
  for (int32 i = 0; i < calls; i++)
  {
    uint64 after;

    call_with(&function, Int64GetDatum(argument), layout);
    after = now_ns();
    counts[bucket(after - before)]++;
    before = after;
  }
  for (int i = 0; i < kBuckets; i++) elements[i] = Int64GetDatum(counts[i]);
  PG_RETURN_ARRAYTYPE_P(construct_array(elements, kBuckets, INT8OID, sizeof(int64),
                                        FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
