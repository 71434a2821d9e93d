/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "prototype/number.h"
#include "prototype/printer.h"

/* In characters, however large -s is. */
#define TEXT_MAX (16u << 20)

/* So many bytes tell whether something is text, however small -s is. */
#define TEXT_SAMPLE 32

/* What was read of a text. */
struct text_reading {
	struct strbuf bytes;
	uint64_t count; /* whole characters */
	bool ended;     /* … and behind them is a NUL */
};

static uint32_t character(const struct text_reading *reading, unsigned unit,
			  uint64_t index)
{
	const unsigned char *at =
		(const unsigned char *)reading->bytes.text + index * unit;
	uint32_t c = 0;

	for (unsigned i = 0; i < unit; i++)
		c |= (uint32_t)at[i] << (8 * i);
	return c;
}

static void count_bytes(struct text_reading *reading, const struct text *text)
{
	const char *from = strbuf_text(&reading->bytes) + reading->count;
	const uint64_t left = reading->bytes.length - reading->count;
	const char *end = text->whole ? NULL : memchr(from, '\0', left);

	reading->count += end ? (uint64_t)(end - from) : left;
	reading->ended = end;
}

/* Goes on counting behind what was looked at before. */
static void count_characters(struct text_reading *reading,
			     const struct text *text)
{
	uint64_t all = reading->bytes.length / text->unit;

	if (text->unit == 1) {
		count_bytes(reading, text);
		return;
	}
	while (reading->count < all && !reading->ended) {
		if (!text->whole &&
		    !character(reading, text->unit, reading->count))
			reading->ended = true;
		else
			reading->count++;
	}
}

/* Up to so many characters; an unreadable byte ends it, too. */
static void read_characters(const struct text *text, uint64_t most,
			    struct text_reading *ret)
{
	uint64_t size = most * text->unit;

	while (ret->bytes.length < size && !ret->ended) {
		char piece[4096];
		uint64_t left = size - ret->bytes.length;
		size_t want = left < sizeof(piece) ? left : sizeof(piece);
		size_t got = memory_read_some(text->place.memory,
					      text->place.address +
						      ret->bytes.length,
					      piece, want);

		strbuf_add(&ret->bytes, piece, got);
		count_characters(ret, text);
		if (got < want)
			break;
	}
}

static void add_utf8(struct strbuf *out, uint32_t c)
{
	unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const uint8_t lead[] = { 0, 0xc0, 0xe0, 0xf0 };

	strbuf_putc(out, lead[more] | (c >> (6 * more)));
	while (more--)
		strbuf_putc(out, 0x80 | (c >> (6 * more) & 0x3f));
}

static bool is_surrogate(uint32_t c, uint32_t first)
{
	return c >= first && c < first + 0x400;
}

static struct strbuf to_utf8(const struct text_reading *reading, unsigned unit,
			     uint64_t count)
{
	struct strbuf out = { 0 };

	for (uint64_t i = 0; i < count; i++) {
		uint32_t c = character(reading, unit, i);
		uint32_t low = unit == 2 && i + 1 < count ?
				       character(reading, unit, i + 1) :
				       0;

		if (is_surrogate(c, 0xd800) && is_surrogate(low, 0xdc00)) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			i++;
		} else if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
			c = 0xfffd; /* no character has this number */
		}
		add_utf8(&out, c);
	}
	return out;
}

static void write_text(struct printer *printer, const struct text *text,
		       const struct text_reading *reading, uint64_t count,
		       bool cut)
{
	unsigned unit = text->unit;
	struct value_text shown = {
		.address = text->addressed ? text->place.address : 0,
		.bytes = strbuf_text(&reading->bytes),
		.length = count,
		.wide = unit > 1,
		.cut = cut,
	};
	struct strbuf utf8 = { 0 };

	if (unit > 1) {
		utf8 = to_utf8(reading, unit, count);
		shown.bytes = strbuf_text(&utf8);
		shown.length = utf8.length;
	}
	print_ops(printer)->text(printer->writer, &shown);
	strbuf_fini(&utf8);
}

void print_text(struct printer *printer, const struct text *text)
{
	uint64_t most = printer->limits->string_bytes;
	struct text_reading reading = { 0 };
	uint64_t want;

	if (most > TEXT_MAX)
		most = TEXT_MAX;
	/* One more than is shown, to know whether there are more. */
	want = text->size > most ? most + 1 : text->size;
	read_characters(text, want, &reading);
	if (want && !reading.bytes.length)
		print_ops(printer)->unreadable(printer->writer,
					       text->place.address);
	else if (reading.count > most)
		write_text(printer, text, &reading, most, true);
	else
		write_text(printer, text, &reading, reading.count,
			   !reading.ended && reading.count < want);
	strbuf_fini(&reading.bytes);
}

/* How many bytes a character of UTF-8 has; 0: it is none that is shown. */
static unsigned character_length(const unsigned char *at, uint64_t left)
{
	unsigned length = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;

	if (at[0] < 0x80)
		return (at[0] >= 0x20 && at[0] < 0x7f) ||
		       (at[0] && strchr("\t\n\v\f\r\033", at[0]));
	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	for (unsigned i = 1; i < length && i < left; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

/* One of 16 or 32 bits. */
static bool is_shown_character(uint32_t c)
{
	if (c < 0x80)
		return c && character_length(&(unsigned char){ c }, 1);
	return c >= 0xa0 && c <= 0x10ffff && (c & 0xfffe) != 0xfffe;
}

/* Halves of pairs are taken for what they are, without their other halves. */
static bool looks_like_wide_text(const struct text_reading *reading,
				 unsigned unit)
{
	for (uint64_t i = 0; i < reading->count; i++) {
		uint32_t c = character(reading, unit, i);

		if (!is_shown_character(c) ||
		    (unit == 4 && c >= 0xd800 && c < 0xe000))
			return false;
	}
	return true;
}

static bool looks_like_text(const struct text_reading *reading)
{
	const unsigned char *at = (const unsigned char *)reading->bytes.text;
	uint64_t i = 0;

	while (i < reading->count) {
		unsigned length = character_length(at + i, reading->count - i);

		if (!length)
			return false;
		i += length;
	}
	return true;
}

/* What is there, as far as one looks; whether it is text. */
static bool sample(struct printer *printer, struct text *text,
		   struct text_reading *ret)
{
	uint64_t most = printer->limits->string_bytes;

	if (most > TEXT_MAX)
		most = TEXT_MAX;
	if (most < TEXT_SAMPLE)
		most = TEXT_SAMPLE;
	read_characters(text, most, ret);
	return ret->bytes.length &&
	       (text->unit > 1 ? looks_like_wide_text(ret, text->unit) :
				 looks_like_text(ret)) &&
	       (ret->ended || ret->count == most);
}

void print_maybe_text(struct printer *printer, taddr_t address, unsigned unit)
{
	struct text text = {
		.place = place_in(printer->values->memory, address),
		.size = UINT64_MAX,
		.unit = unit,
	};
	struct text_reading reading = { 0 };

	if (sample(printer, &text, &reading))
		print_text(printer, &text);
	else if (reading.bytes.length)
		print_ops(printer)->address(printer->writer, address);
	else
		print_ops(printer)->unreadable(printer->writer, address);
	strbuf_fini(&reading.bytes);
}

/* Behind a pointer to anything there is often a zero: that is no string. */
void print_guessed_text(struct printer *printer, taddr_t address)
{
	struct text text = {
		.place = place_in(printer->values->memory, address),
		.size = UINT64_MAX,
		.unit = 1,
	};
	struct text_reading reading = { 0 };

	if (number_is_small(address) || !sample(printer, &text, &reading) ||
	    !reading.count)
		print_integer(printer, &type_guess, address);
	else
		print_text(printer, &text);
	strbuf_fini(&reading.bytes);
}
