/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/xalloc.h"
#include "stack/cfi_spans.h"
#include "tracee/module.h"

/* At a time: two milliseconds of a program's largest functions. */
#define RECORDS 2048

struct unwind_tabler {
	struct image *image;
	struct cfi_spans spans;
};

struct unwind_tabler *unwind_tabler_new(const struct module *module,
					size_t most)
{
	struct unwind_tabler *tabler = xcalloc(1, sizeof(*tabler));

	tabler->image = image_get(module->image);
	if (cfi_spans_init(&tabler->spans, tabler->image,
			   module->low - module->bias, most))
		return tabler;
	unwind_tabler_free(tabler);
	return NULL;
}

void unwind_tabler_free(struct unwind_tabler *tabler)
{
	if (!tabler)
		return;
	cfi_spans_fini(&tabler->spans);
	image_put(tabler->image);
	free(tabler);
}

bool unwind_tabler_is_of(const struct unwind_tabler *tabler,
			 const struct module *module)
{
	return tabler->image == module->image &&
	       tabler->spans.low == module->low - module->bias;
}

bool unwind_tabler_go_on(struct unwind_tabler *tabler)
{
	return cfi_spans_go_on(&tabler->spans, RECORDS);
}

bool unwind_tabler_table(const struct unwind_tabler *tabler,
			 struct unwind_table *ret)
{
	const struct cfi_spans *spans = &tabler->spans;

	*ret = (struct unwind_table){
		.spans = spans->spans,
		.span_count = spans->count,
		.rules = spans->rules,
		.rule_count = spans->rule_count,
	};
	return spans->count > 1 && !spans->failed;
}

size_t unwind_tabler_settle(struct unwind_tabler *tabler)
{
	return cfi_spans_settle(&tabler->spans);
}
