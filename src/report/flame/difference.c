/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/flame/difference.h"

#include "report/format/amounts.h"

/* Weights are sums of the larger side: what is above a side has come, or
   gone. */

static uint64_t grown(const struct flame_node *node)
{
	return node->weight - node->before;
}

static uint64_t shrunk(const struct flame_node *node)
{
	return node->weight - node->now;
}

static void add_change(const struct flame_node *node, struct strbuf *out)
{
	amounts_add_change(out, node->before, node->now);
	if (!node->before)
		strbuf_puts(out, ", new");
	else if (!node->now)
		strbuf_puts(out, ", gone");
	else
		strbuf_printf(out, ", %+.2f%%",
			      100 * ((double)node->now - node->before) /
				      node->before);
}

void flame_difference_add_text(const struct flame_node *node, const char *unit,
			       struct strbuf *out)
{
	strbuf_puts(out, "before ");
	amounts_add_number(out, node->before);
	strbuf_printf(out, " %s, now ", unit);
	amounts_add_number(out, node->now);
	strbuf_puts(out, ": ");
	if (!grown(node) && !shrunk(node))
		strbuf_puts(out, "as before");
	else
		add_change(node, out);
}

void flame_difference_add_parts(const struct flame_node *node,
				struct strbuf *out)
{
	if (!grown(node) || !shrunk(node))
		return;
	strbuf_puts(out, "; parts grew by ");
	amounts_add_number(out, grown(node));
	strbuf_puts(out, ", others shrank by ");
	amounts_add_number(out, shrunk(node));
}

const char *flame_difference_kind(const struct flame_node *node)
{
	if (!grown(node) && !shrunk(node))
		return "as before";
	if (grown(node) && shrunk(node))
		return "grown and shrunk";
	if (grown(node))
		return node->before ? "GROWN" : "NEW";
	return node->now ? "SHRUNK" : "GONE";
}

char flame_difference_mark(const struct flame_node *node)
{
	if (!node->weight)
		return '\0';
	return !node->before ? '+' : !node->now ? '-' : '\0';
}

static void add_bar(const struct flame_node *node, const char *class,
		    double start, double width, struct strbuf *out)
{
	if (width > 0)
		strbuf_printf(out,
			      "<rect class=\"%s\" x=\"%.3f%%\" "
			      "width=\"%.3f%%\" height=\"100%%\"/>",
			      class, 100 * start / node->weight,
			      100 * width / node->weight);
}

void flame_difference_add_bars(const struct flame_node *node,
			       struct strbuf *out)
{
	double more = grown(node), less = shrunk(node);

	strbuf_puts(out, "<rect class=\"kept\" width=\"100%\" "
			 "height=\"100%\"/>");
	add_bar(node, "grown", node->weight - more - less, more, out);
	add_bar(node, "shrunk", node->weight - less, less, out);
	strbuf_puts(out, "<rect class=\"outline\" width=\"100%\" "
			 "height=\"100%\"/>");
}
