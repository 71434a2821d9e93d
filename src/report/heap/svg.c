/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/flame/svg.h"
#include "report/heap/export.h"
#include "report/heap/tree.h"

void heap_svg_make(const struct heap_export *export, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf heading = { 0 };
	const struct heap_value_text *value =
		heap_export_value_text(export->options->value);
	struct flame_tree *tree = heap_tree_new(export, FLAME_NODES_MAX);

	flame_svg_add_heading(value->title, export->process->program,
			      export->process->name, export->process->pid,
			      heap_report_wall(export->config, export->now),
			      &heading);
	flame_svg_add(
		&(struct flame_picture){
			.tree = tree,
			.unit = value->unit,
			.heading = strbuf_text(&heading),
		},
		out);
	flame_tree_free(tree);
}
