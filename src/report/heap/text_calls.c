/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/xalloc.h"
#include "report/format/amounts.h"
#include "report/format/cost_text.h"
#include "report/format/names.h"
#include "report/heap/text.h"

/* Calls, holders, pairs of stacks, and what was lost. */

static int add_title(const struct heap_text *text, const char *title)
{
	strbuf_puts(heap_text_out(text), title);
	return heap_text_end_line(text);
}

static void add_library(const struct heap_text *text, const char *library)
{
	bool known = library && *library;

	names_escape(heap_text_out(text),
		     known ? file_base_name(library) : "(not known)");
}

static void add_component(const struct heap_text *text, unsigned number)
{
	const char *name = heap_report_component(text->config, number);

	if (!name)
		return;
	strbuf_puts(heap_text_out(text), " (");
	names_escape(heap_text_out(text), name);
	strbuf_putc(heap_text_out(text), ')');
}

/* ---- calls ---- */

static int by_calls(const void *a, const void *b)
{
	const struct heap_use *x = *(const struct heap_use *const *)a;
	const struct heap_use *y = *(const struct heap_use *const *)b;
	int result = (x->calls < y->calls) - (x->calls > y->calls);

	return result ? result : strcmp(x->function->name, y->function->name);
}

static int add_use(const struct heap_text *text, const struct heap_use *use)
{
	struct strbuf *out = heap_text_out(text);

	amounts_add_column(out, use->calls, 13);
	amounts_add_column(out, use->failed, 9);
	amounts_add_column(out, use->bytes, 16);
	if (use->timed)
		amounts_add_time_column(out,
					heap_mean_time(use->total_ns,
						       use->timed),
					text->cost->cost.price.resolution, 11);
	else
		amounts_add_duration_column(out, 0, 11);
	strbuf_puts(out, "  ");
	heap_text_function(text, use->function);
	strbuf_puts(out, " by ");
	add_library(text, use->library);
	add_component(text, use->component);
	return heap_text_end_line(text);
}

/* Of samples, nothing may have been kept of what has called. */
static size_t find_uses(const struct heap *heap, const struct heap_use **ret)
{
	size_t count = 0;

	for (size_t i = 0; i < heap_use_count(heap); i++) {
		const struct heap_use *use = heap_use_at(heap, i);

		if (use->calls || use->failed)
			ret[count++] = use;
	}
	return count;
}

int heap_text_calls(const struct heap_text *text)
{
	const struct heap *heap = text->process->heap;
	const struct heap_use **uses CLEANUP(xfree_cleanup) =
		xcalloc(heap_use_count(heap) + 1, sizeof(*uses));
	size_t count = find_uses(heap, uses), i;
	unsigned top = text->config->options->top;
	int err = 0;

	if (!count)
		return 0;
	qsort(uses, count, sizeof(*uses), by_calls);
	err = add_title(text, "---- CALLS");
	if (!err)
		err = add_title(text,
				"        calls   failed           bytes  mean "
				"time  function");
	for (i = 0; !err && i < count && (!top || i < top); i++)
		err = add_use(text, uses[i]);
	if (err || i == count)
		return err;
	amounts_add_count(heap_text_out(text), count - i, "more row");
	strbuf_puts(heap_text_out(text), " (--top)");
	return heap_text_end_line(text);
}

/* ---- holders ---- */

static int add_holder(const struct heap_text *text,
		      const struct heap_holder *holder)
{
	const char *component =
		heap_report_component(text->config, holder->component);
	struct strbuf *out = heap_text_out(text);

	amounts_add_column(out, holder->bytes, 13);
	amounts_add_column(out, holder->blocks, 9);
	amounts_add_column(out, holder->alloc_blocks, 12);
	amounts_add_column(out, holder->peak_bytes, 14);
	strbuf_puts(out, "  ");
	if (component)
		names_escape(out, component);
	else
		add_library(text, holder->library);
	if (!holder->family->has_size)
		strbuf_printf(out, " (%s)", holder->family->name);
	return heap_text_end_line(text);
}

static int add_holders_head(const struct heap_text *text)
{
	int err = add_title(text, "---- PEAKS");

	return err ? err :
		     add_title(text, "   bytes held   blocks    acquired"
				     "    peak bytes  who");
}

int heap_text_holders(const struct heap_text *text)
{
	const struct heap *heap = text->process->heap;
	bool components = text->config->options->by == HEAP_BY_COMPONENT;
	size_t count = heap_holder_count(heap);
	bool begun = false;
	int err = 0;

	if (text->config->options->by != HEAP_BY_LIBRARY && !components)
		return 0;
	for (size_t i = 0; !err && i < count; i++) {
		const struct heap_holder *holder = heap_holder_at(heap, i);

		if (!!holder->component != components)
			continue;
		if (!begun)
			err = add_holders_head(text);
		begun = true;
		if (!err)
			err = add_holder(text, holder);
	}
	return err;
}

/* ---- pairs of stacks ---- */

static int add_half(const struct heap_text *text, const char *what,
		    const struct family_function *function, const char *library,
		    unsigned component, stack_id stack)
{
	int err;

	strbuf_printf(heap_text_out(text), "    %s", what);
	if (function) {
		strbuf_puts(heap_text_out(text), " by ");
		heap_text_function(text, function);
	}
	if (library) {
		strbuf_puts(heap_text_out(text), " in ");
		add_library(text, library);
		add_component(text, component);
	}
	err = heap_text_end_line(text);
	return err ? err :
		     heap_text_stack(text, stack,
				     function ? function->name : NULL,
				     "        ");
}

static int add_incident(const struct heap_text *text,
			const struct incident *incident)
{
	bool has_first = incident->kind != INCIDENT_INVALID_FREE;
	int err;

	amounts_add_count(heap_text_out(text), incident->count, "time");
	if (incident->bytes) {
		strbuf_puts(heap_text_out(text), ", ");
		amounts_add_count(heap_text_out(text), incident->bytes, "byte");
	}
	err = heap_text_end_line(text);
	if (!err && has_first)
		err = add_half(text,
			       incident->kind == INCIDENT_DOUBLE_FREE ?
				       "first given back" :
				       "acquired",
			       incident->first_function,
			       incident->first_library,
			       incident->first_component, incident->first);
	if (!err)
		err = add_half(text, "given back", incident->second_function,
			       incident->second_library,
			       incident->second_component, incident->second);
	return err;
}

static int add_incidents(const struct heap_text *text, enum incident_kind kind,
			 const char *title)
{
	const struct heap *heap = text->process->heap;
	size_t count = heap_incident_count(heap, kind);
	unsigned top = text->config->options->top;
	uint64_t dropped = heap_incidents_dropped(heap, kind);
	size_t i;
	int err;

	if (!count)
		return 0;
	/* With components, some of these are within a library. */
	if (kind == INCIDENT_CROSS && text->config->components)
		title = "---- ACQUIRED BY ONE COMPONENT, GIVEN BACK BY ANOTHER";
	err = add_title(text, title);
	for (i = 0; !err && i < count && (!top || i < top); i++)
		err = add_incident(text, heap_incident_at(heap, kind, i));
	if (err || (i == count && !dropped))
		return err;
	amounts_add_count(heap_text_out(text), count - i + dropped,
			  "more pair");
	strbuf_puts(heap_text_out(text), " of stacks");
	return heap_text_end_line(text);
}

int heap_text_incidents(const struct heap_text *text)
{
	static const struct {
		enum incident_kind kind;
		const char *title;
	} kinds[] = {
		{ INCIDENT_DOUBLE_FREE, "---- GIVEN BACK TWICE" },
		{ INCIDENT_INVALID_FREE, "---- GIVEN BACK, NEVER ACQUIRED" },
		{ INCIDENT_MISMATCH, "---- GIVEN BACK BY A FUNCTION OF "
				     "ANOTHER KIND" },
		{ INCIDENT_SIZE_MISMATCH, "---- GIVEN BACK WITH ANOTHER "
					  "SIZE" },
		{ INCIDENT_CROSS, "---- ACQUIRED BY ONE LIBRARY, GIVEN BACK "
				  "BY ANOTHER" },
	};
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(kinds); i++)
		/* That is common, and no fault by itself. */
		if (kinds[i].kind != INCIDENT_CROSS ||
		    text->config->options->by == HEAP_BY_LIBRARY ||
		    text->config->options->by == HEAP_BY_COMPONENT)
			err = add_incidents(text, kinds[i].kind,
					    kinds[i].title);
	return err;
}

/* ---- the foot ---- */

static int add_loss(const struct heap_text *text, uint64_t number,
		    const char *one, const char *many)
{
	if (!number)
		return 0;
	amounts_add_number(heap_text_out(text), number);
	strbuf_printf(heap_text_out(text), " %s", number == 1 ? one : many);
	return heap_text_end_line(text);
}

static uint64_t forgotten_blocks(const struct heap *heap)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < heap_family_count(heap); i++)
		ret += heap_total(heap, heap_family(heap, i))->forgotten;
	return ret;
}

/* What went by unseen, as another tool's uprobes were in our traps' place, or
   the agent had no room. */
static int add_blind_time(const struct heap_text *text)
{
	const struct watched *process = text->process;
	struct strbuf *out = heap_text_out(text);
	int err = 0;

	if (process->lost_traps) {
		amounts_add_count(out, process->lost_traps, "trap");
		strbuf_puts(out, process->lost_traps == 1 ? " of ours was" :
							    " of ours were");
		strbuf_puts(out, " taken away by another tool (uprobes?) and "
				 "put back; ");
	}
	if (process->lost_traps || process->blind_ns) {
		strbuf_puts(out, "calls went by unseen for up to ");
		amounts_add_duration(out, process->blind_ns);
		err = heap_text_end_line(text);
	}
	if (!err && process->uprobes) {
		strbuf_puts(out, "another tool has uprobes in this process: "
				 "calls that they catch are not seen");
		err = heap_text_end_line(text);
	}
	if (err)
		return err;
	return add_loss(text, forgotten_blocks(process->heap),
			"block may have been given back meanwhile, and "
			"counts no more",
			"blocks may have been given back meanwhile, and "
			"count no more");
}

static int add_off_time(const struct heap_text *text)
{
	uint64_t off = heap_off_time(text->process->heap);

	if (!off)
		return 0;
	strbuf_puts(heap_text_out(text), "counting was switched off for ");
	amounts_add_duration(heap_text_out(text), off);
	strbuf_puts(heap_text_out(text),
		    ", which is no part of the times here");
	return heap_text_end_line(text);
}

/* Less makes no difference to anything. */
#define HELD_PART 10

static int add_held_time(const struct heap_text *text)
{
	const struct watched *process = text->process;
	uint64_t held = heap_held_history(process->heap)->last.blocks;

	if (held < (text->now - process->start) / HELD_PART)
		return 0;
	strbuf_puts(heap_text_out(text), "it could not run for ");
	amounts_add_duration(heap_text_out(text), held);
	strbuf_puts(heap_text_out(text),
		    " (stopped, frozen, or no processor to be had), which is "
		    "no part of the trends here");
	return heap_text_end_line(text);
}

static int add_losses(const struct heap_text *text)
{
	const struct watched *process = text->process;
	const struct unwind_counts *stacks = &text->cost->stacks;
	int err;

	if (text->cost->refused) {
		strbuf_puts(heap_text_out(text), text->cost->refused);
		err = heap_text_end_line(text);
		if (err)
			return err;
	}
	strbuf_puts(heap_text_out(text), "calls lost: ");
	amounts_add_number(heap_text_out(text), watched_lost(process));
	if (process->lost_traps || process->blind_ns)
		strbuf_puts(heap_text_out(text),
			    ", and those that went by unseen, which nobody "
			    "has counted");
	err = heap_text_end_line(text);
	if (!err)
		err = add_loss(text, process->unreadable,
			       "call had arguments that could not be read",
			       "calls had arguments that could not be read");
	if (!err)
		err = add_loss(text, process->unseen,
			       "call had a return that could not be seen",
			       "calls had returns that could not be seen");
	if (!err)
		err = add_loss(text, process->roomless,
			       "call found no room in the process's buffers",
			       "calls found no room in the process's buffers");
	if (!err)
		err = add_blind_time(text);
	if (!err)
		err = add_loss(text, heap_unkept(process->heap),
			       "acquisition was not kept, as that was "
			       "switched off",
			       "acquisitions were not kept, as that was "
			       "switched off");
	if (!err)
		err = add_off_time(text);
	if (!err)
		err = add_held_time(text);
	if (!err)
		err = add_loss(text, stacks->broken,
			       "stack could not be followed to its end",
			       "stacks could not be followed to their end");
	return err ? err :
		     add_loss(text, stacks->cut, "stack was cut at --depth",
			      "stacks were cut at --depth");
}

int heap_text_foot(const struct heap_text *text)
{
	const struct heap_memory memory = heap_memory(text->process->heap);
	struct strbuf *out = heap_text_out(text);
	int err = add_title(text, "---- HOW IT WAS SEEN");

	if (!err)
		err = add_losses(text);
	if (err)
		return err;
	strbuf_puts(out, "cost: ");
	cost_text_add(&text->cost->cost, out);
	strbuf_puts(out, "; calltrap holds ");
	amounts_add_bytes(out, memory.block_bytes + memory.site_bytes +
				       memory.other_bytes +
				       stacks_bytes(text->config->stacks));
	if (text->process->cost.addresses) {
		strbuf_puts(out, ", and of the process's addresses (VIRT) ");
		amounts_add_bytes(out, text->process->cost.addresses);
	}
	strbuf_puts(out, "; this report took ");
	amounts_add_duration(out, clock_now() - text->cost->report_began);
	err = heap_text_end_line(text);
	return err ? err : heap_text_end_line(text);
}
