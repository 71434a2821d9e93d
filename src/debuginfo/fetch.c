/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "debuginfo/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/hash.h"
#include "debuginfo/child.h"
#include "debuginfo/fetch_cache.h"
#include "debuginfo/fetch_child.h"
#include "dwarf/wire.h"
#include "sysdeps/linux/confine.h"

/* Each that came keeps a descriptor open. */
#define FILES_MAX 256

/* What the socket's buffer certainly has room for. */
#define IN_FLIGHT_MAX 32

/* So many errors in a row (not of a file that isn't there) are enough. */
#define ERRORS_MAX 3

/* As in linux/err.h. */
#define ERRNO_MAX 4095

enum file_state {
	FILE_WANTED,
	FILE_ASKED,
	FILE_HERE,
	FILE_NOWHERE,
};

struct file {
	char hex[FETCH_HEX_SIZE];
	uint8_t id[BUILD_ID_MAX];
	size_t size;
	enum file_state state;
	int fd;
	UT_hash_handle hh;
};

struct fetcher {
	struct child child;
	bool started;
	bool off; /* nothing is asked any more */
	struct file *files;
	struct file *list[FILES_MAX];
	unsigned count;
	unsigned in_flight;
	unsigned errors; /* in a row */
	unsigned found, missing, failed;
};

struct fetcher *fetcher_new(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	/* Spaces are what stands between servers. */
	if (!urls || !urls[strspn(urls, " ")])
		return NULL;
	return xcalloc(1, sizeof(struct fetcher));
}

/* ---- the child ---- */

static void live(int socket)
{
	if (confine_leave(socket, "calltrap-fetch"))
		fetch_serve(CONFINED_SOCKET);
}

static bool start(struct fetcher *fetcher)
{
	if (fetcher->started)
		return true;
	if (child_start(&fetcher->child, SOCK_SEQPACKET, live))
		return false;
	/* What is half an answer must not be waited for. */
	(void)fcntl(fetcher->child.socket, F_SETFL, O_NONBLOCK);
	fetcher->started = true;
	return true;
}

/* In the middle of a file it has something to tidy up. */
static void stop(struct fetcher *fetcher)
{
	if (!fetcher->started)
		return;
	if (fetcher->in_flight)
		child_leave(&fetcher->child);
	else
		child_end(&fetcher->child);
	fetcher->started = false;
}

static void turn_off(struct fetcher *fetcher, const char *why)
{
	unsigned i;

	diag_debug(DIAG_MODULE, "debuginfod is not asked any more: %s", why);
	fetcher->off = true;
	for (i = 0; i < fetcher->count; i++)
		if (fetcher->list[i]->state < FILE_HERE) {
			fetcher->list[i]->state = FILE_NOWHERE;
			fetcher->failed++;
		}
	stop(fetcher);
}

void fetcher_free(struct fetcher *fetcher)
{
	struct file *file, *next;

	if (!fetcher)
		return;
	if (fetcher->count)
		diag_debug(DIAG_MODULE,
			   "debuginfod: %u files wanted, %u found, %u not "
			   "found, %u failed",
			   fetcher->count, fetcher->found, fetcher->missing,
			   fetcher->failed);
	stop(fetcher);
	HASH_ITER(hh, fetcher->files, file, next) {
		HASH_DEL(fetcher->files, file);
		if (file->state == FILE_HERE)
			close(file->fd);
		free(file);
	}
	free(fetcher);
}

/* ---- questions ---- */

static void ask(struct fetcher *fetcher, struct file *file)
{
	struct wire_head head = { .size = file->size };

	if (fetcher->in_flight >= IN_FLIGHT_MAX)
		return;
	if (!start(fetcher)) {
		turn_off(fetcher, "there can't be a process for it");
		return;
	}
	while (fetcher->list[head.number] != file)
		head.number++;
	if (!wire_send_head(fetcher->child.socket, &head, NULL, 0) ||
	    !wire_send(fetcher->child.socket, file->id, file->size)) {
		turn_off(fetcher, "its process has died");
		return;
	}
	diag_debug(DIAG_MODULE, "debuginfod is asked for %s", file->hex);
	file->state = FILE_ASKED;
	fetcher->in_flight++;
}

/* ---- answers ---- */

static void take_error(struct fetcher *fetcher, struct file *file, int err)
{
	diag_debug(DIAG_MODULE, "debuginfod: %s: %s", file->hex,
		   strerror(-err));
	file->state = FILE_NOWHERE;
	if (err == -ENOENT) {
		fetcher->missing++;
		fetcher->errors = 0;
		return;
	}
	fetcher->failed++;
	if (err == FETCH_NO_LIBRARY)
		turn_off(fetcher, "there is no libdebuginfod.so.1");
	else if (err == FETCH_STALLED)
		turn_off(fetcher, "no server answers");
	else if (++fetcher->errors == ERRORS_MAX)
		turn_off(fetcher, "it always fails");
}

static void take_file(struct fetcher *fetcher, struct file *file, int fd)
{
	diag_debug(DIAG_MODULE, "debuginfod: %s has come", file->hex);
	file->state = FILE_HERE;
	file->fd = fd;
	fetcher->found++;
	fetcher->errors = 0;
}

/* The child has spoken with servers: it may say anything. */
static bool take_answer(struct fetcher *fetcher, const struct wire_head *head,
			int fds[WIRE_FDS])
{
	struct file *file = head->number < fetcher->count ?
				    fetcher->list[head->number] :
				    NULL;

	if (!file || file->state != FILE_ASKED || head->kind > 0 ||
	    head->kind < -ERRNO_MAX || !head->kind != (fds[0] >= 0))
		return false;
	fetcher->in_flight--;
	if (head->kind) {
		take_error(fetcher, file, head->kind);
	} else {
		take_file(fetcher, file, fds[0]);
		fds[0] = -1;
	}
	return true;
}

static void take_one(struct fetcher *fetcher)
{
	struct wire_head head;
	int fds[WIRE_FDS], i;

	if (!wire_receive_head(fetcher->child.socket, &head, fds))
		turn_off(fetcher, "its process has died");
	else if (!take_answer(fetcher, &head, fds))
		turn_off(fetcher, "its process talks nonsense");
	for (i = 0; i < WIRE_FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* True when there is one, or the end. */
static bool has_answer(const struct fetcher *fetcher, uint64_t until)
{
	struct pollfd pollfd = { .fd = fetcher->child.socket,
				 .events = POLLIN };
	uint64_t now = clock_now();
	uint64_t left = until > now ? until - now : 0;

	return poll(&pollfd, 1, (left + 999999) / 1000000) > 0;
}

/* ---- files ---- */

static struct file *new_file(struct fetcher *fetcher, const char *hex,
			     const uint8_t *id, size_t size)
{
	struct file *file;

	if (fetcher->off || fetcher->count == FILES_MAX)
		return NULL;
	file = xcalloc(1, sizeof(*file));
	strcpy(file->hex, hex);
	memcpy(file->id, id, size);
	file->size = size;
	HASH_ADD_STR(fetcher->files, hex, file);
	fetcher->list[fetcher->count++] = file;
	file->fd = fetch_cache_open(hex);
	if (file->fd >= 0)
		take_file(fetcher, file, file->fd);
	return file;
}

static void wait_for(struct fetcher *fetcher, struct file *file, uint64_t until)
{
	do {
		if (file->state == FILE_WANTED)
			ask(fetcher, file);
		if (!fetcher->started || !has_answer(fetcher, until))
			return;
		take_one(fetcher);
	} while (file->state < FILE_HERE);
}

int fetcher_get(struct fetcher *fetcher, const uint8_t *id, size_t size,
		uint64_t until, int *ret)
{
	char hex[FETCH_HEX_SIZE];
	struct file *file;
	int fd;

	if (!size || size > BUILD_ID_MAX)
		return -ENOENT;
	fetch_write_hex(hex, id, size);
	HASH_FIND_STR(fetcher->files, hex, file);
	if (!file)
		file = new_file(fetcher, hex, id, size);
	if (file && file->state < FILE_HERE)
		wait_for(fetcher, file, until);
	if (!file || file->state == FILE_NOWHERE)
		return -ENOENT;
	if (file->state != FILE_HERE)
		return -EAGAIN;
	fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -ENOENT;
	*ret = fd;
	return 0;
}
