/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>

#include "report/format/folded_stack.h"
#include "report/heap/export.h"

void heap_folded_make(const struct heap_export *export, struct strbuf *out)
{
	const struct heap *heap = export->process->heap;

	for (size_t i = 1; i <= heap_site_count(heap); i++) {
		const struct site *site = heap_site(heap, i);
		uint64_t weight = heap_export_weight(export, site);

		if (!weight || !site->function->family->has_size)
			continue;
		folded_stack_add(export->config->namer, export->config->stacks,
				 site->stack, site->function->name, out);
		folded_stack_add_leaf(site->function->name, out);
		strbuf_printf(out, " %" PRIu64 "\n", weight);
	}
}
