/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "report/names.h"
#include "report/output.h"

struct heap_report {
	struct heap_report_config config;
	struct output output;
};

int heap_report_new(const struct heap_report_config *config,
		    struct heap_report **ret)
{
	struct heap_report *report = xcalloc(1, sizeof(*report));
	int err = output_open(&report->output, config->options->path, false);

	if (err) {
		free(report);
		return err;
	}
	report->config = *config;
	*ret = report;
	return 0;
}

void heap_report_free(struct heap_report *report)
{
	if (!report)
		return;
	output_close(&report->output);
	output_fini(&report->output);
	free(report);
}

static int by_bytes(const void *a, const void *b)
{
	const struct site *x = *(const struct site *const *)a;
	const struct site *y = *(const struct site *const *)b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static int print_frame(struct heap_report *report, const struct frame *frame,
		       bool innermost)
{
	struct strbuf *out = &report->output.text;
	const struct frame_name *names;
	size_t count = namer_names(report->config.namer, frame, &names);
	int err = 0;

	(void)innermost;
	for (size_t i = 0; !err && i < count; i++) {
		strbuf_puts(out, "    ");
		names_escape(out, names[i].function ? names[i].function : "?");
		if (names[i].file) {
			strbuf_puts(out, " at ");
			names_escape(out, names[i].file);
			strbuf_printf(out, ":%u", names[i].line);
		}
		strbuf_puts(out, " [");
		names_escape(out, names[i].library);
		strbuf_puts(out, "]");
		err = output_end_line(&report->output);
	}
	return err;
}

static int print_site(struct heap_report *report, const struct site *site)
{
	struct frame frames[64];
	size_t count = stacks_frames(report->config.stacks, site->stack,
				     frames, ARRAY_SIZE(frames));
	int err;

	strbuf_printf(&report->output.text,
		      "%" PRIu64 " bytes in %" PRIu64 " blocks, of %" PRIu64
		      " allocated: %s",
		      site->bytes, site->blocks, site->alloc_blocks,
		      site->function->name);
	err = output_end_line(&report->output);
	for (size_t i = 0; !err && i < count; i++)
		err = print_frame(report, &frames[i], false);
	return err;
}

static int print_sites(struct heap_report *report, const struct heap *heap)
{
	size_t count = heap_site_count(heap);
	unsigned top = report->config.options->top;
	const struct site **sites CLEANUP(xfree_cleanup) =
		xcalloc(count + 1, sizeof(*sites));
	int err = 0;

	for (size_t i = 0; i < count; i++)
		sites[i] = heap_site(heap, i + 1);
	qsort(sites, count, sizeof(*sites), by_bytes);
	for (size_t i = 0; !err && i < count && (!top || i < top); i++)
		err = print_site(report, sites[i]);
	return err;
}

int heap_report_print(struct heap_report *report,
		      const struct watched *process, uint64_t now,
		      const struct heap_cost *cost)
{
	struct strbuf *out = &report->output.text;
	double seconds = (double)(now - process->start) / NS_PER_SECOND;
	int err;

	strbuf_printf(out, "process %d, %.1f s, %" PRIu64 " calls", process->pid,
		      seconds, process->calls);
	err = output_end_line(&report->output);
	for (size_t i = 0; !err && i < families_count(report->config.families);
	     i++) {
		const struct family *family =
			families_at(report->config.families, i);
		const struct heap_total *total =
			heap_total(process->heap, family);

		strbuf_printf(out,
			      "%s: %" PRIu64 " bytes in %" PRIu64
			      " blocks held, %" PRIu64 " allocated, %" PRIu64
			      " freed, %" PRIu64 " unknown",
			      family->name, total->bytes, total->blocks,
			      total->alloc_blocks, total->freed_blocks,
			      total->unknown_frees);
		err = output_end_line(&report->output);
	}
	if (!err)
		err = print_sites(report, process->heap);
	strbuf_printf(out, "%" PRIu64 " stops, %.3f s stopped", cost->stops,
		      (double)cost->stopped_ns / NS_PER_SECOND);
	if (!err)
		err = output_end_line(&report->output);
	return err ? err : output_write(&report->output);
}
