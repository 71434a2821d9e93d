/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/heap_verb.h"
#include "report/heap/export.h"
#include "report/serve/host.h"
#include "report/serve/http.h"
#include "report/serve/metrics.h"
#include "report/serve/push.h"

/* How long what is asked for may lie there. */
#define TICK  (NS_PER_SECOND / 10)
#define PAUSE (NS_PER_SECOND / 100)

/* However many ask: between two snapshots. */
#define REST NS_PER_SECOND

/* For names; what has none by then, the snapshot reads itself. */
#define PATIENCE (5 * NS_PER_SECOND)

/* A snapshot that takes longer is given up, in seconds. */
#define SNAPSHOT_MAX 120

#define PUSH_EVERY (15 * NS_PER_SECOND)

enum { HTTP, PUSH, FEEDS };

struct outlet {
	struct feed *feed; /* or NULL */
	unsigned long done;
};

struct serve {
	struct heap_verb *verb;
	struct outlet outlets[FEEDS];
	struct push_options push;
	struct heap_prefetch *prefetch; /* of the next snapshot */
	uint64_t patience;
	struct outlet *served; /* by the snapshot that is being made, or NULL */
	unsigned long number;  /* … what has been asked for by then */
	int ended;             /* … reads an end of file when it has ended */
	uint64_t next;         /* snapshot */
};

/* ---- beginning ---- */

static int tell_missing(const char *option, int err, const char *library,
			const char *package)
{
	if (err == -ENOSYS)
		return complain(err, "%s: this calltrap was built without %s",
				option, library);
	if (err == -ELIBACC)
		return complain(err,
				"%s: %s can't be loaded: install %s "
				"(calltrap-static never loads it)",
				option, library, package);
	return err ? complain(err, "%s: %s", option, strerror(-err)) : 0;
}

static int listen_at(const char *text, struct sockaddr_storage *address)
{
	const int on = 1;
	socklen_t size;
	int fd;

	if (!host_parse(text, address, &size))
		return -EINVAL;
	fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) &&
	    !fcntl(fd, F_SETFL, O_NONBLOCK) &&
	    !bind(fd, (struct sockaddr *)address, size) && !listen(fd, 16) &&
	    !getsockname(fd, (struct sockaddr *)address, &size))
		return fd;
	size = errno;
	close(fd);
	return -(int)size;
}

static int start_http(struct serve *serve, const char *text)
{
	const struct feed_life life = { "ctrap-http", http_live, NULL };
	struct sockaddr_storage address;
	char shown[80];
	int fd = listen_at(text, &address), err;

	if (fd < 0)
		return complain(fd, "--http '%s': %s", text, strerror(-fd));
	err = feed_start(&life, fd, &serve->outlets[HTTP].feed);
	close(fd);
	if (err)
		return tell_missing("--http", err, "libmicrohttpd",
				    "libmicrohttpd12");
	host_print(&address, shown, sizeof(shown));
	complain(0,
		 "http://%s/ shows what is held; go tool pprof "
		 "http://%s/debug/pprof/heap",
		 shown, shown);
	return 0;
}

static void told(const char *url UNUSED, const char *what)
{
	complain(0, "--push: a profile was not taken: %s", what);
}

static int start_push(struct serve *serve, const struct options *options)
{
	const struct feed_life life = { "ctrap-push", push_live, &serve->push };

	serve->push = (struct push_options){
		.url = options->push,
		.every = options->push_every ? options->push_every : PUSH_EVERY,
		.told = told,
	};
	return tell_missing("--push",
			    feed_start(&life, -1, &serve->outlets[PUSH].feed),
			    "libcurl", "libcurl4");
}

int serve_check(const struct options *options)
{
	struct sockaddr_storage address;
	socklen_t size;
	int err;

	if (options->push_every && !options->push)
		return complain(-EINVAL, "--push-every: is for --push URL");
	if ((options->http || options->push) &&
	    !heap_report_has_blocks(&options->report))
		return complain(-EINVAL,
				"%s: has nothing of --growth, unless leaks "
				"are watched as well",
				options->http ? "--http" : "--push");
	if (options->http && !host_parse(options->http, &address, &size))
		return complain(-EINVAL,
				"--http '%s': [ADDR:]PORT is expected, with "
				"an address in digits, as 8080, "
				"192.168.1.7:8080 or [::1]:8080",
				options->http);
	err = options->push ? push_check(options->push) : 0;
	if (err == -EINVAL)
		return complain(err,
				"--push '%s': the address of a server is "
				"expected, as http://localhost:4040",
				options->push);
	return tell_missing("--push", err, "libcurl", NULL);
}

int serve_new(struct heap_verb *verb, struct serve **ret)
{
	const struct options *options = verb->session->options;
	struct serve *serve;
	int err;

	*ret = NULL;
	if (!options->http && !options->push)
		return 0;
	serve = xcalloc(1, sizeof(*serve));
	serve->verb = verb;
	serve->ended = -1;
	err = options->http ? start_http(serve, options->http) : 0;
	if (!err && options->push)
		err = start_push(serve, options);
	if (err)
		serve_free(serve);
	else
		*ret = serve;
	return err;
}

void serve_free(struct serve *serve)
{
	if (!serve)
		return;
	for (int i = 0; i < FEEDS; i++)
		feed_free(serve->outlets[i].feed);
	heap_prefetch_free(serve->prefetch);
	if (serve->ended >= 0)
		close(serve->ended);
	free(serve);
}

/* ---- a snapshot: all that follows is another process's ---- */

#define OWN_SOCKET 3
#define OWN_ENDED  4

/*
 * It shares nothing with the process that traces but what it sends to: no
 * memory of a tracee, no reader of debug information, and no work for the end.
 */
static bool stand_apart(const struct serve *serve, int socket, int ended)
{
	static const int crashes[] = { SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
				       SIGABRT, SIGALRM, SIGSYS };
	const struct rlimit none = { 0 };
	int one, other;
	sigset_t empty;

	fatal_set_hook(NULL, NULL);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_IGN);
	for (size_t i = 0; i < ARRAY_SIZE(crashes); i++)
		signal(crashes[i], SIG_DFL);
	/* For the children that read debug information. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&empty);
	sigprocmask(SIG_SETMASK, &empty, NULL);
	prctl(PR_SET_NAME, "ctrap-snapshot");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)setpriority(PRIO_PROCESS, 0, 10);
	alarm(SNAPSHOT_MAX);
	one = fcntl(socket, F_DUPFD, OWN_ENDED + 1);
	other = fcntl(ended, F_DUPFD, OWN_ENDED + 1);
	if (dup2(one, OWN_SOCKET) < 0 || dup2(other, OWN_ENDED) < 0)
		return false;
	closefrom(OWN_ENDED + 1);
	(void)fcntl(OWN_SOCKET, F_SETFD, FD_CLOEXEC);
	(void)fcntl(OWN_ENDED, F_SETFD, FD_CLOEXEC);
	debuginfo_leave_reader(serve->verb->session->debuginfo);
	return true;
}

static void add_command(const struct watched *process, struct strbuf *out)
{
	char *path CLEANUP(xfree_cleanup) =
		xasprintf("/proc/%d/cmdline", (int)process->pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (strbuf_read(out, fd, 1 << 20))
		strbuf_clear(out);
	close(fd);
	/* As net/http/pprof has it: between them. */
	if (out->length && !out->text[out->length - 1])
		out->length--;
}

static void send_one(const struct feed_head *head, enum document document,
		     const struct strbuf *text)
{
	struct feed_head own = *head;

	own.document = document;
	if (!feed_send(OWN_SOCKET, &own, text))
		_exit(EXIT_FAILURE);
}

static void send_file(const struct heap_export *export,
		      const struct feed_head *head, enum document document,
		      enum heap_file file)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	heap_export_make(export, file, &text);
	send_one(head, document, &text);
}

static void send_process(const struct serve *serve,
			 const struct watched *process, unsigned wanted,
			 struct metrics *metrics)
{
	struct heap_verb *verb = serve->verb;
	const uint64_t now = clock_now();
	const struct heap_cost cost = heap_verb_cost(verb, process, now);
	const struct heap_export_options options = { 0 };
	struct heap_export export = {
		.config = &verb->config,
		.options = &options,
		.process = process,
		.cost = &cost,
		.now = heap_time(process->heap, now),
		.served = true,
	};
	struct feed_head head = { .number = serve->number,
				  .pid = process->pid };
	CLEANUP(strbuf_fini) struct strbuf command = { 0 };
	const unsigned named = DOCUMENT_BIT(DOCUMENT_PPROF) |
			       DOCUMENT_BIT(DOCUMENT_PAGE);

	memcpy(head.name, process->name, sizeof(head.name));
	heap_name_threads(process->heap, true);
	heap_export_begin(&export, wanted & named);
	if (wanted & DOCUMENT_BIT(DOCUMENT_PPROF))
		send_file(&export, &head, DOCUMENT_PPROF, HEAP_FILE_PPROF);
	if (wanted & DOCUMENT_BIT(DOCUMENT_PAGE))
		send_file(&export, &head, DOCUMENT_PAGE, HEAP_FILE_HTML);
	if (wanted & DOCUMENT_BIT(DOCUMENT_METRICS))
		metrics_add(metrics, &export);
	heap_export_end(&export);
	add_command(process, &command);
	send_one(&head, DOCUMENT_COMMAND, &command);
}

static void send_all(const struct serve *serve, unsigned wanted)
{
	const struct watch *watch = serve->verb->watch;
	struct metrics *metrics = metrics_new();
	const struct feed_head head = { .number = serve->number,
					.document = DOCUMENTS };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const struct watched *process;

	for (process = watch_next(watch, NULL); process;
	     process = watch_next(watch, process)) {
		if (serve->verb->suppressions)
			suppressions_apply(serve->verb->suppressions,
					   &serve->verb->config, process->heap);
		send_process(serve, process, wanted, metrics);
	}
	metrics_print(metrics, &text);
	if (wanted & DOCUMENT_BIT(DOCUMENT_METRICS))
		send_one(&head, DOCUMENT_METRICS, &text);
	(void)feed_send(OWN_SOCKET, &head, NULL);
	metrics_free(metrics);
}

static NO_RETURN void make(const struct serve *serve, int socket, int ended,
			   unsigned wanted)
{
	if (stand_apart(serve, socket, ended))
		send_all(serve, wanted);
	_exit(EXIT_SUCCESS);
}

/* ---- in the process that traces ---- */

static void begin_snapshot(struct serve *serve, struct outlet *outlet,
			   uint64_t now)
{
	struct feed_board *board = feed_board(outlet->feed);
	unsigned wanted;
	int ends[2];
	pid_t pid;

	serve->number = atomic_load(&board->asked);
	wanted = atomic_exchange(&board->wanted, 0);
	serve->next = now + REST;
	outlet->done = serve->number;
	if (pipe2(ends, O_CLOEXEC)) {
		atomic_store(&board->refused, serve->number);
		return;
	}
	pid = fork();
	if (!pid)
		make(serve, feed_socket(outlet->feed), ends[1], wanted);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		atomic_store(&board->refused, serve->number);
		return;
	}
	serve->served = outlet;
	serve->ended = ends[0];
}

/* If it got so far, the other end knows it already. */
static void end_snapshot(struct serve *serve)
{
	struct pollfd pollfd = { .fd = serve->ended, .events = POLLIN };

	if (!serve->served || poll(&pollfd, 1, 0) <= 0)
		return;
	atomic_store(&feed_board(serve->served->feed)->refused, serve->number);
	close(serve->ended);
	serve->ended = -1;
	serve->served = NULL;
}

static struct outlet *next_outlet(struct serve *serve)
{
	for (int i = 0; i < FEEDS; i++) {
		struct outlet *outlet = &serve->outlets[i];

		if (outlet->feed &&
		    atomic_load(&feed_board(outlet->feed)->asked) !=
			    outlet->done)
			return outlet;
	}
	return NULL;
}

static bool wants_names(const struct outlet *outlet)
{
	return atomic_load(&feed_board(outlet->feed)->wanted) &
	       (DOCUMENT_BIT(DOCUMENT_PPROF) | DOCUMENT_BIT(DOCUMENT_PAGE));
}

/* Debug information is read while tasks run on, as for reports. */
static bool has_names(struct serve *serve, uint64_t now)
{
	const struct heap_verb *verb = serve->verb;
	const struct watched *process;

	if (!serve->prefetch) {
		serve->prefetch = heap_prefetch_new();
		serve->patience = now + PATIENCE;
		for (process = watch_next(verb->watch, NULL); process;
		     process = watch_next(verb->watch, process))
			heap_prefetch_add(serve->prefetch, &verb->config,
					  process,
					  heap_time(process->heap, now), true);
	}
	if (!heap_prefetch_is_done(&verb->config, serve->prefetch) &&
	    now < serve->patience)
		return false;
	heap_prefetch_free(serve->prefetch);
	serve->prefetch = NULL;
	return true;
}

uint64_t serve_look(struct serve *serve, uint64_t now)
{
	struct outlet *outlet;

	end_snapshot(serve);
	outlet = next_outlet(serve);
	if (serve->served || !outlet || now < serve->next)
		return now + TICK;
	if ((serve->prefetch || wants_names(outlet)) && !has_names(serve, now))
		return now + PAUSE;
	begin_snapshot(serve, outlet, now);
	return now + TICK;
}
