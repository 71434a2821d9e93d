/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "report/format/amounts.h"
#include "report/format/names.h"
#include "report/heap/text.h"

/* What a process holds in one line, for logs that are read by programs: plain
   numbers, and names without what separates them. */

static void add_word(struct strbuf *out, const char *word)
{
	size_t start = out->length;

	names_escape(out, word);
	for (size_t i = start; i < out->length; i++)
		if (strchr(" :;[]", out->text[i]))
			out->text[i] = '_';
}

static void add_stamp(const struct heap_text *text)
{
	const uint64_t wall = heap_report_wall(text->config, text->now);

	amounts_add_date(heap_text_out(text), wall);
	strbuf_printf(heap_text_out(text), ".%06u ",
		      (unsigned)(wall % NS_PER_SECOND / 1000));
}

/* ---- who holds it ---- */

static int by_bytes(const void *a, const void *b)
{
	const struct heap_holder *x = *(const struct heap_holder *const *)a;
	const struct heap_holder *y = *(const struct heap_holder *const *)b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* Of that family; components, if there are any. Returns how many. */
static size_t holders_of(const struct heap_text *text,
			 const struct family *family,
			 const struct heap_holder **ret)
{
	const bool components = text->config->components != NULL;
	const struct heap *heap = text->process->heap;
	size_t count = 0;

	for (size_t i = 0; i < heap_holder_count(heap); i++) {
		const struct heap_holder *holder = heap_holder_at(heap, i);

		if (holder->family == family && holder->bytes &&
		    (holder->component != 0) == components)
			ret[count++] = holder;
	}
	qsort(ret, count, sizeof(*ret), by_bytes);
	return count;
}

static const char *name_of(const struct heap_text *text,
			   const struct heap_holder *holder)
{
	if (holder->component)
		return text->config->components[holder->component - 1];
	return holder->library && *holder->library ?
		       file_base_name(holder->library) :
		       "other";
}

/* All of them together are the total. */
static void add_holders(const struct heap_text *text,
			const struct family *family, uint64_t total)
{
	const struct heap *heap = text->process->heap;
	const struct heap_holder **holders CLEANUP(xfree_cleanup) =
		xcalloc(heap_holder_count(heap) + 1, sizeof(*holders));
	const unsigned top = text->config->options->top;
	struct strbuf *out = heap_text_out(text);
	size_t count = holders_of(text, family, holders);
	uint64_t rest = total;

	strbuf_puts(out, text->config->components ? "; Components:" :
						    "; Libraries:");
	for (size_t i = 0; i < count && (!top || i < top); i++) {
		strbuf_putc(out, ' ');
		add_word(out, name_of(text, holders[i]));
		strbuf_printf(out, ":%" PRIu64, holders[i]->bytes);
		rest -= holders[i]->bytes;
	}
	if (rest)
		strbuf_printf(out, " other:%" PRIu64, rest);
}

int heap_text_dump_line(const struct heap_text *text, const char *tag)
{
	const struct families *families = text->config->families;
	const struct heap *heap = text->process->heap;
	struct strbuf *out = heap_text_out(text);

	add_stamp(text);
	strbuf_puts(out, "[MEM_DUMP ");
	add_word(out, tag);
	strbuf_printf(out, "] Process: %d; RSS: %" PRIu64,
		      (int)text->process->pid,
		      text->process->vitals.resident_bytes);
	for (size_t i = 0; i < families_count(families); i++) {
		const struct family *family = families_at(families, i);
		const struct heap_total *total = heap_total(heap, family);

		if (!family->has_size || (i && !total->alloc_blocks))
			continue;
		strbuf_puts(out, "; ");
		add_word(out, i ? family->name : "Total");
		strbuf_printf(out, ": %" PRIu64 "; Blocks: %" PRIu64,
			      total->bytes, total->blocks);
		add_holders(text, family, total->bytes);
	}
	return heap_text_end_line(text);
}
