/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/flame_frames.h"

#include <inttypes.h>
#include <string.h>

#include "report/amounts.h"
#include "report/xml.h"

#define NAME_MAX_HOVER 1000
#define TEXT_MARGIN    3
#define CHARACTER      7.25 /* of a monospaced font of 12 pixels */

struct painting {
	const struct flame_tree *tree;
	const char *unit;
	struct strbuf *out;
};

/* 0 to 1, exclusive. */
static double spread(const char *text)
{
	return (flame_hash(FLAME_HASH_BEGIN, text) >> 20) % 1000 / 1000.0;
}

/* What flame graphs of memory use: red 0, green 190 to 240, blue 0 to 210. */
static void add_colour(const struct painting *p, const struct flame_node *node)
{
	strbuf_printf(p->out, "rgb(0,%d,%d)",
		      190 + (int)(50 * spread(node->name)),
		      (int)(210 * spread(node->library)));
}

static double share(const struct painting *p, uint64_t weight)
{
	uint64_t total = p->tree->root->weight;

	return total ? (double)weight / total : 0;
}

static void add_lines(const struct painting *p, const struct flame_node *node)
{
	unsigned i;

	if (!node->file)
		return;
	strbuf_putc(p->out, '\n');
	xml_add(p->out, node->file, NAME_MAX_HOVER);
	for (i = 0; i < node->line_count && i < FLAME_NODE_LINES; i++)
		strbuf_printf(p->out, "%s%u", i ? ", " : ":", node->lines[i]);
	if (node->line_count > FLAME_NODE_LINES)
		strbuf_puts(p->out, ", ...");
}

static void add_title(const struct painting *p, const struct flame_node *node)
{
	const char *unit = p->unit;

	strbuf_puts(p->out, "<title>");
	xml_add(p->out, node->name, NAME_MAX_HOVER);
	strbuf_puts(p->out, " (");
	amounts_add_number(p->out, node->weight);
	strbuf_printf(p->out, " %.*s, %.2f%%)",
		      (int)strlen(unit) - (node->weight == 1), unit,
		      100 * share(p, node->weight));
	if (*node->library) {
		strbuf_putc(p->out, '\n');
		xml_add(p->out, node->library, NAME_MAX_HOVER);
	}
	add_lines(p, node);
	if (node->leak) {
		strbuf_puts(p->out, "\nLIKELY leak: ");
		xml_add(p->out, node->leak, NAME_MAX_HOVER);
	}
	strbuf_puts(p->out, "</title>");
}

static void add_text(const struct painting *p, const struct flame_node *node,
		     double width)
{
	int room = (int)((width - 2 * TEXT_MARGIN) / CHARACTER);

	strbuf_printf(p->out, "<text x=\"%d\" y=\"12\">", TEXT_MARGIN);
	if (node->leak && room > 3) {
		strbuf_puts(p->out, "! ");
		room -= 2;
	}
	if (room >= 3)
		xml_add(p->out, node->name, room);
	strbuf_puts(p->out, "</text>");
}

static void add_frame(const struct painting *p, const struct flame_node *node)
{
	unsigned y = FLAME_HEADER +
		     (p->tree->height - 1 - node->depth) * FLAME_ROW;
	double width = FLAME_WIDTH * share(p, node->weight);

	strbuf_printf(p->out,
		      "<svg class=\"frame%s\" id=\"f%016" PRIx64 "\" "
		      "x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" "
		      "data-depth=\"%u\" data-weight=\"%" PRIu64 "\">",
		      node->leak ? " likely" : "", node->identity,
		      FLAME_WIDTH * share(p, node->start), y, width, FLAME_ROW - 1,
		      node->depth, node->weight);
	add_title(p, node);
	strbuf_puts(p->out, "<rect width=\"100%\" height=\"100%\" fill=\"");
	add_colour(p, node);
	strbuf_puts(p->out, "\"/>");
	add_text(p, node, width);
	strbuf_puts(p->out, "</svg>\n");
}

void flame_frames_add(const struct flame_tree *tree, const char *unit,
		      struct strbuf *out)
{
	const struct painting painting = { tree, unit, out };
	const struct flame_node *node;

	for (node = tree->root; node; node = flame_tree_next(node))
		add_frame(&painting, node);
}
