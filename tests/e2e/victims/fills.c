// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fills ROUNDS: the C library's functions fill buffers, to different extents, or
 * fail to. Ends with 7 when all did what they should.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAIRS = 23, LONG = 1500 };

static int pairs[PAIRS][2], packets[2], stream[2], epoll, wrong;
static char text[200], *edge;

static void check(long found, long wanted)
{
	wrong += found != wanted;
}

static void reads(size_t size)
{
	char buffer[256];

	check(write(pairs[0][1], text, size), (long)size);
	check(recv(pairs[0][0], buffer, sizeof(buffer), MSG_PEEK), (long)size);
	check(read(pairs[0][0], buffer, sizeof(buffer)), (long)size);
	check(memcmp(buffer, text, size), 0);
	check(read(pairs[0][0], buffer, sizeof(buffer)), -1);
	/* It ends where nothing is. */
	check(write(pairs[0][1], text, size), (long)size);
	check(read(pairs[0][0], edge - size, sizeof(buffer)), (long)size);
	check(read(pairs[0][0], edge, 1), -1);
	check(read(-1, NULL, 0), -1);
}

/* The result is what there was, and not what has been written. */
static void cuts(void)
{
	const int flags = MSG_PEEK | MSG_TRUNC;
	static char packet[LONG];

	memset(packet, 'p', sizeof(packet));
	check(send(packets[1], packet, LONG, 0), LONG);
	check(recv(packets[0], edge - 1, 1, flags), LONG);
	check(recv(packets[0], edge, 0, flags), LONG);
	check(recv(packets[0], edge - 1, 1, MSG_PEEK), 1);
	check(edge[-1], 'p');
	edge[-1] = 0;
	check(recv(packets[0], edge - 1, 1, MSG_TRUNC), LONG);
	if (stream[0] < 0)
		return;
	check(send(stream[1], packet, LONG, 0), LONG);
	check(recv(stream[0], edge, LONG, MSG_WAITALL | MSG_TRUNC), LONG);
}

static void waits(int ready)
{
	struct epoll_event events[PAIRS];
	struct epoll_event *last = (void *)edge;
	char byte;
	int i;

	last -= ready;
	for (i = 0; i < ready; i++)
		check(write(pairs[i][1], "x", 1), 1);
	check(epoll_wait(epoll, events, PAIRS, 0), ready);
	if (ready)
		check(epoll_wait(epoll, last, ready, 0), ready);
	for (i = 0; i < ready; i++)
		check(recv(pairs[i][0], &byte, 1, 0), 1);
}

static void round_of(int file)
{
	char buffer[64];
	int i;

	for (i = 1; i < (int)sizeof(text); i += 13)
		reads((size_t)i);
	cuts();
	for (i = 0; i <= PAIRS; i += i < 7 ? 1 : 7)
		waits(i);
	for (i = PAIRS - 3; i <= PAIRS; i++)
		waits(i);
	check(pread(file, buffer, sizeof(buffer), 3), sizeof(buffer));
	check(pread(file, buffer, sizeof(buffer), 190), 10);
	check(pread(file, buffer, sizeof(buffer), 1000), 0);
	check(pread(file, buffer, sizeof(buffer), -1), -1);
}

/* Without a loopback device there is none. */
static void connect_stream(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	struct sockaddr *own = (struct sockaddr *)&address;
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	stream[0] = -1;
	stream[1] = socket(AF_INET, SOCK_STREAM, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, own, size) || getsockname(listener, own, &size) ||
	    listen(listener, 1) || connect(stream[1], own, size))
		return;
	stream[0] = accept(listener, NULL, NULL);
}

int main(int argc, char **argv)
{
	const long size = sysconf(_SC_PAGESIZE);
	int i, rounds = argc > 1 ? atoi(argv[1]) : 1;
	FILE *file = tmpfile();

	for (i = 0; i < (int)sizeof(text); i++)
		text[i] = (char)(i % 7 ? 'a' + i % 26 : i);
	edge = mmap(NULL, (size_t)(2 * size), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	edge += size;
	munmap(edge, (size_t)size);
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, packets))
		return 1;
	connect_stream();
	epoll = epoll_create1(0);
	for (i = 0; i < PAIRS; i++) {
		struct epoll_event event = { .events = EPOLLIN };

		event.data.u64 = 7u * (unsigned)i;
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0,
			       pairs[i]))
			return 1;
		epoll_ctl(epoll, EPOLL_CTL_ADD, pairs[i][0], &event);
	}
	if (!file || fwrite(text, sizeof(text), 1, file) != 1 || fflush(file))
		return 2;
	while (rounds--)
		round_of(fileno(file));
	return wrong ? 3 : 7;
}
