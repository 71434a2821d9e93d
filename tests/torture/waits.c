/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "torture.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Long enough to be hit by an attach and a detach. */
#define WAIT_MS 20
#define WAIT_NS (WAIT_MS * 1000000l)

static const struct timespec wait_time = { 0, WAIT_NS };

struct places {
	int epoll;
	int sockets[2];
};

static int wait_epoll(const struct places *places)
{
	struct epoll_event event;

	return epoll_wait(places->epoll, &event, 1, WAIT_MS) ? errno : 0;
}

static int wait_poll(const struct places *places)
{
	struct pollfd fd = { places->sockets[0], POLLIN, 0 };

	return poll(&fd, 1, WAIT_MS) ? errno : 0;
}

static int wait_select(const struct places *places)
{
	struct timeval time = { 0, WAIT_MS * 1000 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(places->sockets[0], &set);
	return select(places->sockets[0] + 1, &set, NULL, NULL, &time) ? errno :
									 0;
}

static int wait_nanosleep(const struct places *places)
{
	(void)places;
	return nanosleep(&wait_time, NULL) ? errno : 0;
}

static int wait_futex(const struct places *places)
{
	unsigned word = 5;

	(void)places;
	if (!syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 5, &wait_time, NULL,
		     0))
		return -1;
	return errno == ETIMEDOUT ? 0 : errno;
}

static int wait_receive(const struct places *places)
{
	char c;

	if (recv(places->sockets[0], &c, 1, 0) != -1)
		return -1;
	return errno == EAGAIN ? 0 : errno;
}

static int wait_signal(const struct places *places)
{
	sigset_t set;

	(void)places;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	if (sigtimedwait(&set, NULL, &wait_time) != -1)
		return -1;
	return errno == EAGAIN ? 0 : errno;
}

static const struct {
	const char *name;
	int (*wait)(const struct places *places);
} waits[] = {
	{ "epoll_wait", wait_epoll },    { "poll", wait_poll },
	{ "select", wait_select },       { "nanosleep", wait_nanosleep },
	{ "futex", wait_futex },         { "recv", wait_receive },
	{ "sigtimedwait", wait_signal },
};

#define WAITS (sizeof(waits) / sizeof(waits[0]))

/* Neither an error nor a short wait; stopping and going on may interrupt. */
static void check_wait(unsigned i, const struct places *places)
{
	uint64_t before = now(), waited;
	int err = waits[i].wait(places);

	waited = now() - before;
	if (err == EINTR && is_stopped_by_others)
		return;
	if (err)
		fail("%s: %s after %.3f ms", waits[i].name,
		     err < 0 ? "woke up" : strerror(err), waited / 1e6);
	/* Clocks of the kernel's timers are coarse for some of these. */
	else if (waited < WAIT_NS - 1000000)
		fail("%s: waited %.3f ms only", waits[i].name, waited / 1e6);
}

void *waits_run(void *unused)
{
	struct timeval time = { 0, WAIT_MS * 1000 };
	struct places places;
	struct epoll_event event = { .events = EPOLLIN };
	unsigned i;

	(void)unused;
	places.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (places.epoll < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
		       places.sockets) ||
	    setsockopt(places.sockets[0], SOL_SOCKET, SO_RCVTIMEO, &time,
		       sizeof(time)) ||
	    epoll_ctl(places.epoll, EPOLL_CTL_ADD, places.sockets[0], &event)) {
		fail("waits: %s", strerror(errno));
		return NULL;
	}
	for (i = 0; !atomic_load(&shared->stop); i++)
		check_wait(i % WAITS, &places);
	return NULL;
}
