/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/calls.h"

#include <stdlib.h>

#include "dwarf/debug_call.h"
#include "dwarf/wire.h"

/* How deep blocks are nested in a function, and what is looked at in all. */
#define DEPTH_MAX   128
#define ENTRIES_MAX 200000

static bool is_site(const struct die *die)
{
	unsigned tag = die_tag(die);

	return tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site;
}

/*
 * The address behind the call. LLVM gives tail calls, which nothing returns
 * to, that of the instruction only: then one in it.
 */
static bool address_behind(const struct die *site, uint64_t *ret)
{
	if (die_address(site, DW_AT_call_return_pc, ret) ||
	    die_address(site, DW_AT_low_pc, ret))
		return true;
	if (!die_address(site, DW_AT_call_pc, ret))
		return false;
	++*ret;
	return true;
}

bool calls_is_site(const struct die *die, uint64_t address)
{
	uint64_t behind;

	return is_site(die) && address_behind(die, &behind) &&
	       behind == address + 1;
}

uint64_t calls_entry(const struct unit *unit, const struct die *function)
{
	size_t count;
	struct die_range *ranges = die_ranges(function, unit->base, &count);
	/* What was split off as unlikely comes later. */
	uint64_t entry = count ? ranges[0].low : 0;

	(void)die_address(function, DW_AT_entry_pc, &entry);
	free(ranges);
	return entry;
}

/* ---- targets ---- */

static void write_target(struct strbuf *out, enum debug_target_kind kind,
			 uint64_t address, const char *name)
{
	wire_put_u8(out, kind);
	wire_put_u64(out, address);
	wire_put_string(out, name);
}

/* The linker knows what other files may see by its name. */
static void write_named(struct unit *unit, const struct die *callee,
			struct strbuf *out)
{
	uint64_t address = 0, line;
	const char *name = NULL;
	struct die declared = { .handle = NULL };

	if (!die_flag(callee, DW_AT_declaration))
		address = unit_function_of(unit, callee);
	if (!address && die_inherited_flag(callee, DW_AT_external))
		name = die_function_name(callee, &line, &declared);
	else if (!address)
		address = unit_function_of(unit, callee);
	die_put(&declared);
	if (address)
		write_target(out, DEBUG_TARGET_ADDRESS, address, NULL);
	else
		write_target(out,
			     name ? DEBUG_TARGET_NAME : DEBUG_TARGET_UNKNOWN, 0,
			     name);
}

static void write_callee(struct unit *unit, const struct die *callee,
			 struct strbuf *out)
{
	uint64_t entry = die_tag(callee) == DW_TAG_subprogram ?
				 calls_entry(unit, callee) :
				 0;

	if (entry)
		write_target(out, DEBUG_TARGET_ADDRESS, entry, NULL);
	else
		write_named(unit, callee, out);
}

void calls_write_target(struct unit *unit, const struct die *site,
			struct strbuf *out)
{
	static const unsigned attributes[] = { DW_AT_call_origin,
					       DW_AT_abstract_origin };
	uint64_t address;
	struct die callee;

	for (size_t i = 0; site && i < ARRAY_SIZE(attributes); i++) {
		if (die_reference(site, attributes[i], &callee)) {
			write_callee(unit, &callee, out);
			die_put(&callee);
			return;
		}
		/* GCC: of what it has no entry for. */
		if (die_address(site, attributes[i], &address)) {
			write_target(out, DEBUG_TARGET_ADDRESS, address, NULL);
			return;
		}
	}
	write_target(out, DEBUG_TARGET_UNKNOWN, 0, NULL);
}

/* ---- tail calls ---- */

struct tail_list {
	struct unit *unit;
	struct strbuf targets;
	uint32_t count;
	unsigned left; /* entries that may still be looked at */
};

static bool is_tail(const struct die *site)
{
	return die_flag(site, DW_AT_call_tail_call) ||
	       die_flag(site, DW_AT_GNU_tail_call);
}

/* False when it would be too many. */
static bool add_tail(struct tail_list *tails, const struct die *site)
{
	uint64_t behind;

	if (!is_tail(site))
		return true;
	if (tails->count == WIRE_TAILS_MAX || !address_behind(site, &behind))
		return false;
	wire_put_u64(&tails->targets, behind);
	calls_write_target(tails->unit, site, &tails->targets);
	tails->count++;
	return true;
}

static bool may_have_sites(unsigned tag)
{
	switch (tag) {
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	}
	return false;
}

static bool add_tails(struct tail_list *tails, const struct die *parent,
		      unsigned depth)
{
	bool good = depth < DEPTH_MAX;
	struct die die;

	for_each_child(parent, &die) {
		if (!tails->left--)
			good = false;
		else if (is_site(&die))
			good = good && add_tail(tails, &die);
		else if (may_have_sites(die_tag(&die)))
			good = good && add_tails(tails, &die, depth + 1);
		if (!good) {
			die_put(&die);
			break;
		}
	}
	return good;
}

/* Whether the compiler says that it has described every tail call. */
static bool says_all(const struct die *function)
{
	static const unsigned attributes[] = {
		DW_AT_call_all_calls,
		DW_AT_call_all_tail_calls,
		DW_AT_GNU_all_call_sites,
		DW_AT_GNU_all_tail_call_sites,
	};

	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
		if (die_flag(function, attributes[i]))
			return true;
	return false;
}

void calls_write_tails(struct infofile *file, uint64_t address,
		       struct strbuf *out)
{
	struct tail_list tails = { .unit = infofile_unit(file, address),
				   .left = ENTRIES_MAX };
	struct die function;
	bool all = false;

	if (tails.unit && unit_function_at(tails.unit, address, &function)) {
		all = calls_entry(tails.unit, &function) == address &&
		      says_all(&function) && add_tails(&tails, &function, 0);
		die_put(&function);
	}
	wire_put_u8(out, all);
	wire_put_u32(out, all ? tails.count : 0);
	if (all)
		strbuf_add(out, strbuf_text(&tails.targets),
			   tails.targets.length);
	strbuf_fini(&tails.targets);
}
