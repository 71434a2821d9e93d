/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/memory/heap_rates.h"

#include "report/format/amounts.h"

bool heap_rates_differ(const struct heap *heap, uint64_t now)
{
	unsigned used = 0;

	for (unsigned rate = 0; rate < HEAP_RATES; rate++)
		used += heap_rate(heap, rate, now).ns > 0;
	return used > 1;
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

	strbuf_puts(out, "one block in ");
	if (!heap_rates_differ(heap, now)) {
		amounts_add_bytes(out, heap_sample(heap));
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
