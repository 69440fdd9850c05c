/*
 * A test module: a session that can begin no subtransaction, and what timers it has armed.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "utils/timeout.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(unsplit);
PG_FUNCTION_INFO_V1(armed);

static void
refuse(SubXactEvent event, SubTransactionId part, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_START_SUB)
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_RESOURCES), errmsg("no more subtransactions")));
}

/* unsplit() → void: from now on no subtransaction begins. */
Datum
unsplit(PG_FUNCTION_ARGS)
{
	RegisterSubXactCallback(refuse, NULL);
	PG_RETURN_VOID();
}

/* armed() → int: how many timers of extensions are armed. */
Datum
armed(PG_FUNCTION_ARGS)
{
	int			count = 0;

	for (int id = USER_TIMEOUT; id < MAX_TIMEOUTS; id++)
		count += get_timeout_active((TimeoutId) id);
	PG_RETURN_INT32(count);
}
