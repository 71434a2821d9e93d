// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vanishing ROUNDS: the kernel fills memory that is gone when read() returns: a full
 * pipe that is read sends a signal, whose handler unmaps it, or shortens its file.
 * Ends with 7 when all was read, after "end" on its input.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STAYS, IS_UNMAPPED, IS_CUT_OFF, KINDS };

static int ends[2], file;
static long size;
static char *volatile room;
static volatile int kind, handled;

static void take_away(int number)
{
	(void)number;
	handled++;
	if (kind == IS_UNMAPPED)
		munmap(room, (size_t)size);
	else if (kind == IS_CUT_OFF && ftruncate(file, 0))
		_exit(2);
}

static int begin(void)
{
	if (pipe(ends))
		return 0;
	size = fcntl(ends[1], F_SETPIPE_SZ, 4096);
	signal(SIGIO, take_away);
	file = fileno(tmpfile());
	return size > 0 && !fcntl(ends[1], F_SETOWN, getpid()) &&
	       !fcntl(ends[1], F_SETFL, O_ASYNC | O_NONBLOCK);
}

static int read_once(char *text)
{
	const int flags = kind == IS_CUT_OFF ? MAP_SHARED :
					       MAP_PRIVATE | MAP_ANONYMOUS;
	int fine;

	if (ftruncate(file, size))
		return 0;
	room = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, flags,
		    kind == IS_CUT_OFF ? file : -1, 0);
	fine = room != MAP_FAILED && write(ends[1], text, (size_t)size) == size;
	handled = 0;
	fine = fine && read(ends[0], room, (size_t)size) == size && handled;
	if (kind != IS_UNMAPPED)
		munmap(room, (size_t)size);
	return fine;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 0, fine = begin(), i;
	char line[8], *text = calloc(1, 1 << 20);

	if (!fine || !text || size > 1 << 20)
		return 3;
	strcpy(text, "what is read");
	printf("ready\n");
	fflush(stdout);
	(void)!fgets(line, sizeof(line), stdin);
	for (i = 0; i < rounds; i++) {
		kind = i % KINDS;
		fine = fine && read_once(text);
	}
	printf("done\n");
	fflush(stdout);
	(void)!fgets(line, sizeof(line), stdin);
	return fine ? 7 : 1;
}
