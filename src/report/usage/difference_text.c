/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/usage/difference_text.h"

#include <inttypes.h>
#include <string.h>

#include "report/format/amounts.h"
#include "report/format/json_writer.h"
#include "report/format/names.h"

static const char *const fates[] = {
	[FATE_NEW] = "new",
	[FATE_GONE] = "gone",
	[FATE_SURVIVED] = "survived",
};

void difference_add_time(const struct snapshot *snapshot, struct strbuf *out)
{
	amounts_add_date(out, snapshot->wall);
}

static void add_process(const char *what, const struct snapshot *snapshot,
			struct strbuf *out)
{
	strbuf_printf(out, "%s: process %d (", what, (int)snapshot->view.pid);
	names_escape(out, snapshot->view.name);
	strbuf_puts(out, ") at ");
	difference_add_time(snapshot, out);
	strbuf_puts(out, ", ");
	amounts_add_number(out, snapshot->view.vitals.resident_bytes);
	strbuf_puts(out, " bytes resident\n");
}

static void add_kinds(const struct snapshot *old_one,
		      const struct snapshot *new_one, struct strbuf *out)
{
	strbuf_puts(out, "---- RESIDENT\n");
	for (unsigned i = 0; i < MAPPING_KINDS; i++) {
		const uint64_t before = old_one->view.kinds[i].resident;
		const uint64_t now = new_one->view.kinds[i].resident;

		if (before == now)
			continue;
		amounts_add_column(out, before, 16);
		amounts_add_column(out, now, 16);
		strbuf_puts(out, "  ");
		amounts_add_change(out, before, now);
		strbuf_printf(out, "  %s\n", mapping_kind_name(i));
	}
}

static void add_totals(const struct difference *difference, struct strbuf *out)
{
	strbuf_puts(out, "---- BLOCKS\n");
	for (unsigned i = 0; i < FATES; i++) {
		strbuf_printf(out, "%10s: ", fates[i]);
		amounts_add_held(out, difference->totals[i].bytes,
				 difference->totals[i].blocks);
		strbuf_putc(out, '\n');
	}
	if (!difference->lost_since.blocks)
		return;
	strbuf_puts(out, "of those that survived were reachable before, and "
			 "are lost now: ");
	amounts_add_held(out, difference->lost_since.bytes,
			 difference->lost_since.blocks);
	strbuf_putc(out, '\n');
}

static void add_row(const struct difference_row *row, struct strbuf *out)
{
	amounts_add_column(out, row->blocks * row->size, 16);
	amounts_add_column(out, row->blocks, 12);
	amounts_add_column(out, row->size, 12);
	amounts_add_column(out, row->lost, 12);
	strbuf_printf(out, "  %-8s  0x%" PRIx64, fates[row->fate], row->first);
	if (row->class) {
		strbuf_puts(out, "  ");
		names_escape(out, row->class);
	}
	if (row->owner) {
		strbuf_puts(out, "  only through ");
		names_escape(out, row->owner);
	}
	strbuf_putc(out, '\n');
}

static void add_rows(const struct difference *difference, unsigned top,
		     struct strbuf *out)
{
	uint64_t shown = 0, left = 0;

	if (difference->count)
		strbuf_puts(out, "           bytes      blocks   each up to    "
				 "    lost  fate      first           class, "
				 "who holds them\n");
	for (size_t i = 0; i < difference->count; i++) {
		const struct difference_row *row = &difference->rows[i];

		if (i && row->fate != row[-1].fate)
			shown = 0;
		if (top && shown++ >= top)
			left++;
		else
			add_row(row, out);
	}
	if (!left)
		return;
	amounts_add_count(out, left, "more row");
	strbuf_puts(out, " (--top)\n");
}

void difference_text(const struct snapshot *old_one,
		     const struct snapshot *new_one,
		     const struct difference *difference, unsigned top,
		     struct strbuf *out)
{
	add_process("old", old_one, out);
	add_process("new", new_one, out);
	if (!difference->same_process)
		strbuf_puts(out, "they are different processes: no block of "
				 "one can be in the other\n");
	add_kinds(old_one, new_one, out);
	add_totals(difference, out);
	add_rows(difference, top, out);
}

/* ---- JSON ---- */

static json_t *total_object(const struct reach_total *total)
{
	json_t *object = json_object();

	json_set_number(object, "blocks", total->blocks);
	json_set_number(object, "bytes", total->bytes);
	return object;
}

static void set_name(json_t *object, const char *key, const char *name)
{
	if (name)
		json_object_set_new(object, key, json_text(name, strlen(name)));
}

static json_t *row_object(const struct difference_row *row)
{
	json_t *object = json_object();

	json_set_text(object, "fate", fates[row->fate]);
	json_set_number(object, "size", row->size);
	json_set_number(object, "blocks", row->blocks);
	json_set_number(object, "lost", row->lost);
	json_object_set_new(object, "first", json_address(row->first));
	set_name(object, "class", row->class);
	set_name(object, "owner", row->owner);
	return object;
}

static json_t *kinds_object(const struct snapshot *snapshot)
{
	json_t *object = json_object();

	json_set_number(object, "pid", (uint64_t)snapshot->view.pid);
	json_set_number(object, "time_ns", snapshot->wall);
	json_set_number(object, "resident",
			snapshot->view.vitals.resident_bytes);
	for (unsigned i = 0; i < MAPPING_KINDS; i++)
		if (snapshot->view.kinds[i].mappings)
			json_set_number(object, mapping_kind_name(i),
					snapshot->view.kinds[i].resident);
	return object;
}

json_t *difference_json(const struct snapshot *old_one,
			const struct snapshot *new_one,
			const struct difference *difference)
{
	json_t *root = json_object(), *rows = json_array();

	json_object_set_new(root, "before", kinds_object(old_one));
	json_object_set_new(root, "after", kinds_object(new_one));
	json_object_set_new(root, "same_process",
			    json_boolean(difference->same_process));
	for (unsigned i = 0; i < FATES; i++)
		json_object_set_new(root, fates[i],
				    total_object(&difference->totals[i]));
	json_object_set_new(root, "lost_since",
			    total_object(&difference->lost_since));
	for (size_t i = 0; i < difference->count; i++)
		json_array_append_new(rows, row_object(&difference->rows[i]));
	json_object_set_new(root, "rows", rows);
	return root;
}
