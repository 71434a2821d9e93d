/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "prototype/layout.h"
#include "prototype/number.h"
#include "prototype/printer.h"

static void print_bit_field(struct printer *printer,
			    const struct type_member *member,
			    struct place place)
{
	uint64_t word;

	if (number_read_member(place, member, print_word_size(printer), &word))
		print_ops(printer)->unreadable(printer->writer, place.address);
	else
		print_number(printer, member->type, word);
}

static void print_member(struct printer *printer,
			 const struct type_member *member, struct place place)
{
	if (member->type->lens == LENS_HIDE)
		return;
	if (member->name)
		print_ops(printer)->name(printer->writer, member->name);
	if (member->bit_size)
		print_bit_field(printer, member, place);
	else
		print_value(printer, member->type, place);
}

static void print_members(struct printer *printer, const struct type *type,
			  struct place place)
{
	struct layout_walk walk =
		layout_members(type, print_word_size(printer));
	const struct type_member *member;
	uint64_t offset;

	while ((member = layout_next(&walk, &offset))) {
		if (!printer->left) {
			print_ops(printer)->omitted(printer->writer);
			break;
		}
		print_member(printer, member, place_behind(place, offset));
	}
}

static bool same_type(const struct type *a, const struct type *b)
{
	return a == b || (a->members && a->members == b->members);
}

/* Lists end somewhere: -A structs of one type within each other are enough. */
static bool is_too_deep(const struct printer *printer, const struct type *type)
{
	unsigned count = 0;

	for (const struct open_struct *open = printer->open; open;
	     open = open->outer)
		if (same_type(open->type, type))
			count++;
	return count >= printer->limits->array_elements;
}

void print_struct(struct printer *printer, const struct type *type,
		  struct place place)
{
	struct open_struct open = { printer->open, type, place };

	if (!type->complete) {
		print_ops(printer)->address(printer->writer, place.address);
		return;
	}
	if (is_too_deep(printer, type)) {
		print_ops(printer)->omitted(printer->writer);
		return;
	}
	if (type->count && !place_is_readable(place)) {
		print_ops(printer)->unreadable(printer->writer, place.address);
		return;
	}
	if (type->is_text && type->count) {
		print_value(printer, type->members[0].type, place);
		return;
	}
	printer->open = &open;
	print_ops(printer)->begin(printer->writer, GROUP_STRUCT);
	print_members(printer, type, place);
	print_ops(printer)->end(printer->writer, GROUP_STRUCT);
	printer->open = open.outer;
}

/* "recurse" for the struct that the pointer is in, "recurse^" one further. */
static void print_recursion(struct printer *printer, unsigned level)
{
	struct strbuf text = { 0 };

	strbuf_puts(&text, "recurse");
	while (level--)
		strbuf_putc(&text, '^');
	print_ops(printer)->word(printer->writer, strbuf_text(&text));
	strbuf_fini(&text);
}

void print_struct_behind(struct printer *printer, const struct type *type,
			 taddr_t address)
{
	struct place place = place_in(printer->values->memory, address);
	unsigned level = 0;

	for (const struct open_struct *open = printer->open; open;
	     open = open->outer, level++) {
		if (!same_type(open->type, type) ||
		    open->place.memory != place.memory ||
		    open->place.address != address)
			continue;
		print_recursion(printer, level);
		return;
	}
	print_value(printer, type, place);
}
