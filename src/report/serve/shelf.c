/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/serve/shelf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"

#define BYTES_MAX ((size_t)1 << 30)

static void drop(struct shelf_process *process)
{
	for (unsigned i = 0; i < DOCUMENTS; i++)
		if (process->documents[i].fd >= 0)
			close(process->documents[i].fd);
}

void shelf_fini(struct shelf *shelf)
{
	for (size_t i = 0; i < shelf->count; i++)
		drop(&shelf->list[i]);
	free(shelf->list);
}

static struct shelf_process *find(struct shelf *shelf, pid_t pid)
{
	for (size_t i = 0; i < shelf->count; i++)
		if (shelf->list[i].pid == pid)
			return &shelf->list[i];
	return NULL;
}

static struct shelf_process *take(struct shelf *shelf, pid_t pid)
{
	struct shelf_process *process = find(shelf, pid);

	if (process)
		return process;
	shelf->list = xgrow(shelf->list, shelf->count, &shelf->room,
			    sizeof(*shelf->list));
	process = &shelf->list[shelf->count++];
	*process = (struct shelf_process){ .pid = pid };
	for (unsigned i = 0; i < DOCUMENTS; i++)
		process->documents[i].fd = -1;
	return process;
}

/* Those that have ended are in no snapshot any more. */
static void finish(struct shelf *shelf, unsigned long number, uint64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < shelf->count; i++) {
		struct shelf_process *process = &shelf->list[i];

		if (process->pid && process->number != number) {
			drop(process);
			continue;
		}
		for (unsigned k = 0; k < DOCUMENTS; k++)
			if (process->documents[k].number == number)
				process->documents[k].since = now;
		shelf->list[kept++] = *process;
	}
	shelf->count = kept;
	shelf->complete = number;
	shelf->since = now;
}

static void put(struct shelf *shelf, const struct feed_head *head, int fd)
{
	struct shelf_process *process = take(shelf, head->pid);
	const unsigned i = head->document;

	memcpy(process->name, head->name, sizeof(process->name));
	process->number = head->number;
	if (process->documents[i].fd >= 0)
		close(process->documents[i].fd);
	process->documents[i].fd = fd;
	process->documents[i].number = head->number;
	process->documents[i].since = 0;
}

bool shelf_fill(struct shelf *shelf, const struct feed_end *end, uint64_t now)
{
	struct feed_head head;
	int fd, result;

	while ((result = feed_receive(end, &head, &fd)) > 0) {
		if (head.document < DOCUMENTS && fd >= 0) {
			put(shelf, &head, fd);
			continue;
		}
		if (fd >= 0)
			close(fd);
		if (head.document == DOCUMENTS)
			finish(shelf, head.number, now);
	}
	return result == -EAGAIN;
}

struct shelf_process *shelf_find(struct shelf *shelf, pid_t pid)
{
	if (pid)
		return find(shelf, pid);
	for (size_t i = 0; i < shelf->count; i++)
		if (shelf->list[i].pid)
			return &shelf->list[i];
	return NULL;
}

struct shelf_process *shelf_all(struct shelf *shelf)
{
	return find(shelf, 0);
}

int shelf_read(int fd, struct strbuf *out)
{
	char bytes[65536];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		strbuf_add(out, bytes, n);
		at += n;
		if (out->length > BYTES_MAX)
			return -EFBIG;
	}
	return n < 0 ? -errno : 0;
}
