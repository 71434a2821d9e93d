/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "prototype/from_debuginfo.h"

static const struct type *keep(struct pool *pool, const struct type *type)
{
	return pool_copy(pool, type, sizeof(*type));
}

static bool is_integer_size(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
}

/* NULL when there is no integer of that size. */
static const struct type *
make_integer(struct pool *pool, const struct debug_type *from, enum lens lens)
{
	const struct type type = {
		.kind = TYPE_INTEGER,
		.size = from->size,
		.is_signed = from->is_signed,
		.lens = lens,
	};

	return is_integer_size(from->size) ? keep(pool, &type) : NULL;
}

/* Who says of a char whether it has a sign means a small number (int8_t). */
static const struct type *make_character(struct pool *pool,
					 const struct debug_type *from)
{
	bool is_number = from->name && (!strncmp(from->name, "unsigned", 8) ||
					!strncmp(from->name, "signed", 6));

	return make_integer(pool, from, is_number ? LENS_PLAIN : LENS_CHAR);
}

const struct type *text_from_debuginfo(struct pool *pool,
				       const struct debug_type *character)
{
	struct type type = { .kind = TYPE_POINTER, .lens = LENS_MAYBE_TEXT };

	switch (character->size) {
	case 1:
		return type_builtin("maybe_string", strlen("maybe_string"));
	case 2:
	case 4:
		type.target = make_character(pool, character);
		return keep(pool, &type);
	}
	return type_builtin("addr", strlen("addr"));
}

/*
 * Clang has the same name for all kinds of complex numbers, of which those of
 * __float128 are the rarest.
 */
static bool is_long_double(const struct debug_type *from)
{
	return from->name && (strstr(from->name, "long double") ||
			      !strcmp(from->name, "complex"));
}

/* long double has 10 bytes that count, and may be as large as a __float128. */
static uint8_t float_size(const struct debug_type *from, uint64_t size)
{
	if (size == 4 || size == 8)
		return size;
	if ((size == 10 || size == 12 || size == 16) && is_long_double(from))
		return TYPE_EXTENDED;
	return 0;
}

static const struct type *make_float(struct pool *pool,
				     const struct debug_type *from)
{
	struct type type = { .kind = TYPE_FLOAT };

	type.size = float_size(from, from->size);
	if (from->kind == DEBUG_COMPLEX) {
		type.kind = TYPE_COMPLEX;
		type.size = float_size(from, from->size / 2);
	}
	return type.size ? keep(pool, &type) : NULL;
}

/*
 * Names that are to be or-ed are of one bit each. With two of them nobody
 * knows: 1 and 2 are what comes after 0, too.
 */
static bool are_flags(const struct debug_type *from)
{
	uint64_t seen = 0;
	uint32_t i, bits = 0;

	for (i = 0; i < from->part_count; i++) {
		uint64_t value = from->parts[i].value;

		if (!value)
			continue;
		if (value & (value - 1) || value & seen)
			return false;
		seen |= value;
		bits++;
	}
	return bits > 2;
}

static const struct type *make_enum(struct pool *pool,
				    const struct debug_type *from)
{
	struct type_name *names;
	struct type type = {
		.kind = TYPE_INTEGER,
		.size = from->size,
		.is_signed = from->is_signed,
		.lens = are_flags(from) ? LENS_FLAGS : LENS_ENUM,
		.count = from->part_count,
	};
	uint32_t i;

	if (!is_integer_size(from->size) || from->size > 8)
		return NULL;
	names = pool_alloc(pool, type.count * sizeof(*names));
	for (i = 0; i < type.count; i++) {
		int64_t value = from->parts[i].value;

		names[i] = (struct type_name){
			.name = from->parts[i].name ? from->parts[i].name : "?",
			.value = value,
			.mask = value ? (uint64_t)value : UINT64_MAX,
		};
	}
	type.names = names;
	return keep(pool, &type);
}

/* Of what nothing is known but how large it is. */
static const struct type *make_unknown(struct pool *pool,
				       const struct debug_type *from)
{
	const struct type type = { .kind = TYPE_INTEGER,
				   .lens = LENS_HEX,
				   .size = from->size ? from->size :
							TYPE_WORD };

	return !from->size || (is_integer_size(from->size) && from->size <= 8) ?
		       keep(pool, &type) :
		       NULL;
}

const struct type *number_from_debuginfo(struct pool *pool,
					 const struct debug_type *from)
{
	switch (from->kind) {
	case DEBUG_INTEGER:
		return make_integer(pool, from, LENS_PLAIN);
	case DEBUG_CHARACTER:
		return make_character(pool, from);
	case DEBUG_BOOLEAN:
		return make_integer(pool, from, LENS_BOOL);
	case DEBUG_FLOAT:
	case DEBUG_COMPLEX:
		return make_float(pool, from);
	case DEBUG_ENUM:
		return make_enum(pool, from);
	default:
		return make_unknown(pool, from);
	}
}
