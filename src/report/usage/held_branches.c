/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/usage/held_branches.h"

#include <stdlib.h>

#include "base/xalloc.h"

static int compare(const void *a, const void *b, void *context)
{
	const struct held *list = context;
	const size_t first = *(const size_t *)a, second = *(const size_t *)b;
	const struct held *x = &list[first], *y = &list[second];

	if (x->above != y->above)
		return x->above < y->above ? -1 : 1;
	if (x->all_bytes != y->all_bytes)
		return x->all_bytes > y->all_bytes ? -1 : 1;
	return first < second ? -1 : first > second;
}

void held_branches_make(const struct held_tree *tree, struct held_branches *ret)
{
	size_t at = 0;

	ret->list = xcalloc(tree->count + 1, sizeof(*ret->list));
	ret->first = xcalloc(tree->count + 2, sizeof(*ret->first));
	for (size_t i = 1; i < tree->count; i++)
		ret->list[i - 1] = i;
	if (tree->count > 1)
		qsort_r(ret->list, tree->count - 1, sizeof(*ret->list), compare,
			tree->list);
	for (size_t i = 0; i < tree->count; i++) {
		ret->first[i] = at;
		while (at + 1 < tree->count &&
		       tree->list[ret->list[at]].above == i)
			at++;
	}
	ret->first[tree->count] = at;
}

void held_branches_fini(struct held_branches *branches)
{
	free(branches->list);
	free(branches->first);
}
