/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

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

static bool in_hurry(const struct output *output)
{
	return output->hurry && *output->hurry;
}

/* How long a reader who doesn't read is waited for when we want to leave. */
#define PATIENCE NS_PER_SECOND

/*
 * In a hurry before a write too: there it would block. (Standard error may
 * have been made non-blocking by whoever shares it; then always.) Ticks of our
 * own timer interrupt the wait.
 */
static int wait_writable(const struct output *output)
{
	struct pollfd pollfd = { .fd = output->fd, .events = POLLOUT };
	uint64_t began = clock_now();

	for (;;) {
		int ready = poll(&pollfd, 1, 1000);

		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
		if (in_hurry(output) && clock_now() - began > PATIENCE)
			return -ETIMEDOUT;
	}
}

/* A pipe that poll() says can be written to takes this much at once. */
#define CHUNK 4096

static int write_all(const struct output *output, const char *bytes, size_t n)
{
	int error = 0;

	while (n && !error) {
		bool hurry = in_hurry(output);
		ssize_t done;

		if (hurry)
			error = wait_writable(output);
		if (error)
			break;
		done = write(output->fd, bytes, hurry && n > CHUNK ? CHUNK : n);
		if (done > 0) {
			bytes += done;
			n -= done;
		} else if (done < 0 && errno == EAGAIN) {
			error = wait_writable(output);
		} else if (done == 0 || errno != EINTR) {
			error = done ? -errno : -EIO;
		}
	}
	return error;
}

static int write_first(struct output *output, size_t n)
{
	struct strbuf *text = &output->text;
	int error;

	if (!n)
		return 0;
	error = write_all(output, text->text, n);
	text->length -= n;
	memmove(text->text, text->text + n, text->length + 1);
	output->lines = 0;
	return error;
}

int output_flush(struct output *output)
{
	if (output->fd < 0)
		return 0;
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
	if (output->lines < ENOUGH || in_hurry(output))
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
