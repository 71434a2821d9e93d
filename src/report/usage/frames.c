/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/usage/frames.h"

#include "base/xalloc.h"
#include "report/format/names.h"

/* Names as they may stand in any file: printable. */
static char *shown(const char *name)
{
	struct strbuf text = { 0 };

	names_escape(&text, name);
	if (!text.text)
		strbuf_puts(&text, "");
	return text.text;
}

/* A semicolon would split it. */
void frames_fold(const char *name, struct strbuf *out)
{
	char *text CLEANUP(xfree_cleanup) = shown(name);

	for (char *c = text; *c; c++)
		if (*c == ';')
			*c = ',';
	strbuf_puts(out, text);
}

void frames_add(struct flame_path *path, const char *name)
{
	char *text CLEANUP(xfree_cleanup) = shown(name);

	flame_path_add(path,
		       &(struct flame_place){ .name = text, .library = "" });
}

void frames_draw(struct flame_tree *tree, const char *title,
		 const struct leaks *leaks, uint64_t wall, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf heading = { 0 };
	char *name CLEANUP(xfree_cleanup) = shown(leaks->name);

	flame_tree_arrange(tree);
	flame_svg_add_heading(title, name, "", leaks->pid, wall, &heading);
	flame_svg_add(&(struct flame_picture){ .tree = tree,
					       .unit = "bytes",
					       .heading =
						       strbuf_text(&heading) },
		      out);
	flame_tree_free(tree);
}
