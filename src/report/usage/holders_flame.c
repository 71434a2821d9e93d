/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/usage/holders_flame.h"

#include <inttypes.h>
#include <string.h>

#include "report/usage/frames.h"
#include "report/usage/leaks_text.h"

static bool goes_on(const struct holder_chain *chain, size_t i)
{
	return i && !strcmp(chain->links[i].name, chain->links[i - 1].name);
}

void holders_fold(const struct holders *holders, struct strbuf *out)
{
	for (size_t i = 0; i < holders->count; i++) {
		const struct holder_chain *chain = &holders->chains[i];

		for (size_t l = 0; l < chain->count; l++) {
			if (goes_on(chain, l))
				continue;
			if (l)
				strbuf_putc(out, ';');
			frames_fold(chain->links[l].name, out);
		}
		if (!chain->count)
			strbuf_puts(out, leaks_kind_name(chain->kind));
		strbuf_printf(out, " %" PRIu64 "\n", chain->bytes);
	}
}

static void add_chain(struct flame_tree *tree, const struct holder_chain *chain)
{
	struct flame_path path = flame_path_begin(tree);

	for (size_t l = 0; l < chain->count; l++)
		if (!goes_on(chain, l))
			frames_add(&path, chain->links[l].name);
	if (!chain->count)
		frames_add(&path, leaks_kind_name(chain->kind));
	(void)flame_path_weigh(&path, chain->bytes);
}

void holders_draw(const struct leaks *leaks, const struct holders *holders,
		  uint64_t wall, struct strbuf *out)
{
	struct flame_tree *tree = flame_tree_new(FLAME_NODES_MAX);

	for (size_t i = 0; i < holders->count; i++)
		add_chain(tree, &holders->chains[i]);
	frames_draw(tree, "Memory Holders", leaks, wall, out);
}
