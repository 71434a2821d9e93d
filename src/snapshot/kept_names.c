/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/kept_names.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/xalloc.h"

static const char *name_of(const struct kept_names *kept,
			   const struct block *block, bool text)
{
	const size_t index = block - kept->blocks->list;

	if (!kept->of[index] || kept->is_text[index] != text)
		return NULL;
	return kept->texts[kept->of[index] - 1];
}

static const char *kept_class(struct block_names *names,
			      const struct block *block)
{
	return name_of((struct kept_names *)names, block, false);
}

static char *kept_text(struct block_names *names, const struct block *block)
{
	const char *text = name_of((struct kept_names *)names, block, true);

	return text ? xstrdup(text) : NULL;
}

static const struct kept_place *find_place(const struct kept_names *kept,
					   taddr_t where)
{
	size_t low = 0, high = kept->place_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (kept->places[middle].where < where)
			low = middle + 1;
		else
			high = middle;
	}
	return low < kept->place_count && kept->places[low].where == where ?
		       &kept->places[low] :
		       NULL;
}

static const char *kept_place(struct block_names *names, taddr_t where)
{
	struct kept_names *kept = (struct kept_names *)names;
	const struct kept_place *place = find_place(kept, where);

	if (place)
		return place->name;
	free(kept->unknown);
	kept->unknown = xasprintf("0x%" PRIx64, where);
	return kept->unknown;
}

static const char *kept_variable(struct block_names *names, taddr_t where)
{
	const struct kept_place *place =
		find_place((struct kept_names *)names, where);

	return place && place->variable ? place->variable : "other places";
}

static bool kept_is_of_thread(struct block_names *names, taddr_t where)
{
	const struct kept_place *place =
		find_place((struct kept_names *)names, where);

	return place && place->of_thread;
}

static const char *text_of(const struct kept_names *kept, uint32_t number)
{
	return number ? kept->texts[number - 1] : NULL;
}

static struct debug_step kept_step(struct block_names *names,
				   const struct block *block)
{
	struct kept_names *kept = (struct kept_names *)names;
	const size_t index = block - kept->blocks->list;

	if (index >= kept->step_count)
		return (struct debug_step){ .path = NULL };
	return (struct debug_step){
		.path = text_of(kept, kept->steps[index].path),
		.type = text_of(kept, kept->steps[index].type),
	};
}

static void kept_free(struct block_names *names)
{
	struct kept_names *kept = (struct kept_names *)names;

	for (size_t i = 0; i < kept->count; i++)
		free(kept->texts[i]);
	free(kept->texts);
	free(kept->of);
	free(kept->is_text);
	free(kept->steps);
	free(kept->places);
	free(kept->unknown);
	free(kept);
}

static const struct block_names_ops kept_ops = {
	.class = kept_class,
	.text = kept_text,
	.place = kept_place,
	.variable = kept_variable,
	.is_of_thread = kept_is_of_thread,
	.step = kept_step,
	.free = kept_free,
};

struct kept_names *kept_names_new(const struct blocks *blocks)
{
	struct kept_names *kept = xcalloc(1, sizeof(*kept));

	kept->names.ops = &kept_ops;
	kept->blocks = blocks;
	return kept;
}
