/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "report/format/amounts.h"
#include "report/heap/text.h"

/* What calls of --per have done, each. */

static const struct {
	const char *what;
	bool is_time;
} figures[PER_FIGURES] = {
	[PER_TIME] = { "time", true },
	[PER_PROCESSOR] = { "processor time", true },
	[PER_BLOCKS] = { "blocks acquired", false },
	[PER_BYTES] = { "bytes asked for", false },
	[PER_USABLE] = { "bytes usable", false },
	[PER_RELEASES] = { "blocks given back", false },
	[PER_MINOR_FAULTS] = { "minor page faults", false },
	[PER_MAJOR_FAULTS] = { "major page faults", false },
	[PER_DEVICE_READ] = { "bytes from disks", false },
	[PER_DEVICE_WRITTEN] = { "bytes to disks", false },
};

#define WIDTH 16

static void add_cell(struct strbuf *out, enum per_figure figure,
		     uint64_t number)
{
	if (figures[figure].is_time)
		amounts_add_duration_column(out, number, WIDTH);
	else
		amounts_add_column(out, number, WIDTH);
}

static int add_figure(const struct heap_text *text,
		      const struct per_total *total, enum per_figure figure)
{
	const struct log_histogram *numbers = &total->figures[figure];
	const uint64_t sum = total->sums[figure];
	struct strbuf *out = heap_text_out(text);

	if (!numbers->count)
		return 0;
	strbuf_printf(out, "%-18s", figures[figure].what);
	add_cell(out, figure, sum / numbers->count);
	add_cell(out, figure, log_histogram_quantile(numbers, 500));
	add_cell(out, figure, log_histogram_quantile(numbers, 990));
	add_cell(out, figure, numbers->max);
	add_cell(out, figure, sum);
	return heap_text_end_line(text);
}

static int by_calls(const void *a, const void *b)
{
	const struct per_use *x = *(const struct per_use *const *)a;
	const struct per_use *y = *(const struct per_use *const *)b;
	int result = (x->calls < y->calls) - (x->calls > y->calls);

	return result ? result : strcmp(x->function->name, y->function->name);
}

static int add_use(const struct heap_text *text, const struct per_total *total,
		   const struct per_use *use, struct demangler *demangler)
{
	struct strbuf *out = heap_text_out(text);

	amounts_add_column(out, use->calls, 13);
	strbuf_printf(out, " %12.2f", (double)use->calls / total->returned);
	amounts_add_column(out, use->bytes, 16);
	amounts_add_duration_column(out, heap_mean_time(use->ns, use->timed),
				    11);
	strbuf_puts(out, "  ");
	heap_text_symbol(text, demangler, use->function->name);
	return heap_text_end_line(text);
}

static void sort_uses(const struct per_total *total, const struct per_use **ret)
{
	const struct per_use *use;
	size_t i = 0;

	for (use = total->uses; use; use = use->hh.next)
		ret[i++] = use;
	qsort(ret, i, sizeof(const struct per_use *), by_calls);
}

static int add_uses(const struct heap_text *text, const struct per_total *total,
		    struct demangler *demangler)
{
	const size_t count = HASH_COUNT(total->uses);
	const unsigned top = text->config->options->top;
	const struct per_use **uses CLEANUP(xfree_cleanup) =
		xcalloc(count + 1, sizeof(const struct per_use *));
	size_t i;
	int err;

	if (!count)
		return 0;
	sort_uses(total, uses);
	strbuf_puts(heap_text_out(text),
		    "        calls     per call           bytes  mean time  "
		    "function");
	err = heap_text_end_line(text);
	for (i = 0; !err && i < count && (!top || i < top); i++)
		err = add_use(text, total, uses[i], demangler);
	if (err || i == count)
		return err;
	amounts_add_count(heap_text_out(text), count - i, "more row");
	strbuf_puts(heap_text_out(text), " (--top)");
	return heap_text_end_line(text);
}

static int add_total(const struct heap_text *text,
		     const struct per_total *total, struct demangler *demangler)
{
	struct strbuf *out = heap_text_out(text);
	int err;

	strbuf_puts(out, "---- EACH CALL OF ");
	heap_text_symbol(text, demangler, total->of.function->name);
	strbuf_puts(out, ": ");
	amounts_add_count(out, total->calls, "call");
	if (total->calls > total->returned) {
		strbuf_puts(out, ", of which did not return: ");
		amounts_add_number(out, total->calls - total->returned);
	}
	err = heap_text_end_line(text);
	if (err || !total->returned)
		return err;
	strbuf_printf(out, "%-18s%16s%16s%16s%16s%16s", "", "mean", "median",
		      "p99", "max", "in all");
	err = heap_text_end_line(text);
	for (size_t i = 0; !err && i < PER_FIGURES; i++)
		err = add_figure(text, total, i);
	return err ? err : add_uses(text, total, demangler);
}

int heap_text_per(const struct heap_text *text)
{
	const struct per_calls *calls = text->config->per;
	const struct per_total *total = NULL;
	struct demangler demangler = { 0 };
	int err = 0;

	while (calls && !err &&
	       (total = per_calls_next(calls, text->process->pid, total)))
		err = add_total(text, total, &demangler);
	return err;
}
