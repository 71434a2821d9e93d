/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/xalloc.h"
#include "report/format/json_put.h"

/* Every integer up to here is a double, which is what most readers have. */
#define EXACT (1ll << 53)

/* Values that are being written: of the call, of a struct, of an array. */
struct json_level {
	size_t begin;        /* of its text */
	size_t first_member; /* these two: not of an array */
	bool keeps_members;
	bool named;
};

/* A value on such a level. */
struct json_member {
	const char *name;
	size_t begin;
};

static struct json_writer *json_of(struct value_writer *writer)
{
	return (struct json_writer *)writer;
}

json_t *json_address(taddr_t address)
{
	char text[32];

	if (!address)
		return json_null();
	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	return json_string(text);
}

static json_t *hex_text(const char *bytes, size_t length)
{
	struct strbuf text = { 0 };
	json_t *object = json_object();

	strbuf_add_hex_bytes(&text, bytes, length);
	json_object_set_new(object, "hex", json_string(strbuf_text(&text)));
	strbuf_fini(&text);
	return object;
}

json_t *json_text(const char *bytes, size_t length)
{
	json_t *value = json_stringn(bytes, length);

	return value ? value : hex_text(bytes, length);
}

/* How many bytes the character has that begins so; 0: none does. */
static size_t utf8_length(uint8_t byte)
{
	if (byte >= 0xc2 && byte < 0xe0)
		return 2;
	if (byte >= 0xe0 && byte < 0xf0)
		return 3;
	return byte >= 0xf0 && byte < 0xf5 ? 4 : 0;
}

/* What was cut may end within a character: the length without that. */
static size_t whole_length(const char *bytes, size_t length)
{
	size_t tail = 1;

	while (tail < 4 && tail < length &&
	       ((uint8_t)bytes[length - tail] & 0xc0) == 0x80)
		tail++;
	if (length && utf8_length((uint8_t)bytes[length - tail]) > tail)
		return length - tail;
	return length;
}

static void push(struct json_writer *json, bool keeps_members)
{
	json->levels = xgrow(json->levels, json->depth, &json->room,
			     sizeof(*json->levels));
	json->levels[json->depth++] = (struct json_level){
		.begin = json->text.length,
		.first_member = json->member_count,
		.keeps_members = keeps_members,
	};
	strbuf_putc(&json->text, '[');
}

static void add_member(struct json_writer *json)
{
	json->members = xgrow(json->members, json->member_count,
			      &json->member_room, sizeof(*json->members));
	json->members[json->member_count++] =
		(struct json_member){ json->name, json->text.length };
}

/* Now, as it may be gone when it is asked for. */
static void add_name(struct json_writer *json)
{
	struct strbuf *out = &json->names;

	strbuf_putc(out, out->length ? ',' : '[');
	if (json->name)
		json_put_text(json->name, strlen(json->name), out);
	else
		strbuf_put(out, "null");
}

/* What is added to the text next is a value. */
static struct strbuf *begin_value(struct json_writer *json)
{
	struct json_level *level = &json->levels[json->depth - 1];

	if (json->text.length > level->begin + 1)
		strbuf_putc(&json->text, ',');
	if (level->keeps_members)
		add_member(json);
	if (json->depth == 1)
		add_name(json);
	level->named |= json->name != NULL;
	json->name = NULL;
	return &json->text;
}

static void put_marked(struct json_writer *json, const char *text)
{
	strbuf_put(begin_value(json), text);
}

static void put_text(struct json_writer *json, const char *text)
{
	json_put_text(text, strlen(text), begin_value(json));
}

/* 'a' without its quotes; EOF has none. */
static void put_character(struct json_writer *json, const char *text)
{
	size_t length = strlen(text);

	if (length > 2 && text[0] == '\'' && text[length - 1] == '\'')
		json_put_text(text + 1, length - 2, begin_value(json));
	else
		put_text(json, text);
}

static void put_integer(struct json_writer *json,
			const struct value_number *number)
{
	const int64_t value = (int64_t)number->value;
	const bool is_signed = number->is_signed || value >= 0;
	const bool exact = is_signed && value <= EXACT && value >= -EXACT;
	struct strbuf *out = begin_value(json);

	if (!exact)
		strbuf_putc(out, '"');
	strbuf_add_decimal(out, number->value, is_signed);
	if (!exact)
		strbuf_putc(out, '"');
}

static void write_name(struct value_writer *writer, const char *name)
{
	json_of(writer)->name = name;
}

static void write_number(struct value_writer *writer,
			 const struct value_number *number)
{
	struct json_writer *json = json_of(writer);

	switch (number->style) {
	case NUMBER_DECIMAL:
	case NUMBER_BASED:
		break;
	case NUMBER_CHAR:
		put_character(json, number->text);
		return;
	case NUMBER_BOOL:
		put_marked(json, number->value ? "true" : "false");
		return;
	case NUMBER_NAMED:
	case NUMBER_BITS:
		put_text(json, number->text);
		return;
	}
	put_integer(json, number);
}

static void write_real(struct value_writer *writer, long double value,
		       const char *text)
{
	double real = (double)value;
	json_t *number;

	if (!isfinite(real)) {
		put_text(json_of(writer), text);
		return;
	}
	number = json_real(real);
	json_put(number, JSON_ENCODE_ANY, begin_value(json_of(writer)));
	json_decref(number);
}

static void write_text(struct value_writer *writer,
		       const struct value_text *text)
{
	struct json_writer *json = json_of(writer);
	size_t length = text->cut ? whole_length(text->bytes, text->length) :
				    text->length;
	struct strbuf *out = begin_value(json);

	json->cut |= text->cut;
	if (text->address)
		strbuf_put(out, "{\"text\":");
	json_put_text(text->bytes, length, out);
	if (!text->address)
		return;
	strbuf_put(out, ",\"address\":");
	json_put_address(text->address, out);
	strbuf_putc(out, '}');
}

static void write_address(struct value_writer *writer, taddr_t address)
{
	json_put_address(address, begin_value(json_of(writer)));
}

static void write_null(struct value_writer *writer)
{
	put_marked(json_of(writer), "null");
}

static void write_word(struct value_writer *writer, const char *text)
{
	put_text(json_of(writer), text);
}

static void write_unreadable(struct value_writer *writer, taddr_t address)
{
	struct strbuf *out = begin_value(json_of(writer));

	strbuf_put(out, "{\"unreadable\":");
	json_put_address(address, out);
	strbuf_putc(out, '}');
}

static void write_unknown(struct value_writer *writer)
{
	put_marked(json_of(writer), "{\"unknown\":true}");
}

static void write_omitted(struct value_writer *writer)
{
	put_marked(json_of(writer), "{\"omitted\":true}");
}

static void write_cut(struct value_writer *writer)
{
	json_of(writer)->cut = true;
}

static void begin(struct value_writer *writer, enum value_group group)
{
	struct json_writer *json = json_of(writer);

	(void)begin_value(json);
	push(json, group == GROUP_STRUCT);
}

/* Where the text of a value ends: before the comma, or with its level's. */
static size_t end_of(const struct json_writer *json, size_t member)
{
	return member + 1 < json->member_count ?
		       json->members[member + 1].begin - 1 :
		       json->text.length;
}

/*
 * The places of members by their keys. Members without a name, among others that
 * have one, go by their number; of several with one name the last one counts.
 */
static json_t *keys_of(const struct json_writer *json, size_t first)
{
	json_t *keys = json_object();
	size_t i;

	for (i = first; i < json->member_count; i++) {
		const char *name = json->members[i].name;
		char number[24];

		if (name && !json_object_set_new(keys, name, json_integer(i)))
			continue;
		snprintf(number, sizeof(number), "%zu", i - first);
		json_object_set_new(keys, number, json_integer(i));
	}
	return keys;
}

/* Instead of the array that its values were written as. */
static void make_object(struct json_writer *json,
			const struct json_level *level)
{
	json_t *keys = keys_of(json, level->first_member), *place;
	struct strbuf *out = &json->spare;
	const char *key;

	strbuf_clear(out);
	json_object_foreach(keys, key, place)
	{
		const size_t member = json_integer_value(place);
		const size_t from = json->members[member].begin;

		strbuf_putc(out, out->length ? ',' : '{');
		json_put_text(key, strlen(key), out);
		strbuf_putc(out, ':');
		strbuf_add(out, json->text.text + from,
			   end_of(json, member) - from);
	}
	strbuf_putc(out, '}');
	json_decref(keys);
	json->text.length = level->begin;
	strbuf_add(&json->text, out->text, out->length);
}

static void end(struct value_writer *writer, enum value_group group UNUSED)
{
	struct json_writer *json = json_of(writer);
	const struct json_level *level = &json->levels[--json->depth];

	if (level->keeps_members && level->named)
		make_object(json, level);
	else
		strbuf_putc(&json->text, ']');
	json->member_count = level->first_member;
}

static const struct value_writer_ops json_ops = {
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
	.begin = begin,
	.end = end,
};

void json_writer_init(struct json_writer *json)
{
	*json = (struct json_writer){ .writer.ops = &json_ops };
	push(json, true);
}

void json_writer_clear(struct json_writer *json)
{
	strbuf_clear(&json->text);
	strbuf_clear(&json->names);
	json->depth = json->member_count = 0;
	json->name = NULL;
	json->cut = false;
	push(json, true);
}

void json_writer_fini(struct json_writer *json)
{
	strbuf_fini(&json->text);
	strbuf_fini(&json->names);
	strbuf_fini(&json->spare);
	free(json->levels);
	free(json->members);
}

void json_writer_put_values(const struct json_writer *json, struct strbuf *out)
{
	strbuf_add(out, json->text.text, json->text.length);
	strbuf_putc(out, ']');
}

bool json_writer_has_names(const struct json_writer *json)
{
	return json->levels[0].named;
}

void json_writer_put_names(const struct json_writer *json, struct strbuf *out)
{
	strbuf_add(out, json->names.text, json->names.length);
	strbuf_putc(out, ']');
}

const char *json_writer_first(const struct json_writer *json,
			      size_t *length_ret)
{
	if (!json->member_count)
		return NULL;
	*length_ret = end_of(json, 0) - json->members[0].begin;
	return json->text.text + json->members[0].begin;
}

json_t *json_number(uint64_t number)
{
	return json_integer(number > INT64_MAX ? INT64_MAX :
						 (json_int_t)number);
}

void json_set_number(json_t *object, const char *key, uint64_t number)
{
	json_object_set_new(object, key, json_number(number));
}

void json_set_text(json_t *object, const char *key, const char *text)
{
	if (text && *text)
		json_object_set_new(object, key, json_text(text, strlen(text)));
}
