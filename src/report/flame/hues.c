/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/flame/hues.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* 0 to 1, exclusive. */
static double spread(const char *text)
{
	return (flame_hash(FLAME_HASH_BEGIN, text) >> 20) % 1000 / 1000.0;
}

/* What flame graphs of memory use: red 0, green 190 to 240, blue 0 to 210. */
struct flame_colour flame_colour(const char *library, const char *function)
{
	return (struct flame_colour){
		.green = 190 + (int)(50 * spread(function)),
		.blue = (int)(210 * spread(library)),
	};
}

struct hued_library {
	const char *path;
	double area;
	UT_hash_handle hh;
};

static struct hued_library *library_of(struct hued_library **all,
				       const char *path)
{
	struct hued_library *library;

	HASH_FIND_STR(*all, path, library);
	if (library)
		return library;
	library = xcalloc(1, sizeof(*library));
	library->path = path;
	HASH_ADD_KEYPTR(hh, *all, library->path, strlen(path), library);
	return library;
}

static struct hued_library *measure(const struct flame_tree *tree)
{
	const struct flame_node *node;
	struct hued_library *all = NULL;

	for (node = tree->root; node; node = flame_tree_next(node))
		if (*node->library && !node->leak)
			library_of(&all, node->library)->area += node->weight;
	return all;
}

static int by_area(const struct hued_library *a, const struct hued_library *b)
{
	if (a->area != b->area)
		return a->area < b->area ? 1 : -1;
	return strcmp(a->path, b->path);
}

size_t flame_hues(const struct flame_tree *tree,
		  struct flame_hue ret[FLAME_HUES_MAX])
{
	struct hued_library *all = measure(tree), *library, *next;
	size_t count = 0;

	HASH_SORT(all, by_area);
	HASH_ITER(hh, all, library, next) {
		if (count < FLAME_HUES_MAX)
			ret[count++] = (struct flame_hue){ library->path,
							   library->area };
		HASH_DEL(all, library);
		free(library);
	}
	return count;
}
