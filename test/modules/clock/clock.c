/*
 * A library to be put before the C library of a server (LD_PRELOAD). Its wall clock is what the file says that
 * SNOWID_CLOCK names, an int64 of 8 bytes: so many microseconds from the real clock; or, from STANDS on, a clock that
 * stands still so many microseconds after 1970. All processes see a change at once, and a look takes no system call.
 *
 * libfaketime would not do: it opens a file at each look, and allocates memory for it. PostgreSQL looks at the clock in
 * its handler of SIGALRM, maybe while the session allocates, too, or while it holds libfaketime's lock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define STANDS	(INT64_C(1) << 62)

static _Atomic int64_t *clock_us;
static int	(*real_clock_gettime) (clockid_t, struct timespec *);

__attribute__((constructor)) static void
begin(void)
{
	const char *path = getenv("SNOWID_CLOCK");
	int			file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	void	   *memory;

	real_clock_gettime = (int (*) (clockid_t, struct timespec *)) dlsym(RTLD_NEXT, "clock_gettime");
	if (file < 0)
		return;
	memory = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
	close(file);
	if (memory == MAP_FAILED)
	{
		perror(path);
		_exit(3);
	}
	clock_us = memory;
}

/* Microseconds since 1970, as this clock has them. */
static int64_t
now_us(void)
{
	int64_t		value = clock_us == NULL ? 0 : atomic_load(clock_us);
	struct timespec now;

	if (value >= STANDS)
		return value - STANDS;
	real_clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000 + value;
}

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	int64_t		us;

	if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)
		return real_clock_gettime(clock, now);
	us = now_us();
	now->tv_sec = us / 1000000;
	now->tv_nsec = us % 1000000 * 1000;
	return 0;
}

int
gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	int64_t		us = now_us();

	(void) zone;
	now->tv_sec = us / 1000000;
	now->tv_usec = us % 1000000;
	return 0;
}

time_t
time(time_t *now)
{
	time_t		seconds = now_us() / 1000000;

	if (now != NULL)
		*now = seconds;
	return seconds;
}
