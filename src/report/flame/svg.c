/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/flame/svg.h"

#include "base/file.h"
#include "report/flame/difference.h"
#include "report/flame/flamegraph_text.h"
#include "report/flame/frames.h"
#include "report/flame/hues.h"
#include "report/format/amounts.h"
#include "report/format/names.h"
#include "report/format/xml.h"

#define PROGRAM_MAX 90
#define NOTE_MAX    150
#define LIBRARY_MAX 24

void flame_svg_add_heading(const char *title, const char *program,
			   const char *name, pid_t pid, uint64_t wall,
			   struct strbuf *out)
{
	const bool named = names_differ(program, name);

	strbuf_printf(out, "%s Flame Graph: ", title);
	if (named) {
		xml_add(out, name, PROGRAM_MAX);
		strbuf_puts(out, " (");
	}
	xml_add(out, program, PROGRAM_MAX);
	strbuf_printf(out, "%spid %d), ", named ? ", " : " (", (int)pid);
	amounts_add_date(out, wall);
}

static void add_total(const struct flame_picture *picture, struct strbuf *out)
{
	const struct flame_node *root = picture->tree->root;

	if (!picture->difference) {
		amounts_add_number(out, root->weight);
		strbuf_printf(out, " %s", picture->unit);
		return;
	}
	flame_difference_add_text(root, picture->unit, out);
	strbuf_puts(out, "; <tspan class=\"grown\">\u25a0</tspan> more, + new; "
			 "<tspan class=\"shrunk\">\u25a0</tspan> less, - gone; "
			 "<tspan class=\"kept\">\u25a0</tspan> as before");
}

static void add_hues(const struct flame_tree *tree, struct strbuf *out)
{
	struct flame_hue hues[FLAME_HUES_MAX];
	const size_t count = flame_hues(tree, hues);

	for (size_t i = 0; i < count; i++) {
		const struct flame_colour colour =
			flame_colour(hues[i].library, "");

		strbuf_printf(out,
			      "%s<tspan fill=\"rgb(%d,%d,%d)\">\u25a0</tspan> ",
			      i ? " " : "; ", colour.red, colour.green,
			      colour.blue);
		xml_add(out, file_base_name(hues[i].library), LIBRARY_MAX);
	}
}

static void add_subheading(const struct flame_picture *picture,
			   struct strbuf *out)
{
	const struct flame_tree *tree = picture->tree;

	add_total(picture, out);
	if (picture->note)
		xml_add(out, picture->note, NOTE_MAX);
	if (tree->leaks) {
		strbuf_puts(out, "; ! marks ");
		amounts_add_count(out, tree->leaks, "LIKELY leak");
	}
	if (!picture->difference)
		add_hues(tree, out);
	if (tree->left_out) {
		strbuf_puts(out, "; ");
		amounts_add_count(out, tree->left_out, "smaller site");
		strbuf_puts(out, " not shown one by one");
	}
}

static void begin(const struct flame_picture *picture, struct strbuf *out)
{
	unsigned height =
		FLAME_HEADER + picture->tree->height * FLAME_ROW + FLAME_FOOTER;

	strbuf_printf(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" "
		      "viewBox=\"0 0 %d %u\" width=\"%d\" height=\"%u\">\n"
		      "<title>%s</title>\n<style>\n%s</style>\n",
		      FLAME_WIDTH, height, FLAME_WIDTH, height,
		      picture->heading, flamegraph_css);
	strbuf_puts(out, "<defs><linearGradient id=\"paper\" x2=\"0\" y2=\"1\">"
			 "<stop class=\"top\" offset=\"0\"/>"
			 "<stop class=\"bottom\" offset=\"1\"/>"
			 "</linearGradient></defs>\n"
			 "<rect fill=\"url(#paper)\" width=\"100%\" "
			 "height=\"100%\"/>\n");
}

/* It stands behind the boxes, for it stays in view above them. */
static void add_header(const struct flame_picture *picture, struct strbuf *out)
{
	strbuf_printf(out,
		      "<g class=\"header\">\n"
		      "<rect class=\"top\" width=\"100%%\" height=\"%d\"/>\n"
		      "<text class=\"heading\" x=\"50%%\" y=\"18\">%s</text>\n"
		      "<text class=\"subheading\" x=\"50%%\" y=\"35\">",
		      FLAME_HEADER - 4, picture->heading);
	add_subheading(picture, out);
	strbuf_puts(out, "</text>\n<text class=\"hint\" x=\"8\" y=\"57\">"
			 "In a browser: click to zoom, / to search"
			 "</text>\n<text class=\"detail\" x=\"8\" "
			 "y=\"80\"></text>\n</g>\n");
}

void flame_svg_add(const struct flame_picture *picture, struct strbuf *out)
{
	begin(picture, out);
	strbuf_puts(out, "<g class=\"frames\">\n");
	flame_frames_add(picture, out);
	strbuf_puts(out, "</g>\n");
	add_header(picture, out);
	strbuf_printf(out,
		      "<script><![CDATA[\n\"use strict\";\n(() => {\n%s%s"
		      "})();\n]]></script>\n</svg>\n",
		      flamegraph_js, flamegraph_tools_js);
}
