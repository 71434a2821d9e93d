/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/picked.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* Of more images it is asked again: of those of the oldest answers first. */
#define IMAGES_MAX 64

/* What else than the image it may depend on. */
struct picked_answer {
	struct image *image; /* or NULL: none */
	char *name;          /* the module's */
	bool is_linker;
	const struct symbol **symbols;
	size_t count, room;
};

struct picked {
	const struct prober_pick *pick;
	struct picked_answer answers[IMAGES_MAX];
	unsigned next;
	struct picked_answer last; /* of what is one process's alone (the vDSO) */
};

struct picked *picked_new(const struct prober_pick *pick)
{
	struct picked *picked = xcalloc(1, sizeof(*picked));

	picked->pick = pick;
	return picked;
}

static void drop(struct picked_answer *answer)
{
	if (answer->image)
		image_put(answer->image);
	free(answer->name);
	free(answer->symbols);
	*answer = (struct picked_answer){ .image = NULL };
}

void picked_free(struct picked *picked)
{
	unsigned i;

	if (!picked)
		return;
	for (i = 0; i < IMAGES_MAX; i++)
		drop(&picked->answers[i]);
	drop(&picked->last);
	free(picked);
}

static const struct picked_answer *find(const struct picked *picked,
					const struct module *module)
{
	const struct picked_answer *answer;

	for (answer = picked->answers;
	     answer < picked->answers + IMAGES_MAX && answer->image; answer++)
		if (answer->image == module->image &&
		    answer->is_linker == module->is_linker &&
		    !strcmp(answer->name, module->name))
			return answer;
	return NULL;
}

static void add(struct picked_answer *answer, const struct symbol *symbol)
{
	answer->symbols = xgrow(answer->symbols, answer->count, &answer->room,
				sizeof(const struct symbol *));
	answer->symbols[answer->count++] = symbol;
}

static struct picked_answer *place_for(struct picked *picked,
				       const struct module *module)
{
	struct picked_answer *place = &picked->last;

	if (image_is_shared(module->image)) {
		place = &picked->answers[picked->next];
		picked->next = (picked->next + 1) % IMAGES_MAX;
	}
	drop(place);
	return place;
}

static const struct picked_answer *ask(struct picked *picked,
				       const struct module *module)
{
	const struct prober_pick *pick = picked->pick;
	struct picked_answer *answer = place_for(picked, module);
	const struct symbol *symbols;
	size_t count, i;

	answer->image = image_get(module->image);
	answer->name = xstrdup(module->name);
	answer->is_linker = module->is_linker;
	symbols = image_symbols(module->image, &count);
	for (i = 0; i < count; i++)
		if (pick->wants(pick->context, symbols[i].name, module))
			add(answer, &symbols[i]);
	return answer;
}

const struct symbol *const *
picked_of(struct picked *picked, const struct module *module, size_t *count_ret)
{
	const struct picked_answer *answer = find(picked, module);

	if (!answer)
		answer = ask(picked, module);
	*count_ret = answer->count;
	return (const struct symbol *const *)answer->symbols;
}
