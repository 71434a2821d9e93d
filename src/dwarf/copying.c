/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/copying.h"

#include <string.h>

/* "= default" where it is declared; later on it is as if it were written. */
static bool is_defaulted(const struct die *function)
{
	uint64_t how;

	return die_number(function, DW_AT_defaulted, &how) &&
	       how == DW_DEFAULTED_in_class;
}

/* Of a template, the class's name goes on with its arguments. */
static bool is_constructor(const struct die *class, const struct die *function)
{
	const char *owner = die_string(class, DW_AT_name);
	const char *name = die_string(function, DW_AT_name);

	return owner && name && !strncmp(owner, name, strlen(name)) &&
	       strlen(name) == strcspn(owner, "<");
}

static bool is_qualifier(unsigned tag)
{
	return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type;
}

static bool is_reference(unsigned tag)
{
	return tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

/* The next type; false (and nothing is left) when there is none. */
static bool to_target(struct die *type)
{
	struct die next;
	bool found = die_reference(type, DW_AT_type, &next);

	die_put(type);
	if (found)
		*type = next;
	return found;
}

/* A reference to the class itself. */
static bool takes_class(const struct die *parameter, const struct die *class)
{
	struct die type;
	bool found;

	if (!die_reference(parameter, DW_AT_type, &type))
		return false;
	if (!is_reference(die_tag(&type))) {
		die_put(&type);
		return false;
	}
	if (!to_target(&type))
		return false;
	for (int i = 0; i < 2 && is_qualifier(die_tag(&type)); i++)
		if (!to_target(&type))
			return false;
	found = type.dwarf == class->dwarf &&
		die_offset(&type) == die_offset(class);
	die_put(&type);
	return found;
}

/* What it has besides `this' is one object of the class, to copy or move. */
static bool copies(const struct die *class, const struct die *function)
{
	struct die parameter;
	unsigned count = 0;
	bool found = false;

	for_each_child(function, &parameter) {
		if (die_tag(&parameter) != DW_TAG_formal_parameter ||
		    die_flag(&parameter, DW_AT_artificial))
			continue;
		found = takes_class(&parameter, class);
		count++;
	}
	return count == 1 && found;
}

static bool is_destructor(const struct die *function)
{
	const char *name = die_string(function, DW_AT_name);

	return name && *name == '~';
}

/* Those that the compiler makes by itself are artificial. */
static void add_function(struct copying *copying, const struct die *class,
			 const struct die *function)
{
	bool is_copy;

	if (die_flag(function, DW_AT_artificial))
		return;
	is_copy = is_constructor(class, function) && copies(class, function);
	if (!is_copy && !is_destructor(function))
		return;
	if (is_copy && is_defaulted(function))
		copying->kept = true;
	else if (is_copy && die_flag(function, DW_AT_deleted))
		copying->deleted = true;
	else if (!is_defaulted(function))
		copying->forbidden = true;
}

static bool is_virtual_table(const struct die *member)
{
	const char *name = die_flag(member, DW_AT_artificial) ?
				   die_string(member, DW_AT_name) :
				   NULL;

	return name && name[0] == '_' && name[1] == 'v';
}

void copying_add(struct copying *copying, const struct die *class,
		 const struct die *child)
{
	switch (die_tag(child)) {
	case DW_TAG_member:
		copying->forbidden |= is_virtual_table(child);
		break;
	case DW_TAG_inheritance:
		copying->forbidden |= die_has(child, DW_AT_virtuality);
		break;
	case DW_TAG_subprogram:
		add_function(copying, class, child);
		break;
	}
}

bool copying_is_by_address(const struct copying *copying,
			   const struct die *class)
{
	uint64_t convention;

	/* DWARF 5 has a word for it; clang uses it, GCC 12 doesn't. */
	if (die_number(class, DW_AT_calling_convention, &convention))
		return convention == DW_CC_pass_by_reference;
	return copying->forbidden || (copying->deleted && !copying->kept);
}
