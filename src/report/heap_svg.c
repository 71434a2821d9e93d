/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <time.h>

#include "base/clock.h"
#include "report/amounts.h"
#include "report/flamegraph_text.h"
#include "report/heap_export.h"
#include "report/heap_svg_frames.h"
#include "report/heap_tree.h"
#include "report/xml.h"

/*
 * A flame graph: one file that needs nothing else. It is a picture that can be
 * read as it is; its script makes it larger, searches, and so on. No text of
 * the traced program gets into the script or the style.
 */

/* A browser becomes slow with more boxes. */
#define NODES_MAX   20000
#define HEADING_MAX 150

static const struct {
	const char *what;
	const char *unit;
} values[] = {
	[HEAP_INUSE_BYTES] = { "Heap in use", "bytes" },
	[HEAP_INUSE_BLOCKS] = { "Heap in use", "blocks" },
	[HEAP_ALLOC_BYTES] = { "Heap acquired", "bytes" },
	[HEAP_ALLOC_BLOCKS] = { "Heap acquired", "blocks" },
};

static void add_time(uint64_t monotonic, struct strbuf *out)
{
	time_t second = clock_wall(monotonic) / NS_PER_SECOND;
	char text[32] = "";
	struct tm tm;

	if (localtime_r(&second, &tm))
		strftime(text, sizeof(text), "%F %T", &tm);
	strbuf_puts(out, text);
}

/* "Heap in use: PROGRAM (pid N), TIME" */
static void add_heading(const struct heap_export *export, struct strbuf *out)
{
	const struct watched *process = export->process;

	strbuf_printf(out, "%s: ", values[export->options->value].what);
	xml_add(out, process->program, HEADING_MAX - 60);
	strbuf_printf(out, " (pid %d), ", (int)process->pid);
	add_time(export->now, out);
}

static void add_subheading(const struct heap_tree *tree, const char *unit,
			   struct strbuf *out)
{
	amounts_add_number(out, tree->root->weight);
	strbuf_printf(out, " %s", unit);
	if (tree->leaks) {
		strbuf_puts(out, "; ! marks ");
		amounts_add_count(out, tree->leaks, "LIKELY leak");
	}
	if (tree->left_out) {
		strbuf_puts(out, "; ");
		amounts_add_count(out, tree->left_out, "smaller site");
		strbuf_puts(out, " not shown one by one");
	}
}

static void begin(const struct heap_export *export,
		  const struct heap_tree *tree, struct strbuf *out)
{
	unsigned height = SVG_HEADER + tree->height * SVG_ROW + SVG_FOOTER;

	strbuf_printf(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" "
		      "viewBox=\"0 0 %d %u\" width=\"%d\" height=\"%u\">\n"
		      "<title>", SVG_WIDTH, height, SVG_WIDTH, height);
	add_heading(export, out);
	strbuf_printf(out, "</title>\n<style>\n%s</style>\n", flamegraph_css);
	strbuf_puts(out,
		    "<defs><linearGradient id=\"paper\" x2=\"0\" y2=\"1\">"
		    "<stop class=\"top\" offset=\"0\"/>"
		    "<stop class=\"bottom\" offset=\"1\"/>"
		    "</linearGradient></defs>\n"
		    "<rect fill=\"url(#paper)\" width=\"100%\" "
		    "height=\"100%\"/>\n");
}

/* It stands behind the boxes, for it stays in view above them. */
static void add_header(const struct heap_export *export,
		       const struct heap_tree *tree, const char *unit,
		       struct strbuf *out)
{
	strbuf_printf(out,
		      "<g class=\"header\">\n"
		      "<rect class=\"top\" width=\"100%%\" height=\"%d\"/>\n"
		      "<text class=\"heading\" x=\"50%%\" y=\"18\">",
		      SVG_HEADER - 4);
	add_heading(export, out);
	strbuf_puts(out, "</text>\n<text class=\"subheading\" x=\"50%\" "
			 "y=\"35\">");
	add_subheading(tree, unit, out);
	strbuf_puts(out, "</text>\n<text class=\"hint\" x=\"8\" y=\"57\">"
			 "In a browser: click to zoom, / to search"
			 "</text>\n<text class=\"detail\" x=\"8\" "
			 "y=\"80\"></text>\n</g>\n");
}

void heap_svg_make(const struct heap_export *export, struct strbuf *out)
{
	const char *unit = values[export->options->value].unit;
	struct heap_tree *tree = heap_tree_new(export, NODES_MAX);

	begin(export, tree, out);
	strbuf_puts(out, "<g class=\"frames\">\n");
	heap_svg_add_frames(tree, unit, out);
	strbuf_puts(out, "</g>\n");
	add_header(export, tree, unit, out);
	strbuf_printf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n",
		      flamegraph_js);
	heap_tree_free(tree);
}
