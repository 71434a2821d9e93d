/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/flame/frames.h"

#include <inttypes.h>
#include <string.h>

#include "report/flame/difference.h"
#include "report/flame/hues.h"
#include "report/format/amounts.h"
#include "report/format/xml.h"

#define NAME_MAX_HOVER 1000
#define TEXT_MARGIN    3
#define CHARACTER      7.25 /* of a monospaced font of 12 pixels */

struct painting {
	const struct flame_picture *picture;
	struct strbuf *out;
};

static double share(const struct painting *p, uint64_t weight)
{
	uint64_t total = p->picture->tree->root->weight;

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

static void add_amount(const struct painting *p, const struct flame_node *node)
{
	const char *unit = p->picture->unit;

	if (p->picture->difference) {
		flame_difference_add_text(node, unit, p->out);
		flame_difference_add_parts(node, p->out);
		return;
	}
	amounts_add_number(p->out, node->weight);
	strbuf_printf(p->out, " %.*s, %.2f%%",
		      (int)strlen(unit) - (node->weight == 1), unit,
		      100 * share(p, node->weight));
}

static void add_title(const struct painting *p, const struct flame_node *node)
{
	strbuf_puts(p->out, "<title>");
	xml_add(p->out, node->name, NAME_MAX_HOVER);
	strbuf_puts(p->out, " (");
	add_amount(p, node);
	strbuf_putc(p->out, ')');
	if (*node->library) {
		strbuf_putc(p->out, '\n');
		xml_add(p->out, node->library, NAME_MAX_HOVER);
	}
	add_lines(p, node);
	if (p->picture->difference)
		strbuf_printf(p->out, "\n%s", flame_difference_kind(node));
	if (node->leak) {
		strbuf_puts(p->out, "\nLIKELY leak: ");
		xml_add(p->out, node->leak, NAME_MAX_HOVER);
	}
	strbuf_puts(p->out, "</title>");
}

static char mark_of(const struct painting *p, const struct flame_node *node)
{
	if (p->picture->difference)
		return flame_difference_mark(node);
	return node->leak ? '!' : '\0';
}

static void add_text(const struct painting *p, const struct flame_node *node,
		     double width)
{
	int room = (int)((width - 2 * TEXT_MARGIN) / CHARACTER);
	char mark = mark_of(p, node);

	strbuf_printf(p->out, "<text x=\"%d\" y=\"12\">", TEXT_MARGIN);
	if (mark && room > 3) {
		strbuf_printf(p->out, "%c ", mark);
		room -= 2;
	}
	if (room >= 3)
		xml_add(p->out, node->name, room);
	strbuf_puts(p->out, "</text>");
}

static void add_rect(const struct painting *p, const struct flame_node *node)
{
	const struct flame_colour colour =
		flame_colour(node->library, node->name);

	strbuf_printf(p->out,
		      "<rect width=\"100%%\" height=\"100%%\" "
		      "fill=\"rgb(%d,%d,%d)\"/>",
		      colour.red, colour.green, colour.blue);
}

static void begin_frame(const struct painting *p, const struct flame_node *node)
{
	unsigned row = p->picture->tree->height - 1 - node->depth;
	char mark = mark_of(p, node);

	strbuf_printf(p->out,
		      "<svg class=\"frame%s\" id=\"f%016" PRIx64 "\" "
		      "x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" "
		      "data-depth=\"%u\" data-weight=\"%" PRIu64 "\"",
		      node->leak ? " likely" : "", node->identity,
		      FLAME_WIDTH * share(p, node->start),
		      FLAME_HEADER + row * FLAME_ROW,
		      FLAME_WIDTH * share(p, node->weight), FLAME_ROW - 1,
		      node->depth, node->weight);
	if (p->picture->difference)
		strbuf_printf(p->out,
			      " data-before=\"%" PRIu64 "\" "
			      "data-now=\"%" PRIu64 "\"",
			      node->before, node->now);
	if (mark)
		strbuf_printf(p->out, " data-mark=\"%c\"", mark);
	strbuf_putc(p->out, '>');
}

static void add_frame(const struct painting *p, const struct flame_node *node)
{
	begin_frame(p, node);
	add_title(p, node);
	if (p->picture->difference)
		flame_difference_add_bars(node, p->out);
	else
		add_rect(p, node);
	add_text(p, node, FLAME_WIDTH * share(p, node->weight));
	strbuf_puts(p->out, "</svg>\n");
}

void flame_frames_add(const struct flame_picture *picture, struct strbuf *out)
{
	const struct painting painting = { picture, out };
	const struct flame_node *node;

	for (node = picture->tree->root; node; node = flame_tree_next(node))
		add_frame(&painting, node);
}
