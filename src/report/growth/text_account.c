/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "growth/view.h"
#include "report/format/amounts.h"
#include "report/format/names.h"
#include "report/growth/text.h"

/* What was seen to happen, beside what the kernel says has come of it. */

#define NAMED_MAX 3
#define WIDTH     16

/* "+4,096", on the right of a column. */
static void add_change(struct strbuf *out, uint64_t more, uint64_t less,
		       unsigned width)
{
	CLEANUP(strbuf_fini) struct strbuf number = { 0 };

	strbuf_putc(&number, more < less ? '-' : '+');
	amounts_add_number(&number, more < less ? less - more : more - less);
	strbuf_printf(out, "%*s", (int)width, strbuf_text(&number));
}

static int add_head(const struct heap_text *text, const char *name,
		    uint64_t first, uint64_t last)
{
	struct strbuf *out = heap_text_out(text);

	strbuf_printf(out, "%s: ", name);
	add_change(out, last, first, 0);
	strbuf_puts(out, " bytes, from ");
	amounts_add_number(out, first);
	strbuf_puts(out, " to ");
	amounts_add_number(out, last);
	return heap_text_end_line(text);
}

static int add_part(const struct heap_text *text, uint64_t more, uint64_t less,
		    const char *name)
{
	struct strbuf *out = heap_text_out(text);

	add_change(out, more, less, WIDTH);
	strbuf_printf(out, "  %s", name);
	return heap_text_end_line(text);
}

/* ---- VIRT ---- */

static void add_unseen(struct strbuf *out, const struct growth_view *view)
{
	uint64_t rest = 0;

	if (!view->count)
		return;
	strbuf_puts(out, "; there unseen: ");
	for (size_t i = 0; i < view->count; i++) {
		const struct growth_unseen *unseen = &view->unseen[i];

		if (i >= NAMED_MAX) {
			rest += unseen->bytes;
			continue;
		}
		strbuf_puts(out, i ? ", " : "");
		names_escape(out, *unseen->name ? unseen->name : "no file");
		strbuf_putc(out, ' ');
		amounts_add_number(out, unseen->bytes);
	}
	if (rest) {
		strbuf_puts(out, ", others ");
		amounts_add_number(out, rest);
	}
}

static int add_virtual_rest(const struct heap_text *text,
			    const struct growth_view *view, uint64_t more,
			    uint64_t less)
{
	struct strbuf *out = heap_text_out(text);

	add_change(out, more, less, WIDTH);
	strbuf_puts(out, "  remainder");
	add_unseen(out, view);
	if (view->vanished) {
		strbuf_puts(out, "; gone unseen: ");
		amounts_add_number(out, view->vanished);
	}
	return heap_text_end_line(text);
}

static int add_virtual(const struct heap_text *text,
		       const struct growth_view *first,
		       const struct growth_view *last)
{
	const struct growth_total *heap = &last->totals[GROWTH_HEAP];
	const struct growth_total *mmap = &last->totals[GROWTH_MMAP];
	int err = add_head(text, "VIRT", first->virtual_bytes,
			   last->virtual_bytes);

	if (!err)
		err = add_part(text, heap->bytes, heap->back, "brk");
	if (!err)
		err = add_part(text, mmap->bytes, mmap->back,
			       "mmap, mremap, munmap");
	return err ? err :
		     add_virtual_rest(text, last,
				      last->virtual_bytes + heap->back +
					      mmap->back,
				      first->virtual_bytes + heap->bytes +
					      mmap->bytes);
}

/* ---- RSS ---- */

/* Of less than this, nobody wants to know. */
#define WITHIN_MIN (1 << 20)

/* Pages that were mapped all along, and are touched only now, are neither brk's
   nor mmap's. */
static int add_where_it_grows(const struct heap_text *text,
			      const struct growth_view *first,
			      const struct growth_view *last)
{
	const uint64_t was = first->vitals.resident_bytes;
	const uint64_t is = last->vitals.resident_bytes;
	const uint64_t more = is > was ? is - was : 0;
	struct strbuf *out = heap_text_out(text);

	if (more < WITHIN_MIN ||
	    last->totals[GROWTH_HEAP].bytes + last->totals[GROWTH_MMAP].bytes >
		    more / 2)
		return 0;
	strbuf_puts(out, "RSS: +");
	amounts_add_bytes(out, more);
	strbuf_puts(out, ": it grows within what it has: --growth faults shows "
			 "who touches it");
	return heap_text_end_line(text);
}

static int add_resident(const struct heap_text *text,
			const struct growth_view *first,
			const struct growth_view *last)
{
	const struct growth_total *faults = &last->totals[GROWTH_FAULTS];
	const uint64_t was = first->vitals.resident_bytes;
	const uint64_t is = last->vitals.resident_bytes;
	int err;

	if (!growth_has(text->process->growth, GROWTH_FAULTS))
		return add_where_it_grows(text, first, last);
	err = add_head(text, "RSS", was, is);
	if (!err)
		err = add_part(text, faults->bytes, faults->again,
			       "page faults, less those on pages that were "
			       "there");
	if (!err)
		err = add_part(text, 0, faults->back,
			       "pages of these given back");
	return err ? err :
		     add_part(text, is + faults->again + faults->back,
			      was + faults->bytes,
			      "remainder: pages of files that were mapped "
			      "around, huge pages, reclaim");
}

static int add_how(const struct heap_text *text, const struct growth_view *last)
{
	static const char *const names[] = {
		[GROWTH_NOT_SEEN] = "",
		[GROWTH_BY_FUNCTIONS] =
			("brk and mappings were seen at the C library's "
			 "functions"),
		[GROWTH_BY_SYSTEM_CALLS] =
			"brk and mappings were seen at system calls",
	};
	struct strbuf *out = heap_text_out(text);

	strbuf_puts(out, names[text->config->options->growth_by]);
	if (last) {
		strbuf_puts(out, "; /proc was read after ");
		amounts_add_duration(out, last->time - text->process->start);
	}
	if (growth_lost(text->process->growth)) {
		strbuf_puts(out, "; calls lost: ");
		amounts_add_number(out, growth_lost(text->process->growth));
	}
	return heap_text_end_line(text);
}

int growth_text_account(const struct heap_text *text)
{
	const struct growth *growth = text->process->growth;
	const struct growth_view *first = growth_first_view(growth);
	const struct growth_view *last = growth_last_view(growth);
	int err;

	strbuf_puts(heap_text_out(text), "---- HOW IT ADDS UP");
	err = heap_text_end_line(text);
	if (!err)
		err = add_how(text, last);
	if (!err)
		err = growth_text_faults(text);
	if (err)
		return err;
	if (!first || !last) {
		strbuf_puts(heap_text_out(text),
			    "the process was gone before /proc could be read");
		return heap_text_end_line(text);
	}
	err = add_virtual(text, first, last);
	return err ? err : add_resident(text, first, last);
}
