/*
 * A library to be put before the C library of a server (LD_PRELOAD): while the file that SNOWID_FULL names is there, the
 * disk is full. No file whose path begins with SNOWID_FULL_OF, such as the data directory or "/dev/shm/PostgreSQL.", gets
 * longer (ENOSPC); what there is of a file can be written to, as on a disk.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Whether there is no room for what would end there. */
static int
is_refused(int fd, off_t end)
{
	const char *full = getenv("SNOWID_FULL");
	const char *of = getenv("SNOWID_FULL_OF");
	struct stat state;
	char		link[64];
	char		path[PATH_MAX] = "";

	if (full == NULL || of == NULL || access(full, F_OK) != 0)
		return 0;
	if (fstat(fd, &state) != 0 || !S_ISREG(state.st_mode) || end <= state.st_size)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) <= 0 || strncmp(path, of, strlen(of)) != 0)
		return 0;
	errno = ENOSPC;
	return 1;
}

#define REAL(type, name, ...) type (*real) (__VA_ARGS__) = (type (*) (__VA_ARGS__)) dlsym(RTLD_NEXT, name)

ssize_t
write(int fd, const void *data, size_t size)
{
	REAL(ssize_t, "write", int, const void *, size_t);
	int			saved = errno;
	off_t		at = lseek(fd, 0, SEEK_CUR);

	errno = saved;
	return at >= 0 && is_refused(fd, at + size) ? -1 : real(fd, data, size);
}

ssize_t
pwrite(int fd, const void *data, size_t size, off_t at)
{
	REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);

	return is_refused(fd, at + size) ? -1 : real(fd, data, size, at);
}

ssize_t
pwrite64(int fd, const void *data, size_t size, off_t at)
{
	return pwrite(fd, data, size, at);
}

ssize_t
pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
	REAL(ssize_t, "pwritev", int, const struct iovec *, int, off_t);
	off_t		end = at;

	for (int i = 0; i < count; i++)
		end += parts[i].iov_len;
	return is_refused(fd, end) ? -1 : real(fd, parts, count, at);
}

ssize_t
pwritev64(int fd, const struct iovec *parts, int count, off_t at)
{
	return pwritev(fd, parts, count, at);
}

/* Gives the error, and does not set errno. */
int
posix_fallocate(int fd, off_t at, off_t size)
{
	REAL(int, "posix_fallocate", int, off_t, off_t);

	return is_refused(fd, at + size) ? ENOSPC : real(fd, at, size);
}

int
posix_fallocate64(int fd, off_t at, off_t size)
{
	return posix_fallocate(fd, at, size);
}

/* Segments of shared memory begin with it. On a tmpfs it succeeds, and posix_fallocate fails: the message is the same. */
int
ftruncate(int fd, off_t size)
{
	REAL(int, "ftruncate", int, off_t);

	return is_refused(fd, size) ? -1 : real(fd, size);
}

int
ftruncate64(int fd, off_t size)
{
	return ftruncate(fd, size);
}
