/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Its first thread ends, another one goes on: at each byte of its standard
 * input it loads the plugin, calls g1 three times, and unloads it.
 */

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *path;
static pthread_t leader;

static void call(void)
{
	void *handle = dlopen(path, RTLD_NOW);
	long (*g1)(long) = (long (*)(long))(handle ? dlsym(handle, "g1") :
						      NULL);

	if (!g1)
		exit(1);
	for (int i = 0; i < 3; i++)
		if (g1(i) != i + 1)
			exit(1);
	dlclose(handle);
}

static void *run(void *unused)
{
	char byte;
	int calls = 0;

	pthread_join(leader, NULL);
	printf("ready\n");
	fflush(stdout);
	while (read(0, &byte, 1) == 1 && byte != 'q') {
		call();
		calls += 3;
		printf("count MAIN g1 %d\n", 3);
		fflush(stdout);
	}
	exit(calls ? 7 : 1);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 2)
		return 1;
	path = argv[1];
	leader = pthread_self();
	pthread_create(&thread, NULL, run, NULL);
	pthread_exit(NULL);
}
