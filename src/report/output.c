/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define ENOUGH 65536

int output_open(struct output *output, const char *path, bool add)
{
	int fd = STDERR_FILENO;

	if (path) {
		fd = open(path,
			  O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY |
				  O_APPEND * add | O_TRUNC * !add,
			  0666);
		if (fd < 0)
			return -errno;
	}
	output->fd = fd;
	output->owned = path;
	output->terminal = isatty(fd);
	return 0;
}

void output_close(struct output *output)
{
	if (output->owned && output->fd >= 0)
		close(output->fd);
	output->fd = -1;
}

void output_fini(struct output *output)
{
	output_close(output);
	strbuf_fini(&output->text);
	output->lines = 0;
	output->written = 0;
}

/* Standard error may have been made non-blocking by whoever shares it. */
static int wait_writable(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLOUT };

	if (poll(&pollfd, 1, -1) < 0 && errno != EINTR)
		return -errno;
	return 0;
}

static int write_all(int fd, const char *bytes, size_t n)
{
	ssize_t done;
	int error;

	while (n) {
		done = write(fd, bytes, n);
		if (done > 0) {
			bytes += done;
			n -= done;
		} else if (done < 0 && errno == EAGAIN) {
			error = wait_writable(fd);
			if (error)
				return error;
		} else if (done == 0 || errno != EINTR) {
			return done ? -errno : -EIO;
		}
	}
	return 0;
}

static int write_first(struct output *output, size_t n)
{
	struct strbuf *text = &output->text;
	int error;

	if (!n)
		return 0;
	error = write_all(output->fd, text->text, n);
	text->length -= n;
	memmove(text->text, text->text + n, text->length + 1);
	output->lines = 0;
	return error;
}

int output_flush(struct output *output)
{
	size_t partial = output->text.length - output->lines;

	if (output->fd < 0)
		return 0;
	if (!output->terminal || !partial)
		return write_first(output, output->lines);
	output->written = output_column(output);
	return write_first(output, output->text.length);
}

int output_write(struct output *output)
{
	output->written = 0;
	return write_first(output, output->text.length);
}

int output_end_line(struct output *output)
{
	strbuf_putc(&output->text, '\n');
	output->lines = output->text.length;
	output->written = 0;
	if (output->lines < ENOUGH)
		return 0;
	return output_flush(output);
}

size_t output_column(const struct output *output)
{
	return output->written + output->text.length - output->lines;
}

void output_pad(struct output *output, size_t column)
{
	size_t now = output_column(output);

	if (now < column)
		strbuf_pad(&output->text,
			   output->text.length + column - now);
}
