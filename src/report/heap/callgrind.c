/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "report/format/frame_text.h"
#include "report/format/names.h"
#include "report/heap/call_graph.h"
#include "report/heap/export.h"

/*
 * The format of callgrind, with the events of valgrind's --xtree-memory=full
 * and three of our own, for callgrind_annotate and kcachegrind. A line's own cost is what it has
 * asked an allocator for.
 */
static const char events[] =
	"events: curB curBk totB totBk totFdB totFdBk peakB peakBk tmpBk\n";

struct callgrind {
	const struct heap_export *export;
	struct call_graph graph;
	struct graph_frame *frames;
	size_t room;
	struct graph_cost total;
	struct strbuf *out;
};

/* ---- gathering ---- */

static struct graph_frame frame_of(struct callgrind *callgrind,
				   const struct frame *frame,
				   const struct frame_name *name)
{
	CLEANUP(strbuf_fini) struct strbuf function = { 0 };
	CLEANUP(strbuf_fini) struct strbuf file = { 0 };
	CLEANUP(strbuf_fini) struct strbuf object = { 0 };
	struct graph_frame result = { .line = name->line };

	frame_text_add(frame, name, &function);
	names_escape(&file, name->file ? name->file : "???");
	names_escape(&object, *name->library ? name->library : "???");
	result.function =
		call_graph_function(&callgrind->graph, strbuf_text(&object),
				    strbuf_text(&file), strbuf_text(&function));
	result.function->start_line = name->start_line;
	return result;
}

static size_t add_frame(struct callgrind *callgrind, const struct frame *frame,
			size_t used)
{
	const struct frame_name *names;
	size_t count =
		namer_names(callgrind->export->config->namer, frame, &names);

	for (size_t i = 0; i < count; i++) {
		callgrind->frames = xgrow(callgrind->frames, used,
					  &callgrind->room,
					  sizeof(*callgrind->frames));
		callgrind->frames[used++] =
			frame_of(callgrind, frame, &names[i]);
	}
	return used;
}

static struct graph_cost cost_of(const struct heap_export *export,
				 const struct site *site)
{
	const struct heap_export_held held = heap_export_held(export, site);
	const struct site_amount at_peak =
		heap_at_peak(export->process->heap, site);

	return (struct graph_cost){
		{ held.bytes, held.blocks, site->alloc_bytes,
		  site->alloc_blocks, site->freed_bytes, site->freed_blocks,
		  at_peak.bytes, at_peak.blocks, site->temporary.blocks }
	};
}

static void add_site(struct callgrind *callgrind, const struct site *site)
{
	const struct stacks *stacks = callgrind->export->config->stacks;
	const struct graph_cost cost = cost_of(callgrind->export, site);
	size_t depth, used = 0;
	struct frame *frames CLEANUP(xfree_cleanup) =
		namer_frames(callgrind->export->config->namer, stacks,
			     site->stack, site->function->name, &depth);

	for (size_t i = 0; i < depth; i++)
		used = add_frame(callgrind, &frames[i], used);
	if (!used) {
		callgrind->frames = xgrow(callgrind->frames, used,
					  &callgrind->room,
					  sizeof(*callgrind->frames));
		callgrind->frames[used++].function =
			call_graph_function(&callgrind->graph, "???", "???",
					    "[...]");
	}
	call_graph_add(&callgrind->graph, callgrind->frames, used,
		       site->alloc_blocks, &cost);
	for (size_t i = 0; i < GRAPH_COSTS; i++)
		callgrind->total.number[i] += cost.number[i];
}

static void add_sites(struct callgrind *callgrind)
{
	const struct heap *heap = callgrind->export->process->heap;

	for (size_t i = 1; i <= heap_site_count(heap); i++) {
		const struct site *site = heap_site(heap, i);

		if (heap_export_is_shown(site))
			add_site(callgrind, site);
	}
}

/* ---- writing ---- */

static void put_cost(struct strbuf *out, const struct graph_cost *cost)
{
	for (size_t i = 0; i < GRAPH_COSTS; i++)
		strbuf_printf(out, " %" PRIu64, cost->number[i]);
	strbuf_putc(out, '\n');
}

/* Function names are long: the first time they come with their number, then
   that stands for them. */
static void put_function(struct strbuf *out, const char *prefix,
			 const struct graph_function *function, bool *written)
{
	strbuf_printf(out, "%sfn=(%u)", prefix, function->number);
	if (!written[function->number])
		strbuf_printf(out, " %s", function->name);
	written[function->number] = true;
	strbuf_putc(out, '\n');
}

static void put_calls(struct strbuf *out, const struct graph_function *caller,
		      bool *written)
{
	const struct graph_call *call, *next;

	HASH_ITER(hh, caller->calls, call, next) {
		const struct graph_function *callee = call->key.callee;

		strbuf_printf(out, "cob=%s\ncfi=%s\n", callee->object,
			      callee->file);
		put_function(out, "c", callee, written);
		strbuf_printf(out, "calls=%" PRIu64 " %u\n", call->count,
			      callee->start_line);
		strbuf_printf(out, "%" PRIu64, call->key.line);
		put_cost(out, &call->cost);
	}
}

static void put_functions(const struct callgrind *callgrind)
{
	const struct graph_function *function, *next;
	bool *written CLEANUP(xfree_cleanup) =
		xcalloc(HASH_COUNT(callgrind->graph.functions) + 1, 1);
	struct strbuf *out = callgrind->out;

	HASH_ITER(hh, callgrind->graph.functions, function, next) {
		const struct graph_line *line, *next_line;

		strbuf_printf(out, "\nob=%s\nfl=%s\n", function->object,
			      function->file);
		put_function(out, "", function, written);
		HASH_ITER(hh, function->lines, line, next_line) {
			strbuf_printf(out, "%u", line->line);
			put_cost(out, &line->cost);
		}
		put_calls(out, function, written);
	}
}

static void put_head(const struct callgrind *callgrind)
{
	const struct watched *process = callgrind->export->process;
	struct strbuf *out = callgrind->out;

	strbuf_printf(out, "# callgrind format\nversion: 1\ncreator: %s\n",
		      PACKAGE_STRING);
	strbuf_printf(out, "pid: %d\ncmd: ", (int)process->pid);
	names_escape(out, process->program ? process->program : "");
	strbuf_puts(out, "\npart: 1\n\n"
			 "event: curB : Current bytes\n"
			 "event: curBk : Current blocks\n"
			 "event: totB : Total bytes\n"
			 "event: totBk : Total blocks\n"
			 "event: totFdB : Total freed bytes\n"
			 "event: totFdBk : Total freed blocks\n"
			 "event: peakB : Bytes at the peak\n"
			 "event: peakBk : Blocks at the peak\n"
			 "event: tmpBk : Temporary blocks\n"
			 "positions: line\n");
	strbuf_puts(out, events);
	strbuf_puts(out, "summary:");
	put_cost(out, &callgrind->total);
}

void heap_callgrind_make(const struct heap_export *export, struct strbuf *out)
{
	struct callgrind callgrind = { .export = export, .out = out };

	add_sites(&callgrind);
	put_head(&callgrind);
	put_functions(&callgrind);
	strbuf_puts(out, "\ntotals:");
	put_cost(out, &callgrind.total);
	call_graph_fini(&callgrind.graph);
	free(callgrind.frames);
}
