/*
 * A test module: how this session calls tranches of LWLocks, as pg_stat_activity does.
 */
#include "postgres.h"

#include "fmgr.h"
#include "storage/lwlock.h"
#include "utils/builtins.h"
#include "utils/wait_event.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(tranche);

/* tranche(int) → text: the name of the tranche that extensions have made as the nth, from 0. */
Datum
tranche(PG_FUNCTION_ARGS)
{
	uint16		id = LWTRANCHE_FIRST_USER_DEFINED + PG_GETARG_INT32(0);

	PG_RETURN_TEXT_P(cstring_to_text(GetLWLockIdentifier(PG_WAIT_LWLOCK, id)));
}
