/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/text.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "report/format/amounts.h"
#include "report/format/names.h"
#include "report/format/signal_name.h"

/* ---- the head ---- */

static void add_killed(int status, struct strbuf *out)
{
	strbuf_puts(out, ", until it was killed by ");
	signal_name_add(WTERMSIG(status), out);
}

static void add_end(const struct watched *process, struct strbuf *out)
{
	switch (process->state) {
	case WATCHED_RUNNING:
	case WATCHED_LEFT:
		break;
	case WATCHED_REPLACED:
		strbuf_puts(out, ", until it began another program");
		break;
	case WATCHED_EXITED:
		if (WIFSIGNALED(process->status))
			add_killed(process->status, out);
		else
			strbuf_printf(out, ", until it exited with status %d",
				      WEXITSTATUS(process->status));
		break;
	}
}

/* The file, and before it the name, unless that is the file's. */
static void add_program(const struct watched *process, struct strbuf *out)
{
	const char *file = process->program ? process->program : "";
	const bool is_named = names_differ(file, process->name);

	if (is_named) {
		strbuf_puts(out, ", ");
		names_escape(out, process->name);
	}
	if (!*file)
		return;
	strbuf_puts(out, is_named ? " (" : ", ");
	names_escape(out, file);
	strbuf_puts(out, is_named ? ")" : "");
}

static void add_calls(const struct heap_text *text)
{
	const struct watched *process = text->process;
	struct strbuf *out = heap_text_out(text);

	strbuf_puts(out, "; ");
	amounts_add_count(out, process->calls, "call");
	strbuf_puts(out, " of allocators, ");
	amounts_add_rate(out, process->calls, text->now - process->start);
	strbuf_puts(out, " a second");
}

int heap_text_head(const struct heap_text *text)
{
	const bool blocks = heap_report_has_blocks(text->config->options);
	const struct watched *process = text->process;
	struct strbuf *out = heap_text_out(text);
	int err;

	strbuf_printf(out, "==== %s of process %d", blocks ? "heap" : "growth",
		      (int)process->pid);
	if (process->own_pid)
		strbuf_printf(out, " (to itself %d)", (int)process->own_pid);
	add_program(process, out);
	err = heap_text_end_line(text);
	if (err)
		return err;
	strbuf_puts(out, "watched for ");
	amounts_add_duration(out, text->now - process->start);
	strbuf_puts(out, process->complete ? ", from its start" : "");
	add_end(process, out);
	if (blocks)
		add_calls(text);
	err = heap_text_end_line(text);
	return err || !blocks ? err : heap_text_sampling(text);
}

/* ---- totals ---- */

static void add_peak(const struct heap_text *text, const struct family *family,
		     const struct heap_total *total)
{
	struct strbuf *out = heap_text_out(text);

	strbuf_puts(out, "; peak: ");
	if (family->has_size)
		amounts_add_bytes(out, total->peak_bytes);
	else
		amounts_add_number(out, total->peak_blocks);
	if (total->peak_time) {
		strbuf_puts(out, " after ");
		amounts_add_duration(out,
				     total->peak_time - text->process->start);
	}
}

int heap_text_family(const struct heap_text *text, const struct family *family,
		     const struct heap_total *total)
{
	struct strbuf *out = heap_text_out(text);

	strbuf_printf(out, "%s: in use: ", family->name);
	if (family->has_size)
		amounts_add_held(out, total->bytes, total->blocks);
	else
		amounts_add_number(out, total->blocks);
	strbuf_puts(out, "; total: ");
	amounts_add_count(out, total->alloc_blocks, "alloc");
	strbuf_puts(out, ", ");
	amounts_add_count(out, total->freed_blocks, "free");
	if (family->has_size) {
		strbuf_puts(out, ", ");
		amounts_add_bytes(out, total->alloc_bytes);
		strbuf_puts(out, " allocated");
	}
	/* Several processes have none together. */
	if (text->process)
		add_peak(text, family, total);
	return heap_text_end_line(text);
}

/* What there is none of isn't worth a line. */
static int add_oddity(const struct heap_text *text, const struct family *family,
		      uint64_t number, const char *what)
{
	if (!number)
		return 0;
	strbuf_printf(heap_text_out(text), "%s: %s: ", family->name, what);
	amounts_add_number(heap_text_out(text), number);
	return heap_text_end_line(text);
}

static int add_oddities(const struct heap_text *text,
			const struct family *family,
			const struct heap_total *total)
{
	/* An allocator unmaps what it has mapped unseen. */
	const bool complete = text->process->complete;
	const bool known_before = !family->granularity || !complete;
	const struct {
		uint64_t number;
		const char *what;
	} oddities[] = {
		{ known_before ? total->unknown_frees : 0,
		  complete ? "frees of what was not kept" :
			     "frees of what was there before" },
		{ total->unknown_resizes, "resizes of what was there before" },
		{ total->double_frees, "double frees" },
		{ total->doubtful_frees,
		  "given back twice, unless an acquisition was missed" },
		{ total->invalid_frees, "frees of what was never acquired" },
		{ total->mismatches, "freed by a function of another kind" },
		{ total->size_mismatches, "freed with another size" },
		{ total->failed, "failed" },
		{ total->unseen_frees,
		  complete ? "frees of what was acquired otherwise" :
			     "frees of what was there before, or acquired "
			     "otherwise" },
		{ total->null_releases, "frees of NULL, which do nothing" },
		{ total->in_flight, "calls that did not return" },
		{ total->reused, "acquired while in use: a free was missed" },
		{ total->dropped, "not kept: there was no room" },
	};
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(oddities); i++)
		err = add_oddity(text, family, oddities[i].number,
				 oddities[i].what);
	return err;
}

static int add_family_estimates(const struct heap_text *text,
				const struct family *family,
				const struct heap_rows *rows)
{
	const struct estimates estimates =
		estimates_of_family(text->process->heap, family, rows->survey);

	return heap_text_estimates(text, &estimates, "    ");
}

static bool is_used(const struct heap_total *total)
{
	return total->alloc_blocks || total->unknown_frees ||
	       total->unknown_resizes || total->failed;
}

int heap_text_summary(const struct heap_text *text,
		      const struct heap_rows *rows)
{
	const struct families *families = text->config->families;
	int err;

	strbuf_puts(heap_text_out(text), "---- HEAP SUMMARY");
	err = heap_text_end_line(text);
	for (size_t i = 0; !err && i < families_count(families); i++) {
		const struct family *family = families_at(families, i);
		const struct heap_total *total =
			heap_total(text->process->heap, family);

		if (!is_used(total) && i)
			continue;
		err = heap_text_family(text, family, total);
		if (!err)
			err = add_family_estimates(text, family, rows);
		if (!err)
			err = add_oddities(text, family, total);
	}
	return err ? err : heap_text_leaks(text, rows);
}
