/*
 * A test module: leaves a server without main shared memory to give away.
 *
 * Shared: takes AddinShmemInitLock, as whoever allocates on first use does, and never gives back what
 * it allocates.
 */
#include "postgres.h"

#include "fmgr.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(hog);

/* hog() → bigint: how many bytes there were, to within half a kilobyte. */
Datum
hog(PG_FUNCTION_ARGS)
{
	int64		taken = 0;
	Size		size = 1024 * 1024;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	while (size >= 512)
	{
		if (ShmemAllocNoError(size) != NULL)
			taken += size;
		else
			size /= 2;
	}
	LWLockRelease(AddinShmemInitLock);
	PG_RETURN_INT64(taken);
}
