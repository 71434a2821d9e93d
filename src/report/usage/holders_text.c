/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/usage/holders_text.h"

#include <inttypes.h>
#include <string.h>

#include "report/format/amounts.h"
#include "report/format/json_writer.h"
#include "report/format/names.h"
#include "report/usage/leaks_text.h"

static void add_link(const struct holder_link *link, struct strbuf *out)
{
	names_escape(out, link->name);
	if (link->members)
		names_escape(out, link->members);
	if (link->block)
		strbuf_printf(out, " 0x%" PRIx64, link->block);
	if (link->block && link->offset)
		strbuf_printf(out, "+0x%" PRIx64, link->offset);
}

/* How many blocks follow each other that are called alike. */
static size_t run_of(const struct holder_chain *chain, size_t first)
{
	size_t end = first + 1;

	while (first && end + 1 < chain->count &&
	       !strcmp(chain->links[end].name, chain->links[first].name))
		end++;
	return end - first;
}

static void add_chain(const struct holder_chain *chain, uint64_t all,
		      struct strbuf *out)
{
	amounts_add_held(out, chain->bytes, chain->blocks);
	strbuf_printf(out, " (%.1f%%), %s\n",
		      all ? 100.0 * (double)chain->bytes / (double)all : 0,
		      leaks_kind_name(chain->kind));
	for (size_t i = 0, run; i < chain->count; i += run) {
		run = run_of(chain, i);
		strbuf_puts(out, i ? "    > " : "    ");
		add_link(&chain->links[i], out);
		if (run > 1) {
			strbuf_puts(out, " and ");
			amounts_add_count(out, run - 1, "more block");
			strbuf_puts(out, " like it");
		}
		strbuf_putc(out, '\n');
	}
}

static void add_owner(const struct holders *holders, struct strbuf *out)
{
	if (!holders->owner)
		return;
	strbuf_printf(out, "%.1f%% of the bytes are reached only through ",
		      holders->bytes ? 100.0 * (double)holders->own_bytes /
					       (double)holders->bytes :
				       0);
	names_escape(out, holders->owner);
	strbuf_putc(out, '\n');
}

/* Of much that was asked for, little may ever have been used. */
static void add_pages(const struct leaks *leaks, const struct page_sums *pages,
		      struct strbuf *out)
{
	if (!leaks_pages_known(leaks))
		return;
	strbuf_puts(out, "of these are resident: ");
	amounts_add_number(out, pages->resident);
	if (leaks_huge_known(leaks)) {
		strbuf_puts(out, " (in huge pages ");
		amounts_add_number(out, pages->huge);
		strbuf_putc(out, ')');
	}
	strbuf_puts(out, "; swapped out: ");
	amounts_add_number(out, pages->swapped);
	strbuf_puts(out, " bytes\n");
}

void holders_text(const struct leaks *leaks, const struct holders *holders,
		  unsigned top, struct strbuf *out)
{
	const uint64_t all = holders->bytes;
	size_t rows = holders->count;

	strbuf_printf(out, "process %d (", (int)leaks->pid);
	names_escape(out, leaks->name);
	strbuf_puts(out, "): who holds ");
	amounts_add_held(out, all, holders->blocks);
	strbuf_puts(out, "; ");
	leaks_add_pause(leaks, out);
	add_pages(leaks, &holders->pages, out);
	add_owner(holders, out);
	if (top && rows > top)
		rows = top;
	for (size_t i = 0; i < rows; i++)
		add_chain(&holders->chains[i], all, out);
	if (holders->curtailed)
		leaks_add_curtailed(out);
	if (rows == holders->count)
		return;
	amounts_add_count(out, holders->count - rows, "more chain");
	strbuf_puts(out, " (--top)\n");
}

static json_t *chain_object(const struct holder_chain *chain)
{
	json_t *object = json_object(), *links = json_array();

	json_set_number(object, "blocks", chain->blocks);
	json_set_number(object, "bytes", chain->bytes);
	json_set_text(object, "verdict", leaks_kind_name(chain->kind));
	for (size_t i = 0; i < chain->count; i++) {
		const struct holder_link *link = &chain->links[i];
		json_t *one = json_object();

		json_object_set_new(one, "name",
				    json_text(link->name, strlen(link->name)));
		if (link->members)
			json_object_set_new(one, "members",
					    json_text(link->members,
						      strlen(link->members)));
		json_object_set_new(one, "block", json_address(link->block));
		json_set_number(one, "offset", link->offset);
		json_object_set_new(one, "where", json_address(link->where));
		json_array_append_new(links, one);
	}
	json_object_set_new(object, "links", links);
	return object;
}

json_t *holders_json(const struct leaks *leaks, const struct holders *holders)
{
	json_t *root = json_object(), *chains = json_array();

	json_set_number(root, "pid", (uint64_t)leaks->pid);
	json_set_number(root, "pause_ns", leaks->pause_ns);
	json_set_number(root, "blocks", holders->blocks);
	json_set_number(root, "bytes", holders->bytes);
	if (leaks_pages_known(leaks)) {
		json_set_number(root, "resident", holders->pages.resident);
		json_set_number(root, "swapped", holders->pages.swapped);
	}
	if (leaks_huge_known(leaks))
		json_set_number(root, "huge", holders->pages.huge);
	if (holders->curtailed)
		json_object_set_new(root, "curtailed", json_true());
	if (holders->owner) {
		json_set_text(root, "owner", holders->owner);
		json_set_number(root, "own_bytes", holders->own_bytes);
	}
	for (size_t i = 0; i < holders->count; i++)
		json_array_append_new(chains,
				      chain_object(&holders->chains[i]));
	json_object_set_new(root, "chains", chains);
	return root;
}
