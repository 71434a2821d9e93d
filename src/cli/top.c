/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/heap_verb.h"
#include "report/screen/gather.h"
#include "report/screen/screen.h"

/* How long a key waits for what it asks for. */
#define TICK (NS_PER_SECOND / 10)

/* For names, when a file is written. */
#define PATIENCE (15 * NS_PER_SECOND)

struct top {
	struct heap_verb *verb;
	struct screen *screen;
	struct live_shared *shared;
	struct gather *gather;
	struct gather_request shown;       /* by the last picture */
	uint64_t next;                     /* picture */
	unsigned marks, saves[LIVE_FILES]; /* that have been heeded */
	struct heap_prefetch *prefetch;    /* of files that are to be written */
	uint64_t patience;
	bool wanted[LIVE_FILES];
};

int top_new(struct heap_verb *verb, struct top **ret)
{
	const struct options *options = verb->session->options;
	struct top *top = xcalloc(1, sizeof(*top));
	const struct screen_options screen = {
		.rows = options->report.top,
		.every = options->every ? options->every : NS_PER_SECOND,
		.by = options->live_by,
		.order = options->live_order,
	};
	int err = screen_new(&screen, &top->screen);

	if (err) {
		free(top);
		return complain(err, "there is no screen: %s", strerror(-err));
	}
	top->verb = verb;
	top->shared = screen_shared(top->screen);
	top->gather = gather_new(&(struct gather_options){
		.watch = verb->watch,
		.stacks = verb->session->stacks,
		.namer = verb->namer,
	});
	*ret = top;
	return 0;
}

void top_free(struct top *top)
{
	if (!top)
		return;
	screen_free(top->screen);
	gather_free(top->gather);
	heap_prefetch_free(top->prefetch);
	free(top);
}

void top_abandon(struct top *top)
{
	screen_abandon(top->screen);
}

/* ---- files ---- */

static const struct {
	const char *suffix;
	enum heap_file file; /* but for LIVE_TEXT */
} files[] = {
	[LIVE_TEXT] = { "txt", HEAP_FILES },
	[LIVE_JSON] = { "json", HEAP_FILE_JSON },
	[LIVE_PPROF] = { "pb.gz", HEAP_FILE_PPROF },
	[LIVE_HTML] = { "html", HEAP_FILE_HTML },
};

/* "calltrap-4711-20261122-213005.html" */
static char *file_name(const struct watched *process, enum live_file file)
{
	const time_t now = time(NULL);
	struct tm tm = { 0 };
	char text[32];

	localtime_r(&now, &tm);
	strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &tm);
	return xasprintf("calltrap-%d-%s.%s", (int)process->pid, text,
			 files[file].suffix);
}

static int write_text(const struct top *top, const struct watched *process,
		      const struct heap_cost *cost, uint64_t now,
		      const char *path)
{
	struct heap_report_config config = top->verb->config;
	struct heap_report_options options = *config.options;
	struct heap_report *report;
	int err;

	options.path = path;
	config.options = &options;
	err = heap_report_new(&config, &report);
	if (err)
		return err;
	err = heap_report_print(report, process, now, cost);
	heap_report_free(report);
	return err;
}

static void note_error(void *context, const char *path UNUSED, int err)
{
	*(int *)context = err;
}

static int write_other(const struct top *top, const struct watched *process,
		       const struct heap_cost *cost, uint64_t now,
		       enum live_file file, char *path)
{
	struct heap_export_options options = { 0 };
	int err = 0;

	options.files[files[file].file] = path;
	heap_export_write(
		&(const struct heap_export){
			.config = &top->verb->config,
			.options = &options,
			.process = process,
			.cost = cost,
			.now = now,
		},
		&(const struct export_errors){
			.told = note_error,
			.context = &err,
		});
	return err;
}

static void write_file(const struct top *top, const struct watched *process,
		       enum live_file file)
{
	char *path CLEANUP(xfree_cleanup) = file_name(process, file);
	const uint64_t real = clock_now();
	const uint64_t now = heap_time(process->heap, real);
	const struct heap_cost cost = heap_verb_cost(top->verb, process, real);
	int err = file == LIVE_TEXT ?
			  write_text(top, process, &cost, now, path) :
			  write_other(top, process, &cost, now, file, path);

	if (err)
		complain(0, "%s can't be written: %s", path, strerror(-err));
	else
		complain(0, "%s is written", path);
}

static void write_files(struct top *top)
{
	const struct watch *watch = top->verb->watch;
	const struct watched *process;

	for (process = watch_next(watch, NULL); process;
	     process = watch_next(watch, process)) {
		heap_name_threads(process->heap, true);
		for (enum live_file file = 0; file < LIVE_FILES; file++)
			if (top->wanted[file])
				write_file(top, process, file);
	}
	memset(top->wanted, 0, sizeof(top->wanted));
}

/* Tasks would wait while debug information is read for a file. */
static void want_files(struct top *top, uint64_t now)
{
	const struct heap_verb *verb = top->verb;
	const struct watched *process;

	if (top->prefetch)
		return;
	top->prefetch = heap_prefetch_new();
	top->patience = now + PATIENCE;
	for (process = watch_next(verb->watch, NULL); process;
	     process = watch_next(verb->watch, process))
		heap_prefetch_add(top->prefetch, &verb->config, process,
				  heap_time(process->heap, now), true);
}

static void save(struct top *top, uint64_t now)
{
	bool asked = false;

	for (enum live_file file = 0; file < LIVE_FILES; file++) {
		unsigned saves = atomic_load(&top->shared->saves[file]);

		if (saves == top->saves[file])
			continue;
		top->saves[file] = saves;
		top->wanted[file] = asked = true;
	}
	if (asked)
		want_files(top, now);
	if (!top->prefetch ||
	    (!heap_prefetch_is_done(&top->verb->config, top->prefetch) &&
	     now < top->patience))
		return;
	heap_prefetch_free(top->prefetch);
	top->prefetch = NULL;
	write_files(top);
}

/* ---- pictures ---- */

/* What another process says is looked at before it is used. */
static struct gather_request request_of(struct live_shared *shared)
{
	return (struct gather_request){
		.by = atomic_load(&shared->by) % LIVE_BYS,
		.order = atomic_load(&shared->order) % LIVE_ORDERS,
		.open = atomic_load(&shared->open),
	};
}

static bool is_other(const struct gather_request *a,
		     const struct gather_request *b)
{
	return a->by != b->by || a->order != b->order || a->open != b->open;
}

static void show(struct top *top, const struct gather_request *request,
		 uint64_t now)
{
	struct live_picture *picture = live_blank(top->shared);
	struct cost cost;

	cost_find(&top->verb->session->tracer, 0, now, &cost);
	gather_make(top->gather, request, &cost, now, picture);
	live_publish(top->shared, picture);
	top->shown = *request;
	top->next = now + (gather_lacks_names(top->gather) ? 2 * TICK :
							     NS_PER_SECOND);
}

uint64_t top_look(struct top *top, uint64_t now)
{
	struct signal_requests *requests = top->verb->session->requests;
	const struct gather_request request = request_of(top->shared);
	unsigned marks = atomic_load(&top->shared->marks);
	bool marked = marks != top->marks;

	if (screen_has_ended(top->screen)) {
		requests->leave = 1;
		requests->wake = 1;
		return now + TICK;
	}
	if (marked)
		gather_mark(top->gather, now);
	top->marks = marks;
	save(top, now);
	if (now >= gather_next(top->gather) &&
	    (marked || now >= top->next || is_other(&request, &top->shown)))
		show(top, &request, now);
	return now + TICK;
}
