/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/layout.h"
#include "prototype/number.h"
#include "prototype/printer.h"

/* Deeper values are left out; types and lists that go deeper are mistakes. */
#define DEPTH_MAX 100

unsigned print_word_size(const struct printer *printer)
{
	return printer->values->arch->word_size;
}

static bool is_text(const struct type *type)
{
	return type->lens == LENS_STRING || type->lens == LENS_BYTES ||
	       type->lens == LENS_FORMAT || type->lens == LENS_SCAN ||
	       type->lens == LENS_SOCKADDR;
}

static void print_text_behind(struct printer *printer, const struct type *type,
			      taddr_t address)
{
	struct type array = *type->target;

	array.lens = type->lens;
	array.addressed = type->addressed;
	print_value(printer, &array,
		    place_in(printer->values->memory, address));
}

/* What is behind it, where that can be shown. */
static void print_pointer(struct printer *printer, const struct type *type,
			  taddr_t address)
{
	const struct type *target = type->target;

	if (type->lens == LENS_GUESS_TEXT)
		print_guessed_text(printer, address);
	else if (!address && target && target->kind != TYPE_VOID)
		print_ops(printer)->null(printer->writer);
	else if (!target || target->kind == TYPE_VOID)
		print_ops(printer)->address(printer->writer, address);
	else if (type->lens == LENS_MAYBE_TEXT || type->lens == LENS_GUESS_TEXT)
		print_maybe_text(printer, address, target->size);
	else if (is_text(type) && target->kind == TYPE_ARRAY)
		print_text_behind(printer, type, address);
	else if (target->kind == TYPE_STRUCT || target->kind == TYPE_UNION)
		print_struct_behind(printer, target, address);
	else
		print_value(printer, target,
			    place_in(printer->values->memory, address));
}

void print_number(struct printer *printer, const struct type *type,
		  uint64_t word)
{
	if (type->kind == TYPE_POINTER)
		print_pointer(printer, type, word);
	else
		print_integer(printer, type, word);
}

static void print_number_at(struct printer *printer, const struct type *type,
			    struct place place)
{
	uint64_t word;

	if (number_read(place, type, print_word_size(printer), &word))
		print_ops(printer)->unreadable(printer->writer, place.address);
	else
		print_number(printer, type, word);
}

static void print_kind(struct printer *printer, const struct type *type,
		       struct place place)
{
	switch (type->kind) {
	case TYPE_INTEGER:
		if (type->size > sizeof(uint64_t)) {
			print_wide_integer(printer, type, place);
			break;
		}
		/* fall through */
	case TYPE_POINTER:
		print_number_at(printer, type, place);
		break;
	case TYPE_FLOAT:
		print_real(printer, type, place);
		break;
	case TYPE_COMPLEX:
		print_complex(printer, type, place);
		break;
	case TYPE_ARRAY:
		print_array(printer, type, place);
		break;
	case TYPE_STRUCT:
	case TYPE_UNION:
		print_struct(printer, type, place);
		break;
	case TYPE_VOID:
		print_ops(printer)->word(printer->writer, "<void>");
		break;
	}
}

/* Structs and arrays as the bytes that they are. */
static bool is_bits_of_many(const struct type *type)
{
	return type->lens == LENS_BITS &&
	       (type->kind == TYPE_STRUCT || type->kind == TYPE_UNION);
}

void print_value(struct printer *printer, const struct type *type,
		 struct place place)
{
	if (!printer->left || printer->depth == DEPTH_MAX ||
	    type->lens == LENS_HIDE) {
		print_ops(printer)->omitted(printer->writer);
		return;
	}
	printer->left--;
	printer->depth++;
	if (is_bits_of_many(type))
		print_bits(printer, place,
			   layout_of(type, print_word_size(printer)).size);
	else
		print_kind(printer, type, place);
	printer->depth--;
}
