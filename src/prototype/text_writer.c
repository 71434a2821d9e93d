/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/value_writer.h"

#include "prototype/quote.h"

const struct value_style value_style_own = VALUE_STYLE_OWN;

static const struct value_style *style_of(const struct value_writer *writer)
{
	return ((const struct text_writer *)writer)->style;
}

/* Where the next value goes, behind what separates it from the last one. */
static struct strbuf *next(struct value_writer *writer)
{
	struct text_writer *text = (struct text_writer *)writer;

	if (text->out->length > text->fresh)
		strbuf_put(text->out, ", ");
	return text->out;
}

static void stay_fresh(struct value_writer *writer)
{
	struct text_writer *text = (struct text_writer *)writer;

	text->fresh = text->out->length;
}

static void write_name(struct value_writer *writer, const char *name)
{
	if (!style_of(writer)->names)
		return;
	strbuf_put(next(writer), name);
	strbuf_putc(((struct text_writer *)writer)->out, '=');
	stay_fresh(writer);
}

static void write_number(struct value_writer *writer,
			 const struct value_number *number)
{
	strbuf_put(next(writer), number->text);
}

static void write_real(struct value_writer *writer, long double value,
		       const char *text)
{
	(void)value;
	strbuf_put(next(writer), text);
}

static void write_text(struct value_writer *writer,
		       const struct value_text *text)
{
	struct strbuf *out = next(writer);

	if (text->address)
		strbuf_add_hex(out, text->address);
	if (text->address && !style_of(writer)->addressed_text)
		return;
	if (text->address)
		strbuf_putc(out, ' ');
	if (text->wide)
		quote_wide(out, style_of(writer)->quotes, text->bytes,
			   text->length);
	else
		quote_text(out, style_of(writer)->quotes, text->bytes,
			   text->length);
	if (text->cut)
		strbuf_put(out, "...");
}

static void write_address(struct value_writer *writer, taddr_t address)
{
	if (address)
		strbuf_add_hex(next(writer), address);
	else
		strbuf_put(next(writer), style_of(writer)->null);
}

static void write_null(struct value_writer *writer)
{
	strbuf_put(next(writer), style_of(writer)->nil);
}

static void write_word(struct value_writer *writer, const char *text)
{
	strbuf_put(next(writer), text);
}

static void write_unreadable(struct value_writer *writer, taddr_t address)
{
	strbuf_printf(next(writer), "%#llx?", (unsigned long long)address);
}

static void write_unknown(struct value_writer *writer)
{
	strbuf_putc(next(writer), '?');
}

static void write_omitted(struct value_writer *writer)
{
	strbuf_put(next(writer), "...");
}

static void write_cut(struct value_writer *writer)
{
	strbuf_put(((struct text_writer *)writer)->out, "...");
}

static void write_begin(struct value_writer *writer, enum value_group group)
{
	const struct value_style *style = style_of(writer);

	strbuf_put(next(writer), group == GROUP_ARRAY ? style->open_array :
							style->open_struct);
	stay_fresh(writer);
}

static void write_end(struct value_writer *writer, enum value_group group)
{
	const struct value_style *style = style_of(writer);

	strbuf_put(((struct text_writer *)writer)->out,
		   group == GROUP_ARRAY ? style->close_array :
					  style->close_struct);
}

static const struct value_writer_ops text_writer_ops = {
	.name = write_name,
	.number = write_number,
	.real = write_real,
	.text = write_text,
	.address = write_address,
	.null = write_null,
	.word = write_word,
	.unreadable = write_unreadable,
	.unknown = write_unknown,
	.omitted = write_omitted,
	.cut = write_cut,
	.begin = write_begin,
	.end = write_end,
};

struct text_writer text_writer_to(struct strbuf *out,
				  const struct value_style *style)
{
	return (struct text_writer){
		.writer = { &text_writer_ops },
		.out = out,
		.style = style,
		.fresh = out->length,
	};
}
