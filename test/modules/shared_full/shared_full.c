/*
 * shared_full.c: a library to preload, which refuses shared memory in place of the system. While the file `refuse` is in the directory that
 * SNOWID_SHARED_FULL names, with an errno in it, none is to be had; each refusal leaves a byte in the file `refused`. While the file
 * `unmappable` is there, none is to be mapped.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *in_directory(const char *name)
{
	static char path[1024];
	const char *directory = getenv("SNOWID_SHARED_FULL");

	snprintf(path, sizeof(path), "%s/%s", directory != NULL ? directory : "/nonexistent", name);
	return path;
}

static int is_shared_memory(int fd)
{
	char link[64], path[64] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, path, sizeof(path) - 1) > 0 && strncmp(path, "/dev/shm/", 9) == 0;
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	if (fd >= 0 && is_shared_memory(fd) && access(in_directory("unmappable"), F_OK) == 0)
	{
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return ((void *(*)(void *, size_t, int, int, int, off_t)) dlsym(RTLD_NEXT, "mmap"))(
		at, length, protection, flags, fd, offset);
}

int posix_fallocate(int fd, off_t offset, off_t length)
{
	FILE *refuse;
	int error = 0;

	if (is_shared_memory(fd) && (refuse = fopen(in_directory("refuse"), "r")) != NULL)
	{
		if (fscanf(refuse, "%d", &error) != 1)
			error = 0;
		fclose(refuse);
	}
	if (error != 0)
	{
		int refused = open(in_directory("refused"), O_WRONLY | O_CREAT | O_APPEND, 0600);

		if (write(refused, "x", 1) != 1)
			_exit(3);
		close(refused);
		return error;
	}
	return ((int (*)(int, off_t, off_t)) dlsym(RTLD_NEXT, "posix_fallocate"))(fd, offset, length);
}
