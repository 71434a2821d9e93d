/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "debuginfo/reader.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "debuginfo/child.h"
#include "dwarf/serve.h"
#include "sysdeps/linux/confine.h"

struct debug_reader {
	struct child child;
	struct strbuf in; /* what has come of a reply */
};

static void live(int socket)
{
	if (confine(socket))
		serve(CONFINED_SOCKET);
}

struct debug_reader *reader_start(void)
{
	struct child child;
	struct debug_reader *reader;

	if (child_start(&child, SOCK_STREAM, live))
		return NULL;
	reader = xcalloc(1, sizeof(*reader));
	reader->child = child;
	return reader;
}

void reader_stop(struct debug_reader *reader)
{
	if (!reader)
		return;
	child_end(&reader->child);
	strbuf_fini(&reader->in);
	free(reader);
}

int reader_ask(struct debug_reader *reader, const struct wire_head *head,
	       const void *body, const int *fds, unsigned fd_count)
{
	strbuf_clear(&reader->in);
	return wire_send_head(reader->child.socket, head, fds, fd_count) &&
			       wire_send(reader->child.socket, body,
					 head->size) ?
		       0 :
		       -EPIPE;
}

/* Whether there is something to be read, or the end. */
static bool is_ready(const struct debug_reader *reader, uint64_t until)
{
	struct pollfd pollfd = { .fd = reader->child.socket, .events = POLLIN };

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
static size_t wanted(const struct debug_reader *reader)
{
	struct wire_head head;

	if (reader->in.length < sizeof(head))
		return sizeof(head);
	memcpy(&head, reader->in.text, sizeof(head));
	return head.size > WIRE_BODY_MAX ? 0 : sizeof(head) + head.size;
}

static int receive_some(struct debug_reader *reader, size_t size)
{
	char bytes[65536];
	ssize_t n = recv(reader->child.socket, bytes,
			 size < sizeof(bytes) ? size : sizeof(bytes),
			 MSG_DONTWAIT);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0)
		return -EPIPE;
	strbuf_add(&reader->in, bytes, n);
	return 0;
}

int reader_wait(struct debug_reader *reader, uint64_t until,
		struct wire_head *ret, struct cursor *body_ret)
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
