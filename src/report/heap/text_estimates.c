/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/amounts.h"
#include "report/heap/text.h"
#include "report/memory/heap_rates.h"

/* Where not every block is kept: that it is so, and how good numbers are. */

int heap_text_sampling(const struct heap_text *text)
{
	const struct heap *heap = text->process->heap;
	struct strbuf *out = heap_text_out(text);

	if (!heap_sample(heap))
		return 0;
	strbuf_puts(out, "sampled: ");
	heap_rates_add(heap, text->now, out);
	strbuf_puts(out, ", on average; what is said of blocks is estimated "
			 "from these");
	return heap_text_end_line(text);
}

static void add_range(struct strbuf *out, const struct estimate_range *range)
{
	amounts_add_number(out, range->low);
	strbuf_puts(out, " to ");
	amounts_add_number(out, range->high);
}

int heap_text_estimates(const struct heap_text *text,
			const struct estimates *estimates, const char *indent)
{
	const struct estimate_ranges ranges = estimates_ranges(estimates);
	struct strbuf *out = heap_text_out(text);

	if (!estimates->samples)
		return 0;
	strbuf_puts(out, indent);
	strbuf_puts(out, "with 95 %: ");
	add_range(out, &ranges.bytes);
	strbuf_puts(out, " bytes held");
	if (estimates->alloc_bytes.total) {
		strbuf_puts(out, "; ");
		add_range(out, &ranges.alloc_bytes);
		strbuf_puts(out, " bytes acquired");
	}
	strbuf_puts(out, "; by ");
	amounts_add_count(out, estimates->samples, "sample");
	return heap_text_end_line(text);
}
