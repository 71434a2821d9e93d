/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NO_STRING  UINT32_MAX
#define STRING_MAX 65536

void wire_put_u8(struct strbuf *out, uint8_t value)
{
	strbuf_add(out, &value, sizeof(value));
}

void wire_put_u32(struct strbuf *out, uint32_t value)
{
	strbuf_add(out, &value, sizeof(value));
}

void wire_put_u64(struct strbuf *out, uint64_t value)
{
	strbuf_add(out, &value, sizeof(value));
}

void wire_put_string(struct strbuf *out, const char *s)
{
	size_t length = s ? strnlen(s, STRING_MAX) : 0;

	wire_put_u32(out, s ? length : NO_STRING);
	strbuf_add(out, s ? s : "", length);
}

const char *wire_string(struct cursor *c, size_t *length_ret)
{
	uint32_t length = cursor_u32(c);

	*length_ret = 0;
	if (c->bad || length == NO_STRING)
		return NULL;
	*length_ret = length;
	return (const char *)cursor_bytes(c, length);
}

bool wire_send(int socket, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t n = send(socket, at, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= n;
	}
	return true;
}

bool wire_receive(int socket, void *ret, size_t size)
{
	char *at = ret;

	while (size) {
		ssize_t n = recv(socket, at, size, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= n;
	}
	return true;
}

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int) * WIRE_FDS)];
};

bool wire_send_head(int socket, const struct wire_head *head, const int *fds,
		    unsigned fd_count)
{
	union control control = { 0 };
	struct iovec vector = { (void *)head, sizeof(*head) };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
	ssize_t n;

	if (fd_count) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
		memcpy(CMSG_DATA(&control.header), fds, sizeof(int) * fd_count);
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
	}
	do
		n = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	return wire_send(socket, (const char *)head + n, sizeof(*head) - n);
}

static void take_fds(struct msghdr *message, int fds_ret[WIRE_FDS])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(message);
	size_t size;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return;
	size = c->cmsg_len - CMSG_LEN(0);
	if (size > sizeof(int) * WIRE_FDS)
		size = sizeof(int) * WIRE_FDS;
	memcpy(fds_ret, CMSG_DATA(c), size);
}

bool wire_receive_head(int socket, struct wire_head *ret, int fds_ret[WIRE_FDS])
{
	union control control;
	struct iovec vector = { ret, sizeof(*ret) };
	struct msghdr message = {
		.msg_iov = &vector,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	unsigned i;
	ssize_t n;

	for (i = 0; i < WIRE_FDS; i++)
		fds_ret[i] = -1;
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	take_fds(&message, fds_ret);
	return wire_receive(socket, (char *)ret + n, sizeof(*ret) - n);
}
