/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/together.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "report/format/amounts.h"
#include "report/heap/text.h"

void together_fini(struct together *together)
{
	free(together->totals);
}

static void add_total(struct heap_total *sum, const struct heap_total *total)
{
	sum->blocks += total->blocks;
	sum->bytes += total->bytes;
	sum->alloc_blocks += total->alloc_blocks;
	sum->alloc_bytes += total->alloc_bytes;
	sum->freed_blocks += total->freed_blocks;
}

static void add_sum(struct heap_sum *sum, const struct heap_sum *other)
{
	sum->leaked_blocks += other->leaked_blocks;
	sum->leaked_bytes += other->leaked_bytes;
	sum->lost_blocks += other->lost_blocks;
	sum->lost_bytes += other->lost_bytes;
	sum->sites += other->sites;
	sum->blocks += other->blocks;
	sum->bytes += other->bytes;
	sum->other_sites += other->other_sites;
	sum->others += other->others;
}

/* A recording may name more families as it goes on. */
static void make_room(struct together *together, size_t count)
{
	if (count <= together->count)
		return;
	together->totals = xreallocarray(together->totals, count,
					 sizeof(*together->totals));
	for (; together->count < count; together->count++)
		together->totals[together->count] = (struct heap_total){ 0 };
}

void together_add(struct together *together,
		  const struct heap_report_config *config,
		  const struct watched *process, const struct heap_rows *rows)
{
	const size_t count = heap_family_count(process->heap);

	make_room(together, count);
	together->families = config->families;
	together->processes++;
	for (size_t i = 0; i < count; i++)
		add_total(&together->totals[i],
			  heap_total(process->heap,
				     heap_family(process->heap, i)));
	for (unsigned i = 0; i <= VERDICT_LIKELY; i++)
		add_sum(&together->levels[i], &rows->levels[i]);
}

static int add_head(const struct together *together,
		    const struct heap_text *text)
{
	strbuf_puts(heap_text_out(text), "==== heap of ");
	amounts_add_number(heap_text_out(text), together->processes);
	strbuf_puts(heap_text_out(text), " processes together");
	return heap_text_end_line(text);
}

int together_text(const struct together *together, const struct heap_text *text)
{
	int err;

	err = add_head(together, text);
	for (size_t i = 0; !err && i < together->count; i++) {
		const struct heap_total *total = &together->totals[i];

		if (total->alloc_blocks)
			err = heap_text_family(text,
					       families_at(together->families,
							   i),
					       total);
	}
	return err ? err : heap_text_levels(text, together->levels);
}
