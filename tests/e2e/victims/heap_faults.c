/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What goes wrong with memory, or leaves an allocator by another way than its
 * return; with libbump.c, which survives it. The argument says which. First of
 * all it acquires 100 bytes, and at the end says "end".
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbump.h"

static jmp_buf jump;
static void *volatile kept;
static char *volatile block;

static void say(const char *text)
{
	if (write(1, text, strlen(text)) < 0)
		_exit(1);
}

__attribute__((noinline)) static void first_free(void *data)
{
	free(data);
	__asm__ volatile("");
}

__attribute__((noinline)) static void second_free(void *data)
{
	free(data);
	__asm__ volatile("");
}

static void twice(void)
{
	char *volatile data = malloc(24);

	first_free(data);
	for (volatile int i = 0; i < 3; i++)
		second_free(data);
}

static void unknown(void)
{
	static char own[64];

	first_free(own);
	first_free(block + 8);
}

static void jump_out(const char *function)
{
	if (!strcmp(function, "malloc"))
		longjmp(jump, 1);
}

static void longjmps(void)
{
	for (volatile int i = 0; i < 5; i++) {
		bump_hook = jump_out;
		if (!setjmp(jump))
			kept = malloc(1000);
		bump_hook = NULL;
		kept = malloc(10);
	}
}

static void end_thread(const char *function)
{
	bump_hook = NULL;
	if (!strcmp(function, "malloc"))
		pthread_exit(NULL);
}

static void *allocate(void *argument)
{
	bump_hook = end_thread;
	kept = malloc(1000);
	return argument;
}

static void thread_ends(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, allocate, NULL))
		_exit(1);
	pthread_join(thread, NULL);
	kept = malloc(10);
}

static void die(const char *function)
{
	if (!strcmp(function, "realloc"))
		kill(getpid(), SIGKILL);
}

static void dies(void)
{
	kept = malloc(10);
	bump_hook = die;
	block = realloc(block, 300);
}

static void recurse(const char *function)
{
	bump_hook = NULL;
	if (!strcmp(function, "calloc"))
		kept = malloc(77);
}

/* An allocator that calls its own kin: one call of the program. */
static void nested(void)
{
	bump_hook = recurse;
	kept = calloc(10, 10);
}

static void to_the_end(const char *function)
{
	bump_hook = NULL;
	if (!strcmp(function, "realloc"))
		_exit(7);
}

static void exits(void)
{
	bump_hook = to_the_end;
	block = realloc(block, 300);
}

static const struct {
	const char *name;
	void (*function)(void);
} cases[] = {
	{ "twice", twice },	{ "unknown", unknown },
	{ "longjmps", longjmps }, { "thread", thread_ends },
	{ "dies", dies },	{ "nested", nested },
	{ "exits", exits },
};

int main(int argc, char **argv)
{
	char word;

	block = malloc(100);
	if (argc > 2) {
		say("ready\n");
		if (read(0, &word, 1) < 0)
			return 1;
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (argc > 1 && !strcmp(cases[i].name, argv[1]))
			cases[i].function();
	say("end\n");
	return 0;
}
