/*
 * A library to be put before the C library of a program (LD_PRELOAD) that is run again and again. It is loaded once, which
 * takes psql, with its 28 libraries, longer than a short statement does; before main() it waits for requests, and forks
 * for each. test/perl/SnowidRun.pm has the other end.
 *
 * A request, on standard input: an int32, of how many bytes follow; then texts, each with its zero. These are the current
 * directory; what is to be standard input, output and errors; how many arguments follow; the arguments; the environment.
 * The answer, on standard output, is the process, an int32. It is a child of who asks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int (*main_function) (int, char **, char **);
typedef int (*start_function) (main_function, int, char **, void (*) (void), void (*) (void), void (*) (void), void *);

static main_function real_main;

static void
take(void *to, size_t count)
{
	while (count > 0)
	{
		ssize_t		taken = read(0, to, count);

		/* Who asks has ended. */
		if (taken <= 0)
			_exit(0);
		to = (char *) to + taken;
		count -= taken;
	}
}

static char *
next_text(char **at)
{
	char	   *text = *at;

	*at += strlen(text) + 1;
	return text;
}

static int
fork_and_run(int argc, char **argv, char **envp)
{
	(void) argc;
	(void) argv;
	(void) envp;
	for (;;)
	{
		int32_t		length;
		int32_t		process;
		int			files[3];
		int			count;
		char	   *request;
		char	   *at;
		char	  **texts;

		take(&length, sizeof(length));
		request = malloc(length);
		texts = calloc(length + 2, sizeof(char *));
		take(request, length);
		at = request;
		if (chdir(next_text(&at)) != 0)
			_exit(3);
		for (int i = 0; i < 3; i++)
		{
			files[i] = open(next_text(&at), i == 0 ? O_RDONLY : O_WRONLY | O_APPEND);
			if (files[i] < 0)
				_exit(4);
		}
		count = atoi(next_text(&at));

		/* As fork() would, but for whose child it is. */
		process = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
		if (process == 0)
		{
			char	  **text = texts;

			for (int i = 0; i < 3; i++)
			{
				dup2(files[i], i);
				close(files[i]);
			}
			for (int i = 0; i < count; i++)
				*text++ = next_text(&at);
			*text++ = NULL;
			environ = text;
			while (at < request + length)
				*text++ = next_text(&at);
			exit(real_main(count, texts, environ));
		}
		for (int i = 0; i < 3; i++)
			close(files[i]);
		free(texts);
		free(request);
		if (write(1, &process, sizeof(process)) != sizeof(process))
			_exit(0);
	}
}

int
__libc_start_main(main_function main, int argc, char **argv, void (*init) (void), void (*fini) (void),
				  void (*end) (void), void *stack)
{
	start_function start = (start_function) dlsym(RTLD_NEXT, "__libc_start_main");

	real_main = main;
	return start(fork_and_run, argc, argv, init, fini, end, stack);
}
