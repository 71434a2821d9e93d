/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/flame/weighed.h"

#include <stdlib.h>

#include "base/xalloc.h"

void weighed_add(struct weighed_list *list, const struct weighed *weighed)
{
	if (!weighed->weight)
		return;
	list->items = xgrow(list->items, list->count, &list->room,
			    sizeof(*list->items));
	list->items[list->count++] = *weighed;
}

static int by_importance(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->never_dropped != y->never_dropped)
		return x->never_dropped ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

struct flame_tree *weighed_plant(struct weighed_list *list, size_t max,
				 void (*plant)(const void *context,
					       struct flame_tree *tree,
					       const struct weighed *weighed),
				 const void *context)
{
	struct flame_tree *tree = flame_tree_new(max);

	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items),
		      by_importance);
	for (size_t i = 0; i < list->count; i++)
		plant(context, tree, &list->items[i]);
	flame_tree_arrange(tree);
	free(list->items);
	*list = (struct weighed_list){ 0 };
	return tree;
}
