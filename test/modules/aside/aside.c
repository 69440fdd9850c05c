/*
 * A library to be put before the C library of a server (LD_PRELOAD): keeps what a power cut would leave
 * of the WAL. Whenever a WAL segment was synced, and before whoever asked for that goes on, the segment
 * is copied to the directory that SNOWID_ASIDE names. What was only written is not there. While that
 * directory has a file called hang, the disk does not answer: nobody who syncs WAL goes on.
 *
 * Shared: the directory, by all processes of the server. Each copies under a name of its own, and renames
 * the copy when it is whole, so a kill leaves no half of one. PostgreSQL writes and syncs WAL under one
 * lock, so nothing gets into a copy that was not synced, and no copy takes the place of a later one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

/* The name of the WAL segment that a path is of, or NULL. */
static const char *
segment_name(const char *path)
{
	const char *name = strstr(path, "/pg_wal/");

	if (name == NULL)
		return NULL;
	name += strlen("/pg_wal/");
	return strlen(name) == 24 && strspn(name, "0123456789ABCDEF") == 24 ? name : NULL;
}

/* A test must not go on without the copy. */
static void
give_up(const char *what)
{
	perror(what);
	_exit(3);
}

static void
copy(const char *path, const char *aside, const char *name)
{
	char		unfinished[PATH_MAX];
	char		finished[PATH_MAX];
	int			from = open(path, O_RDONLY);
	int			to;
	ssize_t		copied;

	snprintf(unfinished, sizeof(unfinished), "%s/unfinished.%d", aside, (int) getpid());
	snprintf(finished, sizeof(finished), "%s/%s", aside, name);
	to = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (from < 0 || to < 0)
		give_up(unfinished);
	while ((copied = sendfile(to, from, NULL, 1024 * 1024)) > 0)
		;
	if (copied < 0 || close(to) != 0 || close(from) != 0 || rename(unfinished, finished) != 0)
		give_up(finished);
}

static void
wait_while_hanging(const char *aside)
{
	char		hang[PATH_MAX];

	snprintf(hang, sizeof(hang), "%s/hang", aside);
	while (access(hang, F_OK) == 0)
		usleep(10000);
}

static int
sync_and_copy(const char *function, int fd)
{
	int			(*sync) (int) = (int (*) (int)) dlsym(RTLD_NEXT, function);
	const char *aside = getenv("SNOWID_ASIDE");
	const char *name;
	char		link[64];
	char		path[PATH_MAX] = "";
	int			result;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) <= 0 || (name = segment_name(path)) == NULL)
		return sync(fd);
	wait_while_hanging(aside);
	result = sync(fd);
	if (result == 0)
		copy(path, aside, name);
	return result;
}

int
fsync(int fd)
{
	return sync_and_copy("fsync", fd);
}

int
fdatasync(int fd)
{
	return sync_and_copy("fdatasync", fd);
}
