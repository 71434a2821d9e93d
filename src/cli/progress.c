/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/progress.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "report/format/names.h"

struct progress {
	const struct stacks *stacks;
	struct namer *namer;
	bool terminal;
	bool shown;
	uint64_t begin, last;
	uint64_t last_calls;
};

/* Over all processes. */
struct sums {
	uint64_t calls, blocks, bytes;
	const struct site *top; /* the one that holds most */
};

struct progress *progress_new(const struct stacks *stacks,
			      struct namer *namer)
{
	struct progress *progress = xcalloc(1, sizeof(*progress));

	progress->stacks = stacks;
	progress->namer = namer;
	progress->terminal = isatty(STDERR_FILENO);
	progress->begin = progress->last = clock_now();
	return progress;
}

void progress_free(struct progress *progress)
{
	if (progress)
		progress_clear(progress);
	free(progress);
}

static void add_process(struct sums *sums, const struct watched *process)
{
	sums->calls += process->calls;
	for (size_t i = 1; i <= heap_site_count(process->heap); i++) {
		const struct site *site = heap_site(process->heap, i);

		if (!site->function->family->has_size)
			continue;
		sums->blocks += site->blocks;
		sums->bytes += site->bytes;
		if (!sums->top || site->bytes > sums->top->bytes)
			sums->top = site;
	}
}

/* The function that the allocator was called by. */
static void add_site(const struct progress *progress, const struct site *site,
		     struct strbuf *line)
{
	const struct frame_name *names;
	struct frame frame;

	if (stacks_frames(progress->stacks, site->stack, &frame, 1) &&
	    namer_names(progress->namer, &frame, &names) &&
	    names[0].function) {
		strbuf_puts(line, ", most by ");
		names_escape(line, names[0].function);
	}
}

/* Ctrl-S: tasks would stand still until Ctrl-Q. */
static bool is_held(void)
{
	struct pollfd pollfd = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&pollfd, 1, 0) <= 0;
}

static unsigned terminal_width(void)
{
	struct winsize size;

	return !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col ?
		       size.ws_col :
		       80;
}

static void print(struct progress *progress, struct strbuf *line)
{
	size_t width = terminal_width() - 1;

	if (line->length > width)
		line->length = width;
	dprintf(STDERR_FILENO, "\r%.*s\033[K", (int)line->length,
		strbuf_text(line));
	progress->shown = true;
}

void progress_show(struct progress *progress, const struct watch *watch,
		   uint64_t now)
{
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };
	const struct watched *process;
	struct sums sums = { 0 };
	uint64_t rate;

	if (!progress->terminal || now <= progress->last || is_held())
		return;
	for (process = watch_next(watch, NULL); process;
	     process = watch_next(watch, process))
		add_process(&sums, process);
	rate = (double)(sums.calls - progress->last_calls) * NS_PER_SECOND /
	       (now - progress->last);
	strbuf_printf(&line,
		      "%" PRIu64 " s, %" PRIu64 " calls/s, %" PRIu64
		      " bytes held in %" PRIu64 " blocks",
		      (uint64_t)((now - progress->begin) / NS_PER_SECOND), rate,
		      sums.bytes,
		      sums.blocks);
	if (sums.top && sums.top->bytes)
		add_site(progress, sums.top, &line);
	progress->last = now;
	progress->last_calls = sums.calls;
	print(progress, &line);
}

void progress_clear(struct progress *progress)
{
	if (progress->shown && !is_held())
		dprintf(STDERR_FILENO, "\r\033[K");
	progress->shown = false;
}
