/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/usage/holders_flame.h"

#include <inttypes.h>
#include <string.h>

#include "report/flame/svg.h"
#include "report/format/names.h"
#include "report/usage/leaks_text.h"

/* Names as they may stand in any file: printable. */
static char *shown(const char *name)
{
	struct strbuf text = { 0 };

	names_escape(&text, name);
	if (!text.text)
		strbuf_puts(&text, "");
	return text.text;
}

static bool goes_on(const struct holder_chain *chain, size_t i)
{
	return i && !strcmp(chain->links[i].name, chain->links[i - 1].name);
}

/* A semicolon would split it. */
static void add_folded(const char *name, struct strbuf *out)
{
	char *text CLEANUP(xfree_cleanup) = shown(name);

	for (char *c = text; *c; c++)
		if (*c == ';')
			*c = ',';
	strbuf_puts(out, text);
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
			add_folded(chain->links[l].name, out);
		}
		if (!chain->count)
			strbuf_puts(out, leaks_kind_name(chain->kind));
		strbuf_printf(out, " %" PRIu64 "\n", chain->bytes);
	}
}

static void add_place(struct flame_path *path, const char *name)
{
	char *text CLEANUP(xfree_cleanup) = shown(name);

	flame_path_add(path,
		       &(struct flame_place){ .name = text, .library = "" });
}

static void add_chain(struct flame_tree *tree, const struct holder_chain *chain)
{
	struct flame_path path = flame_path_begin(tree);

	for (size_t l = 0; l < chain->count; l++)
		if (!goes_on(chain, l))
			add_place(&path, chain->links[l].name);
	if (!chain->count)
		add_place(&path, leaks_kind_name(chain->kind));
	(void)flame_path_weigh(&path, chain->bytes);
}

void holders_draw(const struct leaks *leaks, const struct holders *holders,
		  uint64_t wall, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf heading = { 0 };
	struct flame_tree *tree = flame_tree_new(FLAME_NODES_MAX);
	char *name CLEANUP(xfree_cleanup) = shown(leaks->name);

	for (size_t i = 0; i < holders->count; i++)
		add_chain(tree, &holders->chains[i]);
	flame_tree_arrange(tree);
	flame_svg_add_heading("Memory Holders", name, "", leaks->pid, wall,
			      &heading);
	flame_svg_add(&(struct flame_picture){ .tree = tree,
					       .unit = "bytes",
					       .heading =
						       strbuf_text(&heading) },
		      out);
	flame_tree_free(tree);
}
