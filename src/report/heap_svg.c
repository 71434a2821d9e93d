/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/flame_svg.h"
#include "report/heap_export.h"
#include "report/heap_tree.h"

static const struct {
	const char *what;
	const char *unit;
} values[] = {
	[HEAP_INUSE_BYTES] = { "Heap in use", "bytes" },
	[HEAP_INUSE_BLOCKS] = { "Heap in use", "blocks" },
	[HEAP_ALLOC_BYTES] = { "Heap acquired", "bytes" },
	[HEAP_ALLOC_BLOCKS] = { "Heap acquired", "blocks" },
};

void heap_svg_make(const struct heap_export *export, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf heading = { 0 };
	struct flame_tree *tree = heap_tree_new(export, FLAME_NODES_MAX);

	flame_svg_add_heading(values[export->options->value].what,
			      export->process->program, export->process->pid,
			      export->now, &heading);
	flame_svg_add(&(struct flame_picture){
			      .tree = tree,
			      .unit = values[export->options->value].unit,
			      .heading = strbuf_text(&heading),
		      },
		      out);
	flame_tree_free(tree);
}
