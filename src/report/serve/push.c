/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/serve/push.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "report/serve/delta.h"
#include "report/serve/library.h"
#include "report/serve/shelf.h"

/* Seconds. A server that takes longer misses profiles. */
#define CONNECT_MAX 5L
#define POST_MAX    20L

/* What is used of libcurl, which is loaded when it is wanted. */
struct curl_library {
	__typeof__(&curl_global_init) global_init;
	__typeof__(&curl_easy_init) init;
	__typeof__(&curl_easy_cleanup) cleanup;
	CURLcode (*setopt)(CURL *curl, CURLoption option, ...);
	CURLcode (*getinfo)(CURL *curl, CURLINFO info, ...);
	__typeof__(&curl_easy_perform) perform;
	__typeof__(&curl_easy_strerror) strerror;
	__typeof__(&curl_easy_escape) escape;
	__typeof__(&curl_free) free;
	__typeof__(&curl_mime_init) mime_init;
	__typeof__(&curl_mime_free) mime_free;
	__typeof__(&curl_mime_addpart) mime_addpart;
	__typeof__(&curl_mime_name) mime_name;
	__typeof__(&curl_mime_data) mime_data;
	__typeof__(&curl_mime_filename) mime_filename;
};

/* The profile that was posted last of a process. */
struct posted {
	pid_t pid;
	uint64_t wall;
	struct strbuf profile;
};

struct push {
	const struct feed_end *end;
	const struct push_options *options;
	struct curl_library library;
	struct shelf shelf;
	struct posted *posted;
	size_t count, room;
	bool failed; /* and that was told */
};

static bool load(struct curl_library *ret)
{
	void *library = library_load("libcurl.so.4");

	if (!library)
		library = library_load("libcurl-gnutls.so.4");
	if (!library)
		return false;
#define LOAD(field, name)                                              \
	((ret->field = (__typeof__(ret->field))library_symbol(library, \
							      #name)) != NULL)
	return LOAD(global_init, curl_global_init) &&
	       LOAD(init, curl_easy_init) && LOAD(cleanup, curl_easy_cleanup) &&
	       LOAD(setopt, curl_easy_setopt) &&
	       LOAD(getinfo, curl_easy_getinfo) &&
	       LOAD(perform, curl_easy_perform) &&
	       LOAD(strerror, curl_easy_strerror) &&
	       LOAD(escape, curl_easy_escape) && LOAD(free, curl_free) &&
	       LOAD(mime_init, curl_mime_init) &&
	       LOAD(mime_free, curl_mime_free) &&
	       LOAD(mime_addpart, curl_mime_addpart) &&
	       LOAD(mime_name, curl_mime_name) &&
	       LOAD(mime_data, curl_mime_data) &&
	       LOAD(mime_filename, curl_mime_filename) &&
	       !ret->global_init(CURL_GLOBAL_DEFAULT);
#undef LOAD
}

int push_check(const char *url)
{
	const char *host = !strncasecmp(url, "http://", 7)  ? url + 7 :
			   !strncasecmp(url, "https://", 8) ? url + 8 :
							      "";

	return *host && *host != '/' && !strpbrk(url, "?# \t\r\n") ? 0 :
								     -EINVAL;
}

/* ---- one profile ---- */

/* How Pyroscope is to read our values: what was acquired since the last time is
   added up, what is held is not. */
static const char types[] =
	"{\"alloc_objects\":{\"units\":\"objects\",\"display-name\":"
	"\"alloc_objects\",\"aggregation\":\"sum\",\"sampled\":false},"
	"\"alloc_space\":{\"units\":\"bytes\",\"display-name\":"
	"\"alloc_space\",\"aggregation\":\"sum\",\"sampled\":false},"
	"\"inuse_objects\":{\"units\":\"objects\",\"display-name\":"
	"\"inuse_objects\",\"aggregation\":\"average\",\"sampled\":false},"
	"\"inuse_space\":{\"units\":\"bytes\",\"display-name\":"
	"\"inuse_space\",\"aggregation\":\"average\",\"sampled\":false}}";

/* ".../ingest?name=redis-server{pid=4711}&from=..&until=..&format=pprof" */
static void add_address(const struct push *push, CURL *curl,
			const struct shelf_process *process, uint64_t from,
			uint64_t until, struct strbuf *out)
{
	char *raw CLEANUP(xfree_cleanup) =
		xasprintf("%s{pid=%d}", process->name, (int)process->pid);
	char *name = push->library.escape(curl, raw, 0);
	const char *url = push->options->url;
	size_t length = strlen(url);

	while (length && url[length - 1] == '/')
		length--;
	strbuf_add(out, url, length);
	if (length < 7 || strncmp(url + length - 7, "/ingest", 7) != 0)
		strbuf_puts(out, "/ingest");
	strbuf_printf(out,
		      "?name=%s&from=%" PRIu64 "&until=%" PRIu64
		      "&format=pprof&spyName=calltrap",
		      name ? name : "calltrap",
		      (uint64_t)(from / NS_PER_SECOND),
		      (uint64_t)(until / NS_PER_SECOND));
	push->library.free(name);
}

static void add_part(const struct push *push, curl_mime *form, const char *name,
		     const char *bytes, size_t size)
{
	curl_mimepart *part = push->library.mime_addpart(form);

	push->library.mime_name(part, name);
	push->library.mime_data(part, bytes, size);
	push->library.mime_filename(part, name);
}

static size_t ignore(char *bytes UNUSED, size_t size, size_t count,
		     void *context UNUSED)
{
	return size * count;
}

static void tell(struct push *push, const char *what)
{
	if (!push->failed)
		push->options->told(push->options->url, what);
	push->failed = true;
}

static void judge(struct push *push, CURL *curl, CURLcode code)
{
	char *text CLEANUP(xfree_cleanup) = NULL;
	long status = 0;

	if (code != CURLE_OK) {
		tell(push, push->library.strerror(code));
		return;
	}
	push->library.getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 200 && status < 300) {
		push->failed = false;
		return;
	}
	text = xasprintf("the server's answer is %ld", status);
	tell(push, text);
}

/* No redirections: they might lead elsewhere, with what is confidential. */
static void set_options(const struct push *push, CURL *curl,
			const struct strbuf *url, curl_mime *form)
{
	const struct curl_library *library = &push->library;

	library->setopt(curl, CURLOPT_URL, strbuf_text(url));
	library->setopt(curl, CURLOPT_MIMEPOST, form);
	library->setopt(curl, CURLOPT_NOSIGNAL, 1L);
	library->setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_MAX);
	library->setopt(curl, CURLOPT_TIMEOUT, POST_MAX);
	library->setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
	library->setopt(curl, CURLOPT_USERAGENT, PACKAGE_NAME);
	library->setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
}

static void post(struct push *push, const struct shelf_process *process,
		 const struct strbuf *profile, uint64_t from, uint64_t until)
{
	const struct curl_library *library = &push->library;
	CLEANUP(strbuf_fini) struct strbuf url = { 0 };
	CURL *curl = library->init();
	curl_mime *form = curl ? library->mime_init(curl) : NULL;

	if (!form) {
		tell(push, "libcurl has no memory");
		return;
	}
	add_address(push, curl, process, from, until, &url);
	add_part(push, form, "profile", profile->text, profile->length);
	add_part(push, form, "sample_type_config", types, sizeof(types) - 1);
	set_options(push, curl, &url, form);
	judge(push, curl, library->perform(curl));
	library->mime_free(form);
	library->cleanup(curl);
}

/* ---- all of them ---- */

static struct posted *posted_of(struct push *push, pid_t pid)
{
	struct posted *posted;

	for (size_t i = 0; i < push->count; i++)
		if (push->posted[i].pid == pid)
			return &push->posted[i];
	push->posted = xgrow(push->posted, push->count, &push->room,
			     sizeof(*push->posted));
	posted = &push->posted[push->count++];
	*posted = (struct posted){
		.pid = pid,
		.wall = clock_wall(clock_now()) - push->options->every,
	};
	return posted;
}

static void push_one(struct push *push, const struct shelf_process *process)
{
	const uint64_t wall =
		clock_wall(process->documents[DOCUMENT_PPROF].since);
	struct posted *posted = posted_of(push, process->pid);
	CLEANUP(strbuf_fini) struct strbuf now = { 0 };
	CLEANUP(strbuf_fini) struct strbuf since = { 0 };

	if (shelf_read(process->documents[DOCUMENT_PPROF].fd, &now))
		return;
	if (!posted->profile.length)
		strbuf_add(&since, now.text, now.length);
	else if (profile_since(&posted->profile, &now, &since))
		return;
	post(push, process, &since, posted->wall, wall);
	strbuf_clear(&posted->profile);
	strbuf_add(&posted->profile, now.text, now.length);
	posted->wall = wall;
}

static void push_all(struct push *push)
{
	for (size_t i = 0; i < push->shelf.count; i++)
		if (push->shelf.list[i].pid &&
		    push->shelf.list[i].documents[DOCUMENT_PPROF].since)
			push_one(push, &push->shelf.list[i]);
}

/* What is not there by the next time won't be asked for twice. */
static void serve(struct push *push)
{
	struct pollfd polled = { .fd = push->end->socket, .events = POLLIN };
	uint64_t next = clock_now() + push->options->every;
	unsigned long awaited = 0;

	while (shelf_fill(&push->shelf, push->end, clock_now())) {
		const uint64_t now = clock_now();

		if (awaited && push->shelf.complete >= awaited) {
			awaited = 0;
			push_all(push);
		} else if (now >= next) {
			awaited = feed_ask(push->end,
					   DOCUMENT_BIT(DOCUMENT_PPROF));
			next = now + push->options->every;
		}
		(void)poll(&polled, 1,
			   awaited || next < now ?
				   100 :
				   (int)((next - now) / 1000000 + 1));
	}
}

void push_live(const struct feed_end *end, int fd UNUSED, void *context)
{
	struct push push = { .end = end, .options = context };
	int err = load(&push.library) ? 0 : -ELIBACC;

	feed_ready(end, err);
	if (!err)
		serve(&push);
	/* The process ends, and all that it has with it. */
}
