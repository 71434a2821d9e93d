/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/die.h"

/* How long a chain of references may be. */
#define CHAIN_MAX 16

/*
 * An entry may say the rest elsewhere: a definition outside of its class in
 * the class, a copy of an inlined function in the one that it was made of.
 */
struct chain {
	struct die held;
	unsigned length;
};

/* The one behind at, which is the first one or held; NULL at the end. */
static const struct die *next(struct chain *chain, const struct die *at)
{
	struct die found;

	if (chain->length++ == CHAIN_MAX ||
	    (!die_reference(at, DW_AT_abstract_origin, &found) &&
	     !die_reference(at, DW_AT_specification, &found)))
		return NULL;
	die_put(&chain->held);
	chain->held = found;
	return &chain->held;
}

const char *die_inherited_string(const struct die *die, unsigned attribute)
{
	struct chain chain = { .length = 0 };
	const char *found = NULL;

	for (; die && !found; die = found ? NULL : next(&chain, die))
		found = die_string(die, attribute);
	die_put(&chain.held);
	return found;
}

bool die_inherited_number(const struct die *die, unsigned attribute,
			  uint64_t *ret)
{
	struct chain chain = { .length = 0 };
	bool found = false;

	for (; die && !found; die = found ? NULL : next(&chain, die))
		found = die_number(die, attribute, ret);
	die_put(&chain.held);
	return found;
}

bool die_inherited_reference(const struct die *die, unsigned attribute,
			     struct die *ret)
{
	struct chain chain = { .length = 0 };
	bool found = false;

	for (; die && !found; die = found ? NULL : next(&chain, die))
		found = die_reference(die, attribute, ret);
	die_put(&chain.held);
	return found;
}

bool die_inherited_flag(const struct die *die, unsigned attribute)
{
	struct chain chain = { .length = 0 };
	bool found = false;

	for (; die && !found; die = found ? NULL : next(&chain, die))
		found = die_flag(die, attribute);
	die_put(&chain.held);
	return found;
}

static const char *linkage_name(const struct die *die)
{
	const char *name = die_string(die, DW_AT_linkage_name);

	return name ? name : die_string(die, DW_AT_MIPS_linkage_name);
}

const char *die_function_name(const struct die *die, uint64_t *line_ret,
			      struct die *declared_ret)
{
	const char *linkage = NULL, *name = NULL;
	struct chain chain = { .length = 0 };

	*line_ret = 0;
	*declared_ret = (struct die){ die->dwarf, NULL };
	for (; die && !linkage; die = linkage ? NULL : next(&chain, die)) {
		linkage = linkage_name(die);
		if (!name) {
			name = die_string(die, DW_AT_name);
			if (name && !linkage)
				(void)die_at(die->dwarf, die_offset(die),
					     declared_ret);
		}
		if (!*line_ret)
			(void)die_number(die, DW_AT_decl_line, line_ret);
	}
	die_put(&chain.held);
	if (linkage)
		die_put(declared_ret);
	return linkage ? linkage : name;
}

bool die_origin(const struct die *die, struct die *ret)
{
	struct die found;
	unsigned n;

	if (!die_reference(die, DW_AT_abstract_origin, ret))
		return false;
	for (n = 0;
	     n < CHAIN_MAX && die_reference(ret, DW_AT_abstract_origin, &found);
	     n++) {
		die_put(ret);
		*ret = found;
	}
	return true;
}
