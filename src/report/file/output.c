/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/file/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/doing.h"
#include "base/writable.h"
#include "report/file/exposed.h"
#include "report/file/own_descriptor.h"

#define ENOUGH 65536

/* Who rotates logs may empty one that is written: then its end is elsewhere. */
static int open_path(const char *path, bool add, bool predictable)
{
	int fd = own_descriptor(path);

	if (fd != -ENOENT)
		return fd;
	if (predictable && exposed_is(path))
		return exposed_open(path, add);
	fd = open(path,
		  O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_APPEND |
			  O_TRUNC * !add,
		  0666);
	return fd < 0 ? -errno : fd;
}

int output_open(struct output *output, const char *path, bool add,
		bool predictable)
{
	int fd = path ? open_path(path, add, predictable) : STDERR_FILENO;
	struct stat st;

	if (fd < 0)
		return fd;
	output->fd = fd;
	output->owned = path;
	output->waits = fstat(fd, &st) || !S_ISREG(st.st_mode);
	output->terminal = output->waits && isatty(fd);
	output->stuck = false;
	return 0;
}

void output_close(struct output *output)
{
	if (output->owned && output->fd >= 0)
		close(output->fd);
	output->fd = -1;
}

static bool in_hurry(const struct output *output)
{
	return output->policy && output->policy->hurry &&
	       *output->policy->hurry;
}

static bool drops(const struct output *output)
{
	return output->policy && output->policy->drops && output->waits;
}

/* How long a reader who doesn't read is waited for: when we want to leave, and
   while tasks stand still for it. */
#define PATIENCE       NS_PER_SECOND
#define SHORT_PATIENCE (NS_PER_SECOND / 5)

struct wait {
	uint64_t began, hurried; /* 0: not in a hurry yet */
};

/* Who wants to leave may have waited for long before. */
static bool has_waited(const struct output *output, struct wait *wait)
{
	const uint64_t now = clock_now();

	if (in_hurry(output)) {
		if (!wait->hurried)
			wait->hurried = now;
		return now - wait->hurried > PATIENCE;
	}
	return drops(output) &&
	       (output->stuck || now - wait->began > SHORT_PATIENCE);
}

static bool tells_of_waits(const struct output *output)
{
	return output->policy && output->policy->waiting && output->waits;
}

static int step_of(const struct output *output)
{
	if (output->stuck && drops(output) && !in_hurry(output))
		return 0;
	if (drops(output))
		return 50;
	return tells_of_waits(output) ? 100 : 1000;
}

/*
 * Before a write too, where that would block. (Standard error may have been
 * made non-blocking by whoever shares it; then always.) Ticks of our own timer
 * interrupt the wait. Who had no processor while a reader came looks once more.
 */
static int wait_writable(const struct output *output)
{
	struct wait wait = { .began = clock_now() };
	bool waited = false;

	for (;;) {
		int ready = writable_within(output->fd,
					    waited ? 0 : step_of(output));

		if (ready)
			return ready > 0 ? 0 : ready;
		if (waited)
			return -ETIMEDOUT;
		if (tells_of_waits(output))
			output->policy->waiting(output->policy->context);
		waited = has_waited(output, &wait);
	}
}

/* A pipe that poll() says can be written to takes this much at once. */
#define CHUNK 4096

static int write_all(struct output *output, const char *bytes, size_t n,
		     size_t *done_ret)
{
	int err = 0;

	*done_ret = 0;
	if (output->terminal && n)
		doing_make_room();
	while (*done_ret < n && !err) {
		bool careful = in_hurry(output) || drops(output) ||
			       tells_of_waits(output);
		size_t want = n - *done_ret;
		ssize_t done;

		if (careful)
			err = wait_writable(output);
		if (err)
			break;
		done = write(output->fd, bytes + *done_ret,
			     careful && want > CHUNK ? CHUNK : want);
		if (done > 0)
			*done_ret += done;
		else if (done < 0 && errno == EAGAIN)
			err = wait_writable(output);
		else if (done == 0 || errno != EINTR)
			err = done ? -errno : -EIO;
	}
	if (*done_ret)
		output->begun = bytes[*done_ret - 1] != '\n';
	return err;
}

static void remove_text(struct output *output, size_t from, size_t n)
{
	struct strbuf *text = &output->text;

	text->length -= n;
	memmove(text->text + from, text->text + from + n,
		text->length - from + 1);
	output->lines -= output->lines > n ? n : output->lines;
}

/* Of whole lines; a line whose beginning is out is kept. */
static void drop_lines(struct output *output)
{
	const char *text = strbuf_text(&output->text);
	size_t from = 0;

	if (output->begun && output->lines)
		from = strchr(text, '\n') + 1 - text;
	for (size_t i = from; i < output->lines; i++)
		output->gap += text[i] == '\n';
	if (from < output->lines)
		remove_text(output, from, output->lines - from);
}

/* Where lines are missing it is said, as soon as something is taken again. */
static void tell_gap(struct output *output)
{
	CLEANUP(strbuf_fini) struct strbuf all = { 0 };
	const char *text = strbuf_text(&output->text);
	size_t from = 0, before;

	output->policy->dropped += output->gap;
	if (output->add_gap) {
		if (output->begun && output->lines)
			from = strchr(text, '\n') + 1 - text;
		strbuf_add(&all, text, from);
		before = all.length;
		output->add_gap(&all, output->gap);
		output->lines += all.length - before;
		strbuf_puts(&all, text + from);
		strbuf_clear(&output->text);
		strbuf_add(&output->text, all.text, all.length);
	}
	output->gap = 0;
}

/* What was written of the line that isn't ended yet counts for its column. */
static void take_written(struct output *output, size_t done)
{
	if (done > output->lines)
		output->written += done - output->lines;
	remove_text(output, 0, done);
}

static int write_first(struct output *output, size_t n)
{
	size_t done;
	int err;

	if (!n)
		return 0;
	if (output->gap && !wait_writable(output)) {
		size_t before = output->text.length;

		tell_gap(output);
		n += output->text.length - before;
	}
	err = write_all(output, output->text.text, n, &done);
	output->stuck = err == -ETIMEDOUT && drops(output) && !in_hurry(output);
	if (err && !output->stuck)
		done = n;
	take_written(output, done);
	if (!output->stuck)
		return err;
	if (output->lines >= ENOUGH)
		drop_lines(output);
	return 0;
}

bool output_has_moved(const struct output *output, const char *path)
{
	struct stat own, there;

	/* What is called /dev/stdout may be another file, or none. */
	if (output->waits || !output->owned || own_descriptor_is(path) ||
	    fstat(output->fd, &own))
		return false;
	if (stat(path, &there))
		return errno == ENOENT;
	return own.st_dev != there.st_dev || own.st_ino != there.st_ino;
}

/* Whoever may write there had time to prepare something: the name is known. */
int output_move(struct output *output, const char *path)
{
	int fd = exposed_open(path, true);

	if (fd < 0)
		return fd;
	/* What is lost with a full disk is the old file's. */
	if (output->begun && output_flush(output))
		output->begun = false;
	close(output->fd);
	output->fd = fd;
	return 0;
}

void output_fini(struct output *output)
{
	output_close(output);
	if (output->policy) {
		output->begun = false;
		drop_lines(output);
		output->policy->dropped += output->gap;
	}
	output->gap = 0;
	strbuf_fini(&output->text);
	output->lines = 0;
	output->written = 0;
}

int output_flush(struct output *output)
{
	if (output->fd < 0)
		return 0;
	return write_first(output, output->text.length);
}

int output_write(struct output *output)
{
	int err = write_first(output, output->text.length);

	output->written = 0;
	return err;
}

int output_end_line(struct output *output)
{
	strbuf_putc(&output->text, '\n');
	return output_end_lines(output);
}

int output_end_lines(struct output *output)
{
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
		strbuf_pad(&output->text, output->text.length + column - now);
}
