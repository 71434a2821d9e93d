/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that fail, in two threads, and what the program itself finds in errno
 * after each: "error NAME CALLED FAILED".
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 50

static void tell(const char *name, int value, int error)
{
	printf("%s %d %s\n", name, value, error ? strerror(error) : "none");
}

static void *fail_in_thread(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		if (close(-1) != -1 || errno != EBADF)
			printf("close\n");
	return unused;
}

int main(void)
{
	pthread_t thread;
	void *block;

	pthread_create(&thread, NULL, fail_in_thread, NULL);
	for (int i = 0; i < ROUNDS; i++)
		if (open("/nowhere", O_RDONLY) != -1 || errno != ENOENT)
			printf("open\n");
	pthread_join(thread, NULL);
	errno = 0;
	tell("chdir", chdir("/"), errno);
	tell("fopen", fopen("/", "w") ? 0 : -1, errno);
	tell("posix_memalign", posix_memalign(&block, 3, 8), 0);
	tell("access", access("/nowhere", R_OK), errno);
	return 0;
}
