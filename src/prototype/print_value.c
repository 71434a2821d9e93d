/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/arguments.h"
#include "prototype/printer.h"
#include "prototype/quote.h"

static void print_hex(struct printer *printer, uint64_t word)
{
	strbuf_printf(printer->out, "%#llx", (unsigned long long)word);
}

/* Of the type's own size: -1 as an int is 0xffffffff. */
static uint64_t as_unsigned(struct printer *printer, const struct type *type,
			    uint64_t word)
{
	struct type same = *type;

	same.is_signed = false;
	return type_narrow(&same, word, printer->values->arch->word_size);
}

static void print_decimal(struct printer *printer, const struct type *type,
			  uint64_t word)
{
	strbuf_printf(printer->out, type->is_signed ? "%lld" : "%llu",
		      (unsigned long long)word);
}

static void print_char(struct printer *printer, const struct type *type,
		       uint64_t word)
{
	int64_t value = (int64_t)word;
	char c = (char)value;

	if (value == -1)
		strbuf_puts(printer->out, "EOF");
	else if (value >= -128 && value <= 255)
		quote_bytes(printer->out, '\'', &c, 1);
	else
		print_decimal(printer, type, word);
}

static void print_guess(struct printer *printer, const struct type *type,
			uint64_t word)
{
	int64_t value = (int64_t)word;

	if (value >= -10000 && value <= 10000)
		print_decimal(printer, type, word);
	else
		print_hex(printer, as_unsigned(printer, type, word));
}

static void print_enum(struct printer *printer, const struct type *type,
		       uint64_t word)
{
	for (unsigned i = 0; i < type->count; i++)
		if (as_unsigned(printer, type, type->names[i].value) ==
		    as_unsigned(printer, type, word)) {
			strbuf_puts(printer->out, type->names[i].name);
			return;
		}
	print_decimal(printer, type, word);
}

/* The bits that are set, or (with ~) the fewer that are not: <0,3-5>. */
static void print_bits(struct printer *printer, const struct type *type,
		       uint64_t word)
{
	unsigned size = type_size(type, printer->values->arch->word_size) * 8;
	uint64_t bits = as_unsigned(printer, type, word);
	const char *separator = "";

	if ((unsigned)__builtin_popcountll(bits) > size / 2) {
		bits = as_unsigned(printer, type, ~bits);
		strbuf_putc(printer->out, '~');
	}
	strbuf_putc(printer->out, '<');
	for (unsigned i = 0, last; i < size; i = last + 1) {
		last = i;
		if (!(bits >> i & 1))
			continue;
		while (last + 1 < size && (bits >> (last + 1) & 1))
			last++;
		strbuf_printf(printer->out, "%s%u", separator, i);
		if (last > i)
			strbuf_printf(printer->out, "-%u", last);
		separator = ",";
	}
	strbuf_putc(printer->out, '>');
}

static void print_integer(struct printer *printer, const struct type *type,
			  uint64_t word)
{
	switch (type->lens) {
	case LENS_CHAR:
		print_char(printer, type, word);
		break;
	case LENS_BOOL:
		strbuf_puts(printer->out, word ? "true" : "false");
		break;
	case LENS_OCTAL:
		strbuf_printf(printer->out, "%#llo",
			      (unsigned long long)as_unsigned(printer, type,
							      word));
		break;
	case LENS_HEX:
		print_hex(printer, as_unsigned(printer, type, word));
		break;
	case LENS_GUESS:
		print_guess(printer, type, word);
		break;
	case LENS_BITS:
		print_bits(printer, type, word);
		break;
	case LENS_ENUM:
	case LENS_FLAGS:
		print_enum(printer, type, word);
		break;
	case LENS_PLAIN:
	case LENS_HIDE:
	case LENS_STRING:
	case LENS_BYTES:
	case LENS_FORMAT:
	case LENS_SCAN:
	case LENS_MAYBE_TEXT:
	case LENS_BINARY:
		print_decimal(printer, type, word);
		break;
	}
}

static bool is_text(const struct type *type)
{
	return type->lens == LENS_STRING || type->lens == LENS_BYTES ||
	       type->lens == LENS_FORMAT;
}

/* What is behind it, where that can be shown. */
static void print_pointer(struct printer *printer, const struct type *type,
			  taddr_t address)
{
	const struct type *target = type->target;

	if (!address) {
		strbuf_puts(printer->out, "nil");
		return;
	}
	if (is_text(type) && target->kind == TYPE_ARRAY) {
		struct type array = *target;

		array.lens = type->lens;
		print_at(printer, &array, address);
		return;
	}
	print_at(printer, target, address);
}

void print_word(struct printer *printer, const struct type *type,
		uint64_t word)
{
	switch (type->kind) {
	case TYPE_INTEGER:
		print_integer(printer, type, word);
		break;
	case TYPE_POINTER:
		print_pointer(printer, type, word);
		break;
	case TYPE_VOID:
	case TYPE_FLOAT:
	case TYPE_COMPLEX:
	case TYPE_ARRAY:
	case TYPE_STRUCT:
	case TYPE_UNION:
		print_hex(printer, word);
		break;
	}
}

static void print_scalar_at(struct printer *printer, const struct type *type,
			    taddr_t address)
{
	unsigned word_size = printer->values->arch->word_size;
	uint64_t word = 0;

	if (memory_read(printer->values->memory, address, &word,
			type_size(type, word_size)) < 0)
		print_unreadable(printer, address);
	else
		print_word(printer, type, type_narrow(type, word, word_size));
}

static void print_elements(struct printer *printer, const struct type *type,
			   taddr_t address, uint64_t count)
{
	unsigned size = type_size(type->target,
				  printer->values->arch->word_size);
	unsigned most = printer->limits->array_elements;

	strbuf_putc(printer->out, '[');
	for (uint64_t i = 0; i < count && i < most && printer->left; i++) {
		strbuf_puts(printer->out, i ? ", " : " ");
		print_at(printer, type->target, address + i * size);
	}
	strbuf_puts(printer->out,
		    count > most || !printer->left ? "... ]" : " ]");
}

/* How many elements there are before one that is all zeros. */
static uint64_t count_to_zero(struct printer *printer,
			      const struct type *element, taddr_t address,
			      uint64_t most)
{
	unsigned size = type_size(element, printer->values->arch->word_size);
	uint64_t count;

	/* One more than is shown is enough to know that there are more. */
	if (most > (uint64_t)printer->limits->array_elements + 1)
		most = (uint64_t)printer->limits->array_elements + 1;
	if (most > printer->left)
		most = printer->left;
	for (count = 0; count < most; count++) {
		uint64_t word = 0;

		if (memory_read(printer->values->memory,
				address + count * size, &word, size) < 0 ||
		    !word)
			break;
	}
	return count;
}

static bool is_readable(struct printer *printer, taddr_t address)
{
	char byte;

	return memory_read(printer->values->memory, address, &byte, 1) == 0;
}

static void print_array(struct printer *printer, const struct type *type,
			taddr_t address)
{
	uint64_t count;

	if (print_count(printer, type->length, &count) < 0 ||
	    !type_size(type->target, printer->values->arch->word_size)) {
		print_hex(printer, address);
		return;
	}
	if (is_text(type) && type->target->size == 1) {
		struct text text = { address, count,
				     type->lens == LENS_BYTES };

		print_text(printer, &text);
		return;
	}
	if (count && !is_readable(printer, address)) {
		print_unreadable(printer, address);
		return;
	}
	if (type->length->kind == EXPRESSION_ZERO)
		count = count_to_zero(printer, type->target, address, count);
	print_elements(printer, type, address, count);
}

void print_at(struct printer *printer, const struct type *type,
	      taddr_t address)
{
	if (!printer->left) {
		strbuf_puts(printer->out, "...");
		return;
	}
	printer->left--;
	switch (type->kind) {
	case TYPE_INTEGER:
	case TYPE_POINTER:
		print_scalar_at(printer, type, address);
		break;
	case TYPE_ARRAY:
		print_array(printer, type, address);
		break;
	case TYPE_VOID:
	case TYPE_FLOAT:
	case TYPE_COMPLEX:
	case TYPE_STRUCT:
	case TYPE_UNION:
		print_hex(printer, address);
		break;
	}
}
