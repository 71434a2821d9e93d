/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/strbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"

void strbuf_fini(struct strbuf *buf)
{
	free(buf->text);
	*buf = (struct strbuf){ 0 };
}

void strbuf_clear(struct strbuf *buf)
{
	buf->length = 0;
	if (buf->text)
		buf->text[0] = '\0';
}

void strbuf_grow(struct strbuf *buf, size_t n)
{
	size_t room = buf->room ? buf->room : 128;

	while (room <= buf->length + n)
		room *= 2;
	buf->text = xreallocarray(buf->text, room, 1);
	buf->room = room;
}

void strbuf_add(struct strbuf *buf, const void *bytes, size_t n)
{
	char *at = strbuf_reserve(buf, n);

	if (n)
		memcpy(at, bytes, n);
	strbuf_end_at(buf, at + n);
}

void strbuf_puts(struct strbuf *buf, const char *s)
{
	strbuf_add(buf, s, strlen(s));
}

void strbuf_printf(struct strbuf *buf, const char *format, ...)
{
	va_list args;
	int n;

	(void)strbuf_reserve(buf, 64);
	va_start(args, format);
	n = vsnprintf(buf->text + buf->length, buf->room - buf->length, format,
		      args);
	va_end(args);
	if (n < 0)
		return;
	if ((size_t)n >= buf->room - buf->length) {
		(void)strbuf_reserve(buf, n);
		va_start(args, format);
		vsnprintf(buf->text + buf->length, buf->room - buf->length,
			  format, args);
		va_end(args);
	}
	buf->length += n;
}

void strbuf_add_grouped(struct strbuf *buf, uint64_t number)
{
	if (number >= 1000) {
		strbuf_add_grouped(buf, number / 1000);
		strbuf_printf(buf, ",%03u", (unsigned)(number % 1000));
	} else {
		strbuf_printf(buf, "%u", (unsigned)number);
	}
}

void strbuf_pad(struct strbuf *buf, size_t length)
{
	if (buf->length >= length)
		return;
	(void)strbuf_reserve(buf, length - buf->length);
	memset(buf->text + buf->length, ' ', length - buf->length);
	buf->length = length;
	buf->text[length] = '\0';
}

const char *strbuf_text(const struct strbuf *buf)
{
	return buf->text ? buf->text : "";
}

int strbuf_read(struct strbuf *buf, int fd, size_t max)
{
	char bytes[16384];

	for (;;) {
		ssize_t n = read(fd, bytes, sizeof(bytes));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		if (buf->length + n > max)
			return -EFBIG;
		strbuf_add(buf, bytes, n);
	}
}
