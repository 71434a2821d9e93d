/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads plugins as its standard input says, a letter each:
 *	l load, u unload, c call g1 three times, p let the plugin call f1 100
 *	times, n load into a new namespace, t load in another thread and call
 *	there, m move: fill the address space where the plugin lay, q quit.
 * Answers each with "done X". Says at the end how often g1 was called.
 */

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static void *handle;
static void *last_address;
static int g1_calls, f1_calls, wrong;
static const char *path;

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, dlerror());
	exit(1);
}

static void *symbol(const char *name)
{
	void *found = dlsym(handle, name);

	if (!found)
		die(name);
	return found;
}

static void load(int namespace)
{
	handle = namespace ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) :
			     dlopen(path, RTLD_NOW);
	if (!handle)
		die("load");
	last_address = symbol("g1");
}

static void call(void)
{
	long (*g1)(long) = (long (*)(long))symbol("g1");

	for (int i = 0; i < 3; i++) {
		g1_calls++;
		wrong += g1(i) != i + 1;
	}
}

static void plugin_calls(void)
{
	long (*calls)(int) = (long (*)(int))symbol("g_calls_f1");

	f1_calls += 100;
	wrong += calls(100) != 5050;
}

static void *in_thread(void *unused)
{
	load(0);
	call();
	return unused;
}

static void thread(void)
{
	pthread_t id;

	pthread_create(&id, NULL, in_thread, NULL);
	pthread_join(id, NULL);
}

/* What the next load would use is taken, where nothing else lies. */
static void move(void)
{
	size_t page = 4096;
	char *place = (char *)((size_t)last_address & ~(page - 1));

	for (int i = -8; i < 8; i++)
		mmap(place + i * (long)page, page, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static void unload(void)
{
	if (dlclose(handle))
		die("dlclose");
	handle = NULL;
}

static void obey(int letter)
{
	switch (letter) {
	case 'l':
		load(0);
		break;
	case 'n':
		load(1);
		break;
	case 'u':
		unload();
		break;
	case 'c':
		call();
		break;
	case 'p':
		plugin_calls();
		break;
	case 't':
		thread();
		break;
	case 'm':
		move();
		break;
	default:
		return;
	}
	printf("done %c %p\n", letter, last_address);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int letter;

	if (argc < 2)
		return 1;
	path = argv[1];
	printf("ready\n");
	fflush(stdout);
	while ((letter = getchar()) != EOF && letter != 'q')
		obey(letter);
	printf("count MAIN g1 %d\ncount plug.so f1 %d\n", g1_calls, f1_calls);
	return wrong ? 1 : 7;
}
