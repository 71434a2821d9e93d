/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/xalloc.h"

/* Every integer up to here is a double, which is what most readers have. */
#define EXACT (1ll << 53)

/* Values that are being collected: of the call, of a struct, of an array. */
struct json_level {
	const char *name; /* of the group itself */
	json_t *values;
	json_t *names;
	bool named;
};

static struct json_writer *json_of(struct value_writer *writer)
{
	return (struct json_writer *)writer;
}

static void push(struct json_writer *json)
{
	json->levels = xgrow(json->levels, json->depth, &json->room,
			     sizeof(*json->levels));
	json->levels[json->depth++] = (struct json_level){
		.name = json->name,
		.values = json_array(),
		.names = json_array(),
	};
	json->name = NULL;
}

static void put(struct json_writer *json, json_t *value)
{
	struct json_level *level = &json->levels[json->depth - 1];
	json_t *name = json->name ? json_text(json->name, strlen(json->name)) :
				    json_null();

	level->named |= json->name != NULL;
	json_array_append_new(level->values, value);
	json_array_append_new(level->names, name);
	json->name = NULL;
}

static json_t *mark(const char *key, json_t *value)
{
	json_t *object = json_object();

	json_object_set_new(object, key, value);
	return object;
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
	json_t *value;

	for (size_t i = 0; i < length; i++)
		strbuf_printf(&text, "%02x", (unsigned char)bytes[i]);
	value = mark("hex", json_string(strbuf_text(&text)));
	strbuf_fini(&text);
	return value;
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

static json_t *integer(const struct value_number *number)
{
	int64_t value = (int64_t)number->value;
	char text[32];

	if (number->is_signed || value >= 0) {
		if (value <= EXACT && value >= -EXACT)
			return json_integer(value);
		snprintf(text, sizeof(text), "%" PRId64, value);
	} else {
		snprintf(text, sizeof(text), "%" PRIu64, number->value);
	}
	return json_string(text);
}

/* 'a' without its quotes; EOF has none. */
static json_t *character(const char *text)
{
	size_t length = strlen(text);

	if (length > 2 && text[0] == '\'' && text[length - 1] == '\'')
		return json_text(text + 1, length - 2);
	return json_text(text, length);
}

static json_t *number_value(const struct value_number *number)
{
	switch (number->style) {
	case NUMBER_DECIMAL:
	case NUMBER_BASED:
		break;
	case NUMBER_CHAR:
		return character(number->text);
	case NUMBER_BOOL:
		return json_boolean(number->value != 0);
	case NUMBER_NAMED:
	case NUMBER_BITS:
		return json_text(number->text, strlen(number->text));
	}
	return integer(number);
}

static void write_name(struct value_writer *writer, const char *name)
{
	json_of(writer)->name = name;
}

static void write_number(struct value_writer *writer,
			 const struct value_number *number)
{
	put(json_of(writer), number_value(number));
}

static void write_real(struct value_writer *writer, long double value,
		       const char *text)
{
	double real = (double)value;

	put(json_of(writer),
	    isfinite(real) ? json_real(real) : json_string(text));
}

static json_t *at_address(json_t *text, taddr_t address)
{
	json_t *object = json_object();

	json_object_set_new(object, "text", text);
	json_object_set_new(object, "address", json_address(address));
	return object;
}

static void write_text(struct value_writer *writer,
		       const struct value_text *text)
{
	struct json_writer *json = json_of(writer);
	size_t length = text->cut ? whole_length(text->bytes, text->length) :
				    text->length;

	json_t *value = json_text(text->bytes, length);

	json->cut |= text->cut;
	put(json, text->address ? at_address(value, text->address) : value);
}

static void write_address(struct value_writer *writer, taddr_t address)
{
	put(json_of(writer), json_address(address));
}

static void write_null(struct value_writer *writer)
{
	put(json_of(writer), json_null());
}

static void write_word(struct value_writer *writer, const char *text)
{
	put(json_of(writer), json_text(text, strlen(text)));
}

static void write_unreadable(struct value_writer *writer, taddr_t address)
{
	put(json_of(writer), mark("unreadable", json_address(address)));
}

static void write_unknown(struct value_writer *writer)
{
	put(json_of(writer), mark("unknown", json_true()));
}

static void write_omitted(struct value_writer *writer)
{
	put(json_of(writer), mark("omitted", json_true()));
}

static void write_cut(struct value_writer *writer)
{
	json_of(writer)->cut = true;
}

static void begin(struct value_writer *writer, enum value_group group)
{
	(void)group;
	push(json_of(writer));
}

/* Members without a name, among others that have one, go by their number. */
static json_t *object_of(const struct json_level *level)
{
	json_t *object = json_object(), *value;
	size_t i;

	json_array_foreach(level->values, i, value) {
		const char *name =
			json_string_value(json_array_get(level->names, i));
		char number[24];

		snprintf(number, sizeof(number), "%zu", i);
		json_object_set(object, name ? name : number, value);
	}
	return object;
}

static void drop(struct json_level *level)
{
	json_decref(level->values);
	json_decref(level->names);
}

static void end(struct value_writer *writer, enum value_group group)
{
	struct json_writer *json = json_of(writer);
	struct json_level *level = &json->levels[--json->depth];
	json_t *value;

	if (group == GROUP_STRUCT && level->named)
		value = object_of(level);
	else
		value = json_incref(level->values);
	json->name = level->name;
	drop(level);
	put(json, value);
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
	push(json);
}

void json_writer_fini(struct json_writer *json)
{
	while (json->depth)
		drop(&json->levels[--json->depth]);
	free(json->levels);
}

json_t *json_writer_values(struct json_writer *json)
{
	return json_incref(json->levels[0].values);
}

json_t *json_writer_names(struct json_writer *json)
{
	return json->levels[0].named ? json_incref(json->levels[0].names) :
				       NULL;
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
