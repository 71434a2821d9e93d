// SPDX-License-Identifier: GPL-2.0-or-later
// A server that grows: a cache and a leak of the same size, a structure whose
// members hold different things, and blocks that two variables lead to.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <map>

struct session {
	virtual ~session() {}
	char *name = (char *)calloc(1, 100);
};

struct chunk {
	struct chunk *next;
	char text[192];
};

static std::map<int, session *> *cache;

struct server {
	int port;
	char *log;
	struct chunk *queue;
} server;

char *one, *other, *sparse;

__attribute__((noinline)) static void fill(void)
{
	cache = new std::map<int, session *>;
	for (int i = 0; i < 500; i++)
		(*cache)[i] = new session;
	server.log = (char *)calloc(1, 50000);
	for (int i = 0; i < 300; i++) {
		struct chunk *chunk = (struct chunk *)calloc(1, sizeof(*chunk));

		chunk->next = server.queue;
		server.queue = chunk;
	}
	one = other = (char *)calloc(1, 30000);
	sparse = (char *)malloc(64 << 20);
	memset(sparse + (8 << 20), 1, 1 << 20);
}

__attribute__((noinline)) static void leak(void)
{
	for (int i = 0; i < 500; i++) {
		void *volatile lost = calloc(1, 172);

		(void)lost;
		lost = nullptr;
	}
}

/* Where fill() and leak() have been, nothing shall stay. */
__attribute__((noinline)) static void wipe(void)
{
	char volatile room[16384];

	for (unsigned i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

int main()
{
	fill();
	leak();
	wipe();
	puts("ready");
	fflush(stdout);
	return getchar() == 'q' ? 0 : 1;
}
