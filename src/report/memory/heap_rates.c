/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/memory/heap_rates.h"

#include "report/format/amounts.h"

/* How many were used for any time. *sample_ret is the last of these, or the one
   of now if there is none: that may have only just begun. */
static unsigned rates_used(const struct heap *heap, uint64_t now,
			   uint64_t *sample_ret)
{
	unsigned used = 0;

	*sample_ret = heap_sample(heap);
	for (unsigned rate = 0; rate < HEAP_RATES; rate++) {
		const struct heap_rate held = heap_rate(heap, rate, now);

		if (!held.ns)
			continue;
		*sample_ret = held.sample;
		used++;
	}
	return used;
}

static void add_sample(const struct heap_rate *held, struct strbuf *out)
{
	if (held->sample > 1)
		amounts_add_size(out, held->sample);
	else
		strbuf_puts(out, "1 B (all)");
	strbuf_puts(out, " for ");
	amounts_add_duration(out, held->ns);
}

void heap_rates_add(const struct heap *heap, uint64_t now, struct strbuf *out)
{
	const char *between = "";
	uint64_t sample;

	strbuf_puts(out, "one block in ");
	if (rates_used(heap, now, &sample) < 2) {
		amounts_add_bytes(out, sample);
		return;
	}
	for (unsigned rate = 0; rate < HEAP_RATES; rate++) {
		const struct heap_rate held = heap_rate(heap, rate, now);

		if (!held.ns)
			continue;
		strbuf_puts(out, between);
		add_sample(&held, out);
		between = ", ";
	}
}
