/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/serve/http.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "report/format/xml.h"
#include "report/serve/delta.h"
#include "report/serve/host.h"
#include "report/serve/http_library.h"
#include "report/serve/request.h"
#include "report/serve/shelf.h"

/* Browsers open some at once. Those that wait for a difference are fewer: each
   keeps a profile. */
#define CONNECTIONS_MAX 16
#define DELTAS_MAX      4
#define REQUEST_BYTES   16384
/* A client that neither asks nor reads, in seconds. */
#define IDLE_MAX 20

/* A document of this age is as good as a new one. */
#define FRESH NS_PER_SECOND
/* Names may have to be read from debug information. */
#define PATIENCE (60 * NS_PER_SECOND)

enum state {
	BEGUN,  /* the head has come */
	ASKED,  /* a document is waited for */
	RESTS,  /* … until seconds have gone by */
	FAILED, /* there won't be any */
	READY,  /* the document is there */
};

/* A request and what has become of it. */
struct exchange {
	struct request request;
	struct MHD_Connection *connection;
	enum state state;
	unsigned long number; /* of the snapshot that is waited for */
	uint64_t until;       /* ASKED: given up; RESTS: asked again */
	struct strbuf before; /* seconds=N: the profile at the beginning */
	bool has_before;
	const char *wrong; /* an option, or NULL */
	struct exchange *next;
};

struct http {
	const struct feed_end *end;
	struct http_library library;
	struct MHD_Daemon *daemon;
	struct shelf shelf;
	struct exchange *waiting;
	char machine[256];
};

/* ---- answers ---- */

struct header {
	const char *name, *value;
};

/* Takes the response. */
static enum MHD_Result send_response(struct http *http,
				     struct MHD_Connection *connection,
				     unsigned status,
				     struct MHD_Response *response,
				     const struct header *headers)
{
	const struct http_library *library = &http->library;
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	library->add_response_header(response, "X-Content-Type-Options",
				     "nosniff");
	library->add_response_header(response, "Cache-Control", "no-store");
	for (; headers->name; headers++)
		library->add_response_header(response, headers->name,
					     headers->value);
	result = library->queue_response(connection, status, response);
	library->destroy_response(response);
	return result;
}

static enum MHD_Result send_text(struct http *http,
				 struct MHD_Connection *connection,
				 unsigned status, const struct strbuf *text,
				 const struct header *headers)
{
	return send_response(http, connection, status,
			     http->library.response_from_buffer(
				     text->length, (void *)strbuf_text(text),
				     MHD_RESPMEM_MUST_COPY),
			     headers);
}

static const struct header plain[] = {
	{ "Content-Type", "text/plain; charset=utf-8" },
	{ NULL, NULL },
};

/* X-Go-Pprof: go tool pprof shows the text then. */
static enum MHD_Result send_error(struct http *http,
				  struct MHD_Connection *connection,
				  unsigned status, const char *text)
{
	static const struct header headers[] = {
		{ "Content-Type", "text/plain; charset=utf-8" },
		{ "X-Go-Pprof", "1" },
		{ NULL, NULL },
	};
	static const struct header allowing[] = {
		{ "Content-Type", "text/plain; charset=utf-8" },
		{ "Allow", "GET, HEAD" },
		{ NULL, NULL },
	};
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };

	strbuf_printf(&line, "%s\n", text);
	return send_text(http, connection, status, &line,
			 status == MHD_HTTP_METHOD_NOT_ALLOWED ? allowing :
								 headers);
}

static enum MHD_Result send_file(struct http *http,
				 struct MHD_Connection *connection, int fd,
				 const struct header *headers)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct MHD_Response *response = NULL;
	struct stat status;

	if (own >= 0 && !fstat(own, &status))
		response = http->library.response_from_fd(status.st_size, own);
	if (!response && own >= 0)
		close(own);
	return send_response(http, connection, MHD_HTTP_OK, response, headers);
}

/* ---- what is answered ---- */

static enum document document_of(enum resource resource)
{
	switch (resource) {
	case RESOURCE_PAGE:
		return DOCUMENT_PAGE;
	case RESOURCE_METRICS:
		return DOCUMENT_METRICS;
	case RESOURCE_HEAP:
	case RESOURCE_ALLOCS:
	case RESOURCE_SYMBOL:
		return DOCUMENT_PPROF;
	default:
		return DOCUMENT_COMMAND;
	}
}

static struct shelf_process *process_of(struct http *http,
					const struct request *request)
{
	return request->resource == RESOURCE_METRICS ?
		       shelf_all(&http->shelf) :
		       shelf_find(&http->shelf, request->pid);
}

/* -1: there is none. */
static int file_for(struct http *http, const struct request *request)
{
	const struct shelf_process *process = process_of(http, request);
	const enum document document = document_of(request->resource);

	return process && process->documents[document].since ?
		       process->documents[document].fd :
		       -1;
}

static void add_links(struct strbuf *out, const struct shelf_process *process)
{
	static const char *const names[] = { "heap", "allocs" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *name = names[i];
		int pid = process->pid;

		strbuf_printf(out,
			      "<td><a href=\"%s?pid=%d\">%s</a> (<a "
			      "href=\"%s?pid=%d&amp;debug=1\">text</a>, <a "
			      "href=\"%s?pid=%d&amp;seconds=10\">10 s</a>)"
			      "</td>",
			      name, pid, name, name, pid, name, pid);
	}
}

static enum MHD_Result send_index(struct http *http,
				  struct MHD_Connection *connection)
{
	static const struct header headers[] = {
		{ "Content-Type", "text/html; charset=utf-8" },
		{ "Content-Security-Policy", "default-src 'none'" },
		{ NULL, NULL },
	};
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	strbuf_puts(&out,
		    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
		    "charset=\"utf-8\"><title>/debug/pprof/</title></head>"
		    "<body>\n<h1>/debug/pprof/</h1>\n<p>What is watched by "
		    "calltrap, for go tool pprof and others. <b>heap</b>: "
		    "what is held; <b>allocs</b>: what was acquired; "
		    "?seconds=N: the difference after so long; ?debug=1: as "
		    "text.</p>\n<table>\n<tr><th>process</th><th>what is "
		    "held</th><th>what was acquired</th><th></th></tr>\n");
	for (size_t i = 0; i < http->shelf.count; i++) {
		const struct shelf_process *process = &http->shelf.list[i];

		if (!process->pid)
			continue;
		strbuf_printf(&out, "<tr><td><a href=\"/?pid=%d\">",
			      (int)process->pid);
		xml_add(&out, process->name, SIZE_MAX);
		strbuf_printf(&out, " (%d)</a></td>", (int)process->pid);
		add_links(&out, process);
		strbuf_printf(&out,
			      "<td><a href=\"cmdline?pid=%d\">cmdline</a>"
			      "</td></tr>\n",
			      (int)process->pid);
	}
	strbuf_puts(&out, "</table>\n<p><a href=\"/metrics\">/metrics</a></p>\n"
			  "</body></html>\n");
	return send_text(http, connection, MHD_HTTP_OK, &out, headers);
}

static const char *disposition(const struct request *request)
{
	const bool heap = request->resource == RESOURCE_HEAP;

	if (request->seconds)
		return heap ? "attachment; filename=\"heap-delta\"" :
			      "attachment; filename=\"allocs-delta\"";
	return heap ? "attachment; filename=\"heap\"" :
		      "attachment; filename=\"allocs\"";
}

/* A profile as it was asked for. */
static int make_profile(const struct exchange *exchange,
			const struct strbuf *file, struct strbuf *out)
{
	const struct request *request = &exchange->request;
	const char *type = request->resource == RESOURCE_HEAP ? "inuse_space" :
								"alloc_space";
	CLEANUP(strbuf_fini) struct strbuf profile = { 0 };
	int err =
		exchange->has_before ?
			profile_delta(&exchange->before, file, type, &profile) :
			profile_first_value(file, type, &profile);

	if (!err && request->text)
		err = profile_print(&profile, out);
	else if (!err)
		strbuf_add(out, profile.text, profile.length);
	return err;
}

static enum MHD_Result send_profile(struct http *http,
				    const struct exchange *exchange, int fd)
{
	const struct header headers[] = {
		{ "Content-Type", "application/octet-stream" },
		{ "Content-Disposition", disposition(&exchange->request) },
		{ NULL, NULL },
	};
	CLEANUP(strbuf_fini) struct strbuf file = { 0 };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	int err = shelf_read(fd, &file);

	if (!err)
		err = make_profile(exchange, &file, &out);
	if (err)
		return send_error(http, exchange->connection,
				  MHD_HTTP_INTERNAL_SERVER_ERROR,
				  "the profile can't be made");
	return send_text(http, exchange->connection, MHD_HTTP_OK, &out,
			 exchange->request.text ? plain : headers);
}

/* The addresses are all that follows the question mark. */
static enum MHD_Result add_addresses(void *context,
				     enum MHD_ValueKind kind UNUSED,
				     const char *key, const char *value UNUSED)
{
	if (key[0] == '0')
		strbuf_printf(context, "%s ", key);
	return MHD_YES;
}

static enum MHD_Result send_symbols(struct http *http,
				    const struct exchange *exchange, int fd)
{
	CLEANUP(strbuf_fini) struct strbuf file = { 0 };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	CLEANUP(strbuf_fini) struct strbuf addresses = { 0 };

	http->library.get_connection_values(exchange->connection,
					    MHD_GET_ARGUMENT_KIND,
					    add_addresses, &addresses);
	if (shelf_read(fd, &file) ||
	    profile_symbols(&file, strbuf_text(&addresses), &out))
		return send_error(http, exchange->connection,
				  MHD_HTTP_INTERNAL_SERVER_ERROR,
				  "the symbols can't be read");
	return send_text(http, exchange->connection, MHD_HTTP_OK, &out, plain);
}

static enum MHD_Result send_document(struct http *http,
				     const struct exchange *exchange, int fd)
{
	static const struct header page[] = {
		{ "Content-Type", "text/html; charset=utf-8" },
		{ "Content-Security-Policy", "frame-ancestors 'none'" },
		{ "Referrer-Policy", "no-referrer" },
		{ NULL, NULL },
	};
	static const struct header metrics[] = {
		{ "Content-Type", "application/openmetrics-text; "
				  "version=1.0.0; charset=utf-8" },
		{ NULL, NULL },
	};
	struct MHD_Connection *connection = exchange->connection;

	switch (exchange->request.resource) {
	case RESOURCE_PAGE:
		return send_file(http, connection, fd, page);
	case RESOURCE_METRICS:
		return send_file(http, connection, fd, metrics);
	case RESOURCE_SYMBOL:
		return send_symbols(http, exchange, fd);
	case RESOURCE_COMMAND:
		return send_file(http, connection, fd, plain);
	default:
		return send_profile(http, exchange, fd);
	}
}

static enum MHD_Result send_answer(struct http *http,
				   const struct exchange *exchange)
{
	struct MHD_Connection *connection = exchange->connection;
	int fd;

	if (exchange->state == FAILED)
		return send_error(http, connection,
				  MHD_HTTP_SERVICE_UNAVAILABLE,
				  "calltrap has had no time for an answer, or "
				  "no memory");
	if (exchange->request.resource == RESOURCE_INDEX)
		return send_index(http, connection);
	fd = file_for(http, &exchange->request);
	if (fd < 0)
		return send_error(http, connection, MHD_HTTP_NOT_FOUND,
				  exchange->request.pid ?
					  "no such process is watched" :
					  "no process is watched any more");
	return send_document(http, exchange, fd);
}

/* ---- waiting ---- */

static bool is_delta(const struct request *request)
{
	return request->seconds && (request->resource == RESOURCE_HEAP ||
				    request->resource == RESOURCE_ALLOCS);
}

static bool is_fresh(struct http *http, const struct request *request,
		     uint64_t now)
{
	const struct shelf_process *process = process_of(http, request);
	const enum document document = document_of(request->resource);

	return process && process->documents[document].since &&
	       process->documents[document].since + FRESH > now;
}

static void ask(struct http *http, struct exchange *exchange, uint64_t now)
{
	exchange->number =
		feed_ask(http->end,
			 DOCUMENT_BIT(document_of(exchange->request.resource)));
	exchange->state = ASKED;
	exchange->until = now + PATIENCE;
}

static bool begin_delta(struct http *http, struct exchange *exchange,
			uint64_t now)
{
	int fd = file_for(http, &exchange->request);

	if (fd < 0 || shelf_read(fd, &exchange->before))
		return false;
	exchange->has_before = true;
	exchange->state = RESTS;
	exchange->until = now + exchange->request.seconds * NS_PER_SECOND;
	return true;
}

static void arrived(struct http *http, struct exchange *exchange, uint64_t now)
{
	exchange->state = READY;
	if (is_delta(&exchange->request) && !exchange->has_before)
		(void)begin_delta(http, exchange, now);
}

static void look(struct http *http, struct exchange *exchange, uint64_t now)
{
	const struct feed_board *board = http->end->board;

	if (exchange->state == RESTS && now >= exchange->until)
		ask(http, exchange, now);
	if (exchange->state != ASKED)
		return;
	if (http->shelf.complete >= exchange->number)
		arrived(http, exchange, now);
	else if (now >= exchange->until ||
		 atomic_load(&board->refused) >= exchange->number)
		exchange->state = FAILED;
}

static void look_at_all(struct http *http, uint64_t now)
{
	struct exchange **at = &http->waiting;

	while (*at) {
		struct exchange *exchange = *at;

		look(http, exchange, now);
		if (exchange->state != READY && exchange->state != FAILED) {
			at = &exchange->next;
			continue;
		}
		*at = exchange->next;
		exchange->next = NULL;
		http->library.resume_connection(exchange->connection);
	}
}

static unsigned count_deltas(const struct http *http)
{
	const struct exchange *exchange;
	unsigned count = 0;

	for (exchange = http->waiting; exchange; exchange = exchange->next)
		count += is_delta(&exchange->request);
	return count;
}

static enum MHD_Result begin(struct http *http, struct exchange *exchange)
{
	const struct request *request = &exchange->request;
	const uint64_t now = clock_now();

	if (is_delta(request) && count_deltas(http) >= DELTAS_MAX)
		return send_error(http, exchange->connection,
				  MHD_HTTP_SERVICE_UNAVAILABLE,
				  "others wait for differences already");
	if (!is_delta(request) && is_fresh(http, request, now)) {
		exchange->state = READY;
		return send_answer(http, exchange);
	}
	ask(http, exchange, now);
	exchange->next = http->waiting;
	http->waiting = exchange;
	http->library.suspend_connection(exchange->connection);
	return MHD_YES;
}

/* ---- requests ---- */

static enum MHD_Result take_option(void *context,
				   enum MHD_ValueKind kind UNUSED,
				   const char *key, const char *value)
{
	struct exchange *exchange = context;

	if (!exchange->wrong)
		exchange->wrong =
			request_option(&exchange->request, key, value);
	return MHD_YES;
}

static enum MHD_Result send_moved(struct http *http,
				  struct MHD_Connection *connection)
{
	static const struct header headers[] = {
		{ "Location", "/debug/pprof/" },
		{ NULL, NULL },
	};

	return send_text(http, connection, MHD_HTTP_MOVED_PERMANENTLY,
			 &(struct strbuf){ 0 }, headers);
}

/* HTTP/1.0 knows of no Host; browsers don't speak it. */
static bool is_for_us(const struct http *http,
		      struct MHD_Connection *connection, const char *version)
{
	const char *host =
		http->library.lookup_connection_value(connection,
						      MHD_HEADER_KIND,
						      MHD_HTTP_HEADER_HOST);

	return host ? host_is_us(host, http->machine) :
		      !strcmp(version, "HTTP/1.0");
}

static enum MHD_Result begin_request(struct http *http,
				     struct exchange *exchange,
				     const char *path, const char *method,
				     const char *version)
{
	struct MHD_Connection *connection = exchange->connection;
	struct request *request = &exchange->request;

	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return send_error(http, connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				  "only GET and HEAD are answered");
	if (!is_for_us(http, connection, version))
		return send_error(http, connection, MHD_HTTP_FORBIDDEN,
				  "the request's Host is none of ours: an "
				  "address in digits, localhost, or the name "
				  "of this machine is expected");
	request->resource = request_resource(path);
	http->library.get_connection_values(connection, MHD_GET_ARGUMENT_KIND,
					    take_option, exchange);
	if (exchange->wrong)
		return send_error(http, connection, MHD_HTTP_BAD_REQUEST,
				  exchange->wrong);
	if (request->resource == RESOURCE_NONE)
		return send_error(http, connection, MHD_HTTP_NOT_FOUND,
				  "Unknown profile: /, /metrics and "
				  "/debug/pprof/ are there");
	return request->resource == RESOURCE_MOVED ?
		       send_moved(http, connection) :
		       begin(http, exchange);
}

/* What a client sends besides is read and thrown away. */
static enum MHD_Result on_request(void *context,
				  struct MHD_Connection *connection,
				  const char *path, const char *method,
				  const char *version, const char *data UNUSED,
				  size_t *size, void **own)
{
	struct http *http = context;
	struct exchange *exchange = *own;

	if (!exchange) {
		exchange = xcalloc(1, sizeof(*exchange));
		exchange->connection = connection;
		*own = exchange;
		return MHD_YES;
	}
	if (*size) {
		*size = 0;
		return MHD_YES;
	}
	return exchange->state == BEGUN ?
		       begin_request(http, exchange, path, method, version) :
		       send_answer(http, exchange);
}

static void on_completed(void *context,
			 struct MHD_Connection *connection UNUSED, void **own,
			 enum MHD_RequestTerminationCode code UNUSED)
{
	struct http *http = context;
	struct exchange *exchange = *own, **at = &http->waiting;

	if (!exchange)
		return;
	while (*at && *at != exchange)
		at = &(*at)->next;
	if (*at)
		*at = exchange->next;
	strbuf_fini(&exchange->before);
	free(exchange);
	*own = NULL;
}

/* ---- the process ---- */

static void keep_quiet(void *context UNUSED, const char *format UNUSED,
		       va_list arguments UNUSED)
{
}

static int start(struct http *http, int fd)
{
	if (!http_library_load(&http->library))
		return -ELIBACC;
	if (gethostname(http->machine, sizeof(http->machine) - 1))
		http->machine[0] = '\0';
	http->daemon = http->library.start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
		NULL, NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER,
		keep_quiet, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
		MHD_OPTION_END);
	return http->daemon ? 0 : -EPROTO;
}

/* Milliseconds. What is waited for is looked at now and then. */
#define LOOK_EVERY 100

static int patience(const struct http *http)
{
	MHD_UNSIGNED_LONG_LONG ms;
	const int most = http->waiting ? LOOK_EVERY : 1000;

	return http->library.get_timeout(http->daemon, &ms) == MHD_YES &&
			       ms < (unsigned)most ?
		       (int)ms :
		       most;
}

static void serve(struct http *http)
{
	const union MHD_DaemonInfo *info =
		http->library.get_daemon_info(http->daemon,
					      MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd polled[] = {
		{ .fd = http->end->socket, .events = POLLIN },
		{ .fd = info->epoll_fd, .events = POLLIN },
	};

	do {
		http->library.run(http->daemon);
		(void)poll(polled, ARRAY_SIZE(polled), patience(http));
		if (!shelf_fill(&http->shelf, http->end, clock_now()))
			return;
		look_at_all(http, clock_now());
	} while (true);
}

int http_can(void)
{
	return 0;
}

void http_live(const struct feed_end *end, int fd, void *context UNUSED)
{
	struct http http = { .end = end };
	int err = start(&http, fd);

	feed_ready(end, err);
	if (!err)
		serve(&http);
	/* The process ends, and all that it has with it. */
}
