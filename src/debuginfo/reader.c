/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "debuginfo/reader.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "debuginfo/confine.h"
#include "debuginfo/serve.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

struct reader {
	int socket;
	int pidfd;         /* the run loop may reap it: its pid says nothing */
	struct strbuf in;  /* what has come of a reply */
};

/*
 * It ends with its socket. (PR_SET_PDEATHSIG would end it with the thread that
 * traces, before results are written.)
 */
static NO_RETURN void live(int socket)
{
	/* Tracees are no business of this process. */
	fatal_set_hook(NULL, NULL);
	if (confine(socket))
		serve(CONFINED_SOCKET);
	_exit(0);
}

static int start_child(int socket)
{
	pid_t pid = fork();

	if (pid == 0)
		live(socket);
	/* Nobody has reaped it yet: nothing was waited for since. */
	return pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
}

struct reader *reader_start(void)
{
	struct reader *reader;
	int sockets[2];
	int pidfd;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return NULL;
	pidfd = start_child(sockets[1]);
	close(sockets[1]);
	if (pidfd < 0) {
		close(sockets[0]);
		return NULL;
	}
	reader = xcalloc(1, sizeof(*reader));
	reader->socket = sockets[0];
	reader->pidfd = pidfd;
	return reader;
}

void reader_stop(struct reader *reader)
{
	siginfo_t info;

	if (!reader)
		return;
	(void)syscall(SYS_pidfd_send_signal, reader->pidfd, SIGKILL, NULL, 0);
	while (waitid(P_PIDFD, reader->pidfd, &info, WEXITED) &&
	       errno == EINTR)
		;
	close(reader->pidfd);
	close(reader->socket);
	strbuf_fini(&reader->in);
	free(reader);
}

int reader_ask(struct reader *reader, const struct wire_head *head,
	       const void *body, const int *fds, unsigned fd_count)
{
	strbuf_clear(&reader->in);
	return wire_send_head(reader->socket, head, fds, fd_count) &&
			       wire_send(reader->socket, body, head->size) ?
		       0 :
		       -EPIPE;
}

/* Whether there is something to be read, or the end. */
static bool is_ready(const struct reader *reader, uint64_t until)
{
	struct pollfd pollfd = { .fd = reader->socket, .events = POLLIN };

	for (;;) {
		uint64_t now = clock_now();
		uint64_t left = until > now ? until - now : 0;
		int count = poll(&pollfd, 1, (left + 999999) / 1000000);

		if (count > 0)
			return true;
		if (!left && count == 0)
			return false;
		if (count < 0 && errno != EINTR)
			return true;
	}
}

/* How many bytes the reply has, as far as that is known yet. */
static size_t wanted(const struct reader *reader)
{
	struct wire_head head;

	if (reader->in.length < sizeof(head))
		return sizeof(head);
	memcpy(&head, reader->in.text, sizeof(head));
	return head.size > WIRE_BODY_MAX ? 0 : sizeof(head) + head.size;
}

static int receive_some(struct reader *reader, size_t size)
{
	char bytes[65536];
	ssize_t n = recv(reader->socket, bytes,
			 size < sizeof(bytes) ? size : sizeof(bytes),
			 MSG_DONTWAIT);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0)
		return -EPIPE;
	strbuf_add(&reader->in, bytes, n);
	return 0;
}

int reader_wait(struct reader *reader, uint64_t until, struct wire_head *ret,
		struct cursor *body_ret)
{
	size_t size;

	while ((size = wanted(reader)) > reader->in.length) {
		int err;

		if (!is_ready(reader, until))
			return -EAGAIN;
		err = receive_some(reader, size - reader->in.length);
		if (err)
			return err;
	}
	if (!size)
		return -EPIPE;
	memcpy(ret, reader->in.text, sizeof(*ret));
	*body_ret = cursor_of(reader->in.text + sizeof(*ret), ret->size);
	return 0;
}
