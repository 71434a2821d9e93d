/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "debuginfo/fetch_child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "debuginfo/fetch_cache.h"
#include "debuginfo/fetch_library.h"
#include "dwarf/wire.h"

/*
 * How long servers may be silent, and may take for one file. libdebuginfod has
 * limits of its own, but no short ones for a server that can't be reached.
 */
#define SILENCE_MAX (10 * NS_PER_SECOND)
#define FETCH_MAX   (600 * NS_PER_SECOND)

/* libdebuginfod 0.192 tells of no progress before the first byte has come: what
   it doesn't look at itself by then, a timer does. */
#define LATE (3 * NS_PER_SECOND)

/* As in elfutils/debuginfod.h, which needn't be there. */
struct debuginfod_client;
typedef struct debuginfod_client *begin_function(void);
typedef int find_function(struct debuginfod_client *client,
			  const unsigned char *id, int size, char **path_ret);
typedef int progress_function(struct debuginfod_client *client, long a, long b);
typedef void set_progress_function(struct debuginfod_client *client,
				   progress_function *function);
typedef void set_data_function(struct debuginfod_client *client, void *data);
typedef void *get_data_function(struct debuginfod_client *client);

struct fetching {
	struct debuginfod_client *client;
	find_function *find;
	int socket;
	long last;             /* bytes that had come */
	uint64_t silent_until; /* when it is given up */
	uint64_t until;
	uint64_t looked;            /* when progress was last told of */
	struct wire_head asked;     /* what is being fetched … */
	volatile sig_atomic_t busy; /* … if anything is */
	bool stopped;
};

/* Of this process; a signal's handler has no other way to it. */
static struct fetching *the_fetching;

/* Nobody is left who wants the file. */
static bool is_alone(int socket)
{
	struct pollfd pollfd = { .fd = socket };

	return poll(&pollfd, 1, 0) > 0;
}

/*
 * Called about once a second. b is the size of the file, of which a bytes have
 * come, or 0 when that isn't known; then a is just a count.
 */
static int on_progress(struct debuginfod_client *client, long a, long b)
{
	get_data_function *get_data =
		fetch_library_symbol("debuginfod_get_user_data");
	struct fetching *fetching = get_data(client);
	uint64_t now = clock_now();

	fetching->looked = now;
	if (b > 0 && a != fetching->last) {
		fetching->last = a;
		fetching->silent_until = now + SILENCE_MAX;
	}
	if (now >= fetching->silent_until || now >= fetching->until)
		fetching->stopped = true;
	return fetching->stopped || is_alone(fetching->socket);
}

/* By a timer. Nothing ends the library's call, so the process ends. */
static void on_alarm(int number UNUSED)
{
	struct fetching *fetching = the_fetching;
	uint64_t now = clock_now();
	struct wire_head answer = fetching->asked;

	if (!fetching->busy || now < fetching->looked + LATE)
		return;
	if (!is_alone(fetching->socket)) {
		if (now < fetching->silent_until + LATE)
			return;
		answer.kind = FETCH_STALLED;
		answer.size = 0;
		(void)wire_send_head(fetching->socket, &answer, NULL, 0);
	}
	fetch_cache_drop_unfinished();
	_exit(0);
}

static void set_alarm(void)
{
	const struct sigaction action = { .sa_handler = on_alarm,
					  .sa_flags = SA_RESTART };
	const struct itimerval each = { { 1, 0 }, { 1, 0 } };
	sigset_t set;

	(void)sigaction(SIGALRM, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)setitimer(ITIMER_REAL, &each, NULL);
}

static bool load(struct fetching *fetching)
{
	begin_function *begin;
	set_progress_function *set_progress;
	set_data_function *set_data;

	if (!fetch_library_load())
		return false;
	begin = fetch_library_symbol("debuginfod_begin");
	set_progress = fetch_library_symbol("debuginfod_set_progressfn");
	set_data = fetch_library_symbol("debuginfod_set_user_data");
	fetching->find = fetch_library_symbol("debuginfod_find_debuginfo");
	if (!begin || !set_progress || !set_data || !fetching->find ||
	    !fetch_library_symbol("debuginfod_get_user_data"))
		return false;
	fetching->client = begin();
	if (!fetching->client)
		return false;
	set_data(fetching->client, fetching);
	set_progress(fetching->client, on_progress);
	return true;
}

static int fetch(struct fetching *fetching, const uint8_t *id, size_t size)
{
	uint64_t now = clock_now();
	char hex[FETCH_HEX_SIZE];
	int fd;

	if (!fetching->client && !load(fetching))
		return FETCH_NO_LIBRARY;
	fetching->last = 0;
	fetching->silent_until = now + SILENCE_MAX;
	fetching->until = now + FETCH_MAX;
	fetching->looked = now;
	fetching->stopped = false;
	fetching->busy = 1;
	fd = fetching->find(fetching->client, id, size, NULL);
	fetching->busy = 0;
	if (fd < 0 && is_alone(fetching->socket)) {
		fetch_write_hex(hex, id, size);
		fetch_cache_forget(hex);
	}
	return fd < 0 && fetching->stopped ? FETCH_STALLED : fd;
}

static bool answer(struct fetching *fetching, struct wire_head *head,
		   const uint8_t *id)
{
	bool sent;
	int fd;

	fetching->asked = *head;
	fd = fetch(fetching, id, head->size);
	head->kind = fd < 0 ? fd : 0;
	head->size = 0;
	sent = wire_send_head(fetching->socket, head, &fd, fd >= 0);
	if (fd >= 0)
		close(fd);
	return sent;
}

void fetch_serve(int socket)
{
	struct fetching fetching = { .socket = socket };
	struct wire_head head;
	uint8_t id[BUILD_ID_MAX];
	int fds[WIRE_FDS];

	the_fetching = &fetching;
	set_alarm();
	while (wire_receive_head(socket, &head, fds) &&
	       head.size <= sizeof(id) && wire_receive(socket, id, head.size) &&
	       answer(&fetching, &head, id))
		;
}
