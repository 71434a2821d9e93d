/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/decimal.h"
#include "prototype/layout.h"
#include "prototype/number.h"
#include "prototype/printer.h"
#include "prototype/quote.h"

/* A number, and the text that is being made of it. */
struct shown_integer {
	const struct type *type;
	uint64_t word;
	uint64_t bits; /* the same without a sign: -1 as an int 0xffffffff */
	unsigned word_size;
	const struct value_style *style;
	struct strbuf text;
};

static uint64_t name_bits(const struct shown_integer *shown, uint64_t value)
{
	return number_unsigned(shown->type, value, shown->word_size);
}

static enum number_style show_decimal(struct shown_integer *shown)
{
	char digits[DECIMAL_SIZE];

	strbuf_puts(&shown->text,
		    decimal_text(shown->word, shown->type->is_signed, digits));
	return NUMBER_DECIMAL;
}

static enum number_style show_char(struct shown_integer *shown)
{
	int64_t value = (int64_t)shown->word;

	/* No character is EOF: what says so is an int. */
	if (value == -1 && shown->type->size > 1)
		strbuf_puts(&shown->text, "EOF");
	else if (value >= -128 && value <= 255)
		quote_char(&shown->text, shown->style->quotes, (char)value);
	else
		return show_decimal(shown);
	return NUMBER_CHAR;
}

static enum number_style show_hex(struct shown_integer *shown)
{
	strbuf_printf(&shown->text, "%#llx", (unsigned long long)shown->bits);
	return NUMBER_BASED;
}

static enum number_style show_octal(struct shown_integer *shown)
{
	strbuf_printf(&shown->text,
		      shown->style->octal_zeros ? "0%llo" : "%#llo",
		      (unsigned long long)shown->bits);
	return NUMBER_BASED;
}

static enum number_style show_binary(struct shown_integer *shown)
{
	uint64_t bits = shown->bits;
	int highest = bits ? 63 - __builtin_clzll(bits) : 0;

	if (bits)
		strbuf_puts(&shown->text, "0b");
	for (int i = highest; i >= 0; i--)
		strbuf_putc(&shown->text, bits >> i & 1 ? '1' : '0');
	return NUMBER_BASED;
}

static enum number_style show_guess(struct shown_integer *shown)
{
	if (number_is_small(shown->word))
		return show_decimal(shown);
	return show_hex(shown);
}

static enum number_style show_errname(struct shown_integer *shown)
{
	const char *name = error_name((int)shown->word);

	(void)show_decimal(shown);
	if (!name)
		return NUMBER_DECIMAL;
	strbuf_printf(&shown->text, " (%s)", name);
	return NUMBER_NAMED;
}

static enum number_style show_enum(struct shown_integer *shown)
{
	for (unsigned i = 0; i < shown->type->count; i++) {
		const struct type_name *name = &shown->type->names[i];

		if (name_bits(shown, name->value) != shown->bits)
			continue;
		strbuf_puts(&shown->text, name->name);
		return NUMBER_NAMED;
	}
	return show_decimal(shown);
}

static void add_flag(struct shown_integer *shown, const char *name)
{
	if (shown->text.length)
		strbuf_putc(&shown->text, '|');
	strbuf_puts(&shown->text, name);
}

/* Each bit belongs to one name, the first that fits. */
static enum number_style show_flags(struct shown_integer *shown)
{
	uint64_t taken = 0, rest;

	for (unsigned i = 0; i < shown->type->count; i++) {
		const struct type_name *name = &shown->type->names[i];
		uint64_t mask = name_bits(shown, name->mask);

		if (mask & taken ||
		    (shown->bits & mask) != name_bits(shown, name->value))
			continue;
		taken |= mask;
		add_flag(shown, name->name);
	}
	rest = shown->bits & ~taken;
	if (!shown->text.length)
		return show_hex(shown);
	if (rest)
		strbuf_printf(&shown->text, "|%#llx", (unsigned long long)rest);
	return NUMBER_NAMED;
}

static enum number_style show_bool(struct shown_integer *shown)
{
	strbuf_puts(&shown->text, shown->word ? "true" : "false");
	return NUMBER_BOOL;
}

/* Ranges of bits: 0,3-5. */
static void add_bits(struct strbuf *text, const uint8_t *bytes, unsigned count,
		     uint8_t inverse)
{
	const char *separator = "";

	for (unsigned i = 0, last; i < count; i = last + 1) {
		last = i;
		if (!((bytes[i / 8] ^ inverse) >> i % 8 & 1))
			continue;
		while (last + 1 < count &&
		       (bytes[(last + 1) / 8] ^ inverse) >> (last + 1) % 8 & 1)
			last++;
		strbuf_printf(text, "%s%u", separator, i);
		if (last > i)
			strbuf_printf(text, "-%u", last);
		separator = ",";
	}
}

/* The bits that are set, or (with ~) the fewer that are not: <0,3-5>. */
static void show_bit_numbers(struct strbuf *text, const uint8_t *bytes,
			     size_t size)
{
	unsigned set = 0;
	bool inverse;

	for (size_t i = 0; i < size; i++)
		set += __builtin_popcount(bytes[i]);
	inverse = set > size * 8 / 2;
	strbuf_puts(text, inverse ? "~<" : "<");
	add_bits(text, bytes, size * 8, inverse ? 0xff : 0);
	strbuf_putc(text, '>');
}

static enum number_style show_bits(struct shown_integer *shown)
{
	show_bit_numbers(&shown->text, (const uint8_t *)&shown->bits,
			 layout_of(shown->type, shown->word_size).size);
	return NUMBER_BITS;
}

static enum number_style show(struct shown_integer *shown)
{
	switch (shown->type->lens) {
	case LENS_CHAR:
		return show_char(shown);
	case LENS_BOOL:
		return show_bool(shown);
	case LENS_OCTAL:
		return show_octal(shown);
	case LENS_HEX:
		return show_hex(shown);
	case LENS_BINARY:
		return show_binary(shown);
	case LENS_GUESS:
		return show_guess(shown);
	case LENS_BITS:
		return show_bits(shown);
	case LENS_ERRNAME:
		return show_errname(shown);
	case LENS_ENUM:
		return show_enum(shown);
	case LENS_FLAGS:
		return show_flags(shown);
	case LENS_PLAIN:
	case LENS_HIDE:
	case LENS_STRING:
	case LENS_BYTES:
	case LENS_FORMAT:
	case LENS_SCAN:
	case LENS_SOCKADDR:
	case LENS_MAYBE_TEXT:
	case LENS_GUESS_TEXT:
		break;
	}
	return show_decimal(shown);
}

static void print_shown(struct printer *printer, const struct type *type,
			uint64_t word)
{
	unsigned word_size = print_word_size(printer);
	struct shown_integer shown = {
		.type = type,
		.word = word,
		.bits = number_unsigned(type, word, word_size),
		.word_size = word_size,
		.style = print_style(printer->limits),
	};
	enum number_style style = show(&shown);
	struct value_number number = {
		.value = word,
		.is_signed = type->is_signed,
		.style = style,
		.text = strbuf_text(&shown.text),
	};

	print_ops(printer)->number(printer->writer, &number);
	strbuf_fini(&shown.text);
}

/* Most numbers: no text is made of them by other means. */
static bool is_plain(const struct type *type, uint64_t word)
{
	return type->lens == LENS_PLAIN ||
	       (type->lens == LENS_GUESS && number_is_small(word));
}

static void print_plain(struct printer *printer, const struct type *type,
			uint64_t word)
{
	char digits[DECIMAL_SIZE];
	struct value_number number = {
		.value = word,
		.is_signed = type->is_signed,
		.style = NUMBER_DECIMAL,
		.text = decimal_text(word, type->is_signed, digits),
	};

	print_ops(printer)->number(printer->writer, &number);
}

void print_integer(struct printer *printer, const struct type *type,
		   uint64_t word)
{
	if (is_plain(type, word))
		print_plain(printer, type, word);
	else
		print_shown(printer, type, word);
}

void print_bits(struct printer *printer, struct place place, uint64_t size)
{
	struct strbuf text = { 0 };
	uint8_t bytes[1024];

	if (size > sizeof(bytes))
		size = sizeof(bytes);
	if (memory_read(place.memory, place.address, bytes, size)) {
		print_ops(printer)->unreadable(printer->writer, place.address);
		return;
	}
	show_bit_numbers(&text, bytes, size);
	print_ops(printer)->word(printer->writer, strbuf_text(&text));
	strbuf_fini(&text);
}
