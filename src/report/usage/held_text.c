/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/usage/held_text.h"

#include <inttypes.h>
#include <string.h>

#include "report/format/amounts.h"
#include "report/format/json_writer.h"
#include "report/format/names.h"
#include "report/usage/held_branches.h"
#include "report/usage/leaks_text.h"

/* Deeper branches are left out of the text; and those that hold less than a
   hundredth of all, unless all rows are asked for. */
#define DEPTH_MOST  12
#define SHARE_LEAST 100

struct held_telling {
	const struct held_tree *tree;
	struct held_branches branches;
	unsigned top;
	uint64_t all, lost;
	bool huge, swapped; /* these columns are there */
	struct strbuf *out;
};

struct held_row {
	uint64_t bytes, blocks;
	struct page_sums pages;
	bool pages_known;
};

static void add_pages(struct held_telling *telling, uint64_t bytes, bool known)
{
	if (known)
		amounts_add_column(telling->out, bytes, 18);
	else
		strbuf_puts(telling->out, "                 -");
}

static void add_row(struct held_telling *telling, const struct held_row *row,
		    unsigned depth)
{
	struct strbuf *out = telling->out;

	amounts_add_column(out, row->bytes, 18);
	strbuf_printf(out, "%7.1f%%",
		      telling->all ? 100.0 * (double)row->bytes /
					     (double)telling->all :
				     0);
	add_pages(telling, row->pages.resident, row->pages_known);
	if (telling->huge)
		add_pages(telling, row->pages.huge, row->pages_known);
	if (telling->swapped)
		add_pages(telling, row->pages.swapped, row->pages_known);
	amounts_add_column(out, row->blocks, 13);
	strbuf_pad(out, out->length + 2 + 2 * (size_t)depth);
	if (depth)
		strbuf_puts(out, "> ");
}

static void add_name(const struct held *held, struct strbuf *out)
{
	names_escape(out, held->name);
	if (held->blocks == 1)
		strbuf_printf(out, " 0x%" PRIx64, held->first);
	if (held->blocks > 1) {
		strbuf_puts(out, " (");
		amounts_add_count(out, held->blocks, "block");
		strbuf_printf(out, ", as 0x%" PRIx64 ")", held->first);
	}
	strbuf_putc(out, '\n');
}

static size_t count_below(const struct held_telling *telling, size_t at)
{
	return telling->branches.first[at + 1] - telling->branches.first[at];
}

static size_t below(const struct held_telling *telling, size_t at, size_t i)
{
	return telling->branches.list[telling->branches.first[at] + i];
}

/* A variable with one pointer is told by that. */
static size_t only_one(const struct held_telling *telling, size_t at)
{
	const struct held *list = telling->tree->list;

	while (!list[at].blocks && count_below(telling, at) == 1 &&
	       !list[below(telling, at, 0)].blocks)
		at = below(telling, at, 0);
	return at;
}

static bool is_told(const struct held_telling *telling, size_t at, size_t i)
{
	return !telling->top ||
	       (i < telling->top &&
		telling->tree->list[at].all_bytes * SHARE_LEAST >=
			telling->all);
}

static void add_below(struct held_telling *telling, size_t at, unsigned depth);

static void add_branch(struct held_telling *telling, size_t at, unsigned depth)
{
	const struct held *held;

	at = only_one(telling, at);
	held = &telling->tree->list[at];
	add_row(telling,
		&(struct held_row){ held->all_bytes, held->all_blocks,
				    held->all_pages,
				    telling->tree->pages_known },
		depth);
	add_name(held, telling->out);
	if (depth < DEPTH_MOST)
		add_below(telling, at, depth + 1);
}

static void add_below(struct held_telling *telling, size_t at, unsigned depth)
{
	struct held_row others = { .pages_known = telling->tree->pages_known };
	uint64_t rows = 0;

	for (size_t i = 0; i < count_below(telling, at); i++) {
		const size_t next = below(telling, at, i);
		const struct held *held = &telling->tree->list[next];

		if (is_told(telling, next, i)) {
			add_branch(telling, next, depth);
			continue;
		}
		rows++;
		others.bytes += held->all_bytes;
		page_sums_add(&others.pages, &held->all_pages);
		others.blocks += held->all_blocks;
	}
	/* Crumbs below a branch follow from its own line. */
	if (!rows || depth)
		return;
	add_row(telling, &others, depth);
	amounts_add_count(telling->out, rows, "more row");
	strbuf_puts(telling->out, " (--top)\n");
}

static void add_lost(struct held_telling *telling, const struct leaks *leaks)
{
	for (unsigned kind = REACH_DEFINITE; kind < REACH_REACHED; kind++) {
		const struct reach_total *total = &leaks->reach.totals[kind];

		if (!total->blocks)
			continue;
		add_row(telling,
			&(struct held_row){ .bytes = total->bytes,
					    .blocks = total->blocks },
			0);
		strbuf_printf(telling->out, "nobody: %s (--leaks)\n",
			      leaks_kind_name(kind));
	}
}

static uint64_t sum_of(const struct leaks *leaks)
{
	uint64_t bytes = 0;

	for (unsigned kind = 0; kind < REACH_KINDS; kind++)
		bytes += leaks->reach.totals[kind].bytes;
	return bytes;
}

static void add_heading(const struct held_telling *telling)
{
	strbuf_puts(telling->out,
		    "             bytes   share          resident");
	if (telling->huge)
		strbuf_puts(telling->out, "     in huge pages");
	if (telling->swapped)
		strbuf_puts(telling->out, "       swapped out");
	strbuf_puts(telling->out, "       blocks  are reached only through\n");
}

void held_text(const struct leaks *leaks, const struct held_tree *tree,
	       unsigned top, struct strbuf *out)
{
	struct held_telling telling = {
		.tree = tree,
		.top = top,
		.all = sum_of(leaks),
		.huge = tree->huge_known && tree->list->all_pages.huge,
		.swapped = tree->list->all_pages.swapped,
		.out = out,
	};

	held_branches_make(tree, &telling.branches);
	strbuf_printf(out, "process %d (", (int)leaks->pid);
	names_escape(out, leaks->name);
	strbuf_puts(out, "): who alone holds its blocks; ");
	leaks_add_pause(leaks, out);
	add_heading(&telling);
	add_below(&telling, 0, 0);
	add_lost(&telling, leaks);
	if (tree->simplified)
		strbuf_puts(out, "there are too many names: some blocks count "
				 "with what holds them\n");
	if (tree->curtailed)
		leaks_add_curtailed(out);
	held_branches_fini(&telling.branches);
}

/* ---- JSON ---- */

/* A row for each, as a tree of it might be too deep for whoever reads it. */
static json_t *held_object(const struct held *held,
			   const struct held_tree *tree)
{
	json_t *object = json_object();

	json_object_set_new(object, "name",
			    json_text(held->name, strlen(held->name)));
	json_set_number(object, "above", held->above);
	json_set_number(object, "blocks", held->blocks);
	json_set_number(object, "bytes", held->bytes);
	json_set_number(object, "all_blocks", held->all_blocks);
	json_set_number(object, "all_bytes", held->all_bytes);
	if (tree->pages_known) {
		json_set_number(object, "resident", held->pages.resident);
		json_set_number(object, "swapped", held->pages.swapped);
		json_set_number(object, "all_resident",
				held->all_pages.resident);
		json_set_number(object, "all_swapped", held->all_pages.swapped);
	}
	if (tree->huge_known) {
		json_set_number(object, "huge", held->pages.huge);
		json_set_number(object, "all_huge", held->all_pages.huge);
	}
	if (held->blocks)
		json_object_set_new(object, "first", json_address(held->first));
	return object;
}

json_t *held_json(const struct leaks *leaks, const struct held_tree *tree)
{
	json_t *root = json_object(), *rows = json_array();

	json_set_number(root, "pid", (uint64_t)leaks->pid);
	json_set_number(root, "pause_ns", leaks->pause_ns);
	json_set_number(root, "bytes", sum_of(leaks));
	if (tree->curtailed)
		json_object_set_new(root, "curtailed", json_true());
	for (size_t i = 0; i < tree->count; i++)
		json_array_append_new(rows, held_object(&tree->list[i], tree));
	json_object_set_new(root, "held", rows);
	return root;
}
