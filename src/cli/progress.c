/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "cli/terminal_line.h"
#include "report/format/amounts.h"
#include "report/format/names.h"

struct progress {
	struct progress_options options;
	bool terminal;
	bool shown;
	uint64_t begin, last;
	uint64_t last_calls;
};

/* Over all processes. */
struct progress_sums {
	uint64_t calls, blocks, bytes;
	const struct site *top; /* the one that holds most */
	struct vitals first, now;
};

struct progress *progress_new(const struct progress_options *options)
{
	struct progress *progress = xcalloc(1, sizeof(*progress));

	progress->options = *options;
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

static void add_vitals(struct vitals *sum, const struct vitals *vitals)
{
	sum->virtual_bytes += vitals->virtual_bytes;
	sum->resident_bytes += vitals->resident_bytes;
}

static void add_process(struct progress_sums *sums,
			const struct watched *process)
{
	sums->calls += process->calls;
	add_vitals(&sums->first, &process->first_vitals);
	add_vitals(&sums->now, &process->vitals);
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

	if (stacks_frames(progress->options.stacks, site->stack, &frame, 1) &&
	    namer_names(progress->options.namer, &frame, &names) &&
	    names[0].function) {
		strbuf_puts(line, ", most by ");
		names_escape(line, names[0].function);
	}
}

/* "12 s of 60 s" */
static void add_time(const struct progress *progress, uint64_t now,
		     struct strbuf *line)
{
	const struct progress_options *options = &progress->options;

	strbuf_printf(line, "%" PRIu64 " s",
		      (uint64_t)((now - progress->begin) / NS_PER_SECOND));
	if (options->duration)
		strbuf_printf(line, " of %" PRIu64 " s",
			      (uint64_t)((options->duration +
					  NS_PER_SECOND / 2) /
					 NS_PER_SECOND));
	else if (options->interruptible)
		strbuf_puts(line, " (Ctrl-C ends)");
}

static void add_blocks(const struct progress *progress,
		       const struct progress_sums *sums, uint64_t now,
		       struct strbuf *line)
{
	uint64_t rate = (double)(sums->calls - progress->last_calls) *
			NS_PER_SECOND / (now - progress->last);

	strbuf_printf(line,
		      ", %" PRIu64 " calls/s, %" PRIu64
		      " bytes held in %" PRIu64 " blocks",
		      rate, sums->bytes, sums->blocks);
	if (sums->top && sums->top->bytes)
		add_site(progress, sums->top, line);
}

/* ", RSS 61.6 MiB (+2.5 MiB)" */
static void add_size(const char *name, uint64_t first, uint64_t now,
		     struct strbuf *line)
{
	strbuf_printf(line, ", %s ", name);
	amounts_add_size(line, now);
	strbuf_puts(line, now < first ? " (-" : " (+");
	amounts_add_size(line, now < first ? first - now : now - first);
	strbuf_putc(line, ')');
}

static void add_growth(const struct progress_sums *sums, struct strbuf *line)
{
	add_size("VIRT", sums->first.virtual_bytes, sums->now.virtual_bytes,
		 line);
	add_size("RSS", sums->first.resident_bytes, sums->now.resident_bytes,
		 line);
}

void progress_show(struct progress *progress, const struct watch *watch,
		   uint64_t now)
{
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };
	const struct watched *process;
	struct progress_sums sums = { 0 };

	if (!progress->terminal || now <= progress->last ||
	    terminal_line_is_held())
		return;
	for (process = watch_next(watch, NULL); process;
	     process = watch_next(watch, process))
		add_process(&sums, process);
	add_time(progress, now, &line);
	if (progress->options.growth)
		add_growth(&sums, &line);
	if (progress->options.blocks)
		add_blocks(progress, &sums, now, &line);
	progress->last = now;
	progress->last_calls = sums.calls;
	terminal_line_show(&line);
	progress->shown = true;
}

void progress_clear(struct progress *progress)
{
	if (progress->shown)
		terminal_line_clear();
	progress->shown = false;
}
