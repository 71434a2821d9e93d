/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/flatten.h"

#include "prototype/layout.h"

/* Debug information may lie: structs that hold themselves, or nothing. */
#define STEPS_MAX 4096

struct flattening {
	struct flattened *to;
	unsigned word_size;
	unsigned steps;
	unsigned depth;
};

static void add_type(struct flattening *flattening, const struct type *type,
		     uint64_t offset);

/* Members of a union may be the same. */
static bool is_known(const struct flat_value *value,
		     const struct scalar *scalar)
{
	for (unsigned i = 0; i < value->count; i++) {
		const struct scalar *other = &value->scalars[i];

		if (other->offset == scalar->offset &&
		    other->size == scalar->size && other->kind == scalar->kind)
			return true;
	}
	return false;
}

static void add_scalar(struct flattening *flattening, uint64_t offset,
		       uint8_t size, enum scalar_kind kind)
{
	struct flat_value *value = &flattening->to->value;
	struct scalar scalar = { .offset = offset, .size = size, .kind = kind };
	unsigned at = value->count;

	if (value->count == FLAT_SCALARS_MAX || is_known(value, &scalar))
		return;
	for (; at && flattening->to->scalars[at - 1].offset > offset; at--)
		flattening->to->scalars[at] = flattening->to->scalars[at - 1];
	flattening->to->scalars[at] = scalar;
	value->count++;
}

static void add_integer(struct flattening *flattening, uint64_t size,
			uint64_t offset)
{
	uint64_t part = size > 8 ? 8 : size;

	for (uint64_t at = 0; at < size; at += part)
		add_scalar(flattening, offset + at, part, SCALAR_INTEGER);
}

static void add_float(struct flattening *flattening, const struct type *type,
		      uint64_t offset)
{
	if (type->size == TYPE_EXTENDED)
		add_scalar(flattening, offset, TYPE_EXTENDED, SCALAR_X87);
	else
		add_scalar(flattening, offset, type->size, SCALAR_FLOAT);
}

/* It may lie at any bit; whole bytes of it are always aligned. */
static void add_bits(struct flattening *flattening,
		     const struct type_member *member, uint64_t offset)
{
	uint64_t first = offset + member->bit_offset / 8;
	uint64_t last =
		offset + (member->bit_offset + member->bit_size - 1) / 8;

	if (last >= FLAT_BYTES_MAX)
		return;
	for (uint64_t at = first; at <= last; at++)
		add_scalar(flattening, at, 1, SCALAR_INTEGER);
}

static void add_members(struct flattening *flattening, const struct type *type,
			uint64_t offset)
{
	struct layout_walk walk = layout_members(type, flattening->word_size);
	const struct type_member *member;
	uint64_t at;

	while ((member = layout_next(&walk, &at))) {
		if (member->bit_size)
			add_bits(flattening, member, offset + at);
		else
			add_type(flattening, member->type, offset + at);
		if (!flattening->steps)
			break;
	}
}

static void add_elements(struct flattening *flattening, const struct type *type,
			 uint64_t offset)
{
	uint64_t whole = layout_of(type, flattening->word_size).size;
	uint64_t size = layout_of(type->target, flattening->word_size).size;

	/* Larger than the struct that it is in, if debug information lies. */
	if (offset >= FLAT_BYTES_MAX)
		return;
	if (whole > FLAT_BYTES_MAX - offset)
		whole = FLAT_BYTES_MAX - offset;
	for (uint64_t at = 0; size && at < whole && flattening->steps;
	     at += size)
		add_type(flattening, type->target, offset + at);
}

static void add_kind(struct flattening *flattening, const struct type *type,
		     uint64_t offset)
{
	uint64_t size = layout_of(type, flattening->word_size).size;

	switch (type->kind) {
	case TYPE_INTEGER:
	case TYPE_POINTER:
		add_integer(flattening, size, offset);
		break;
	case TYPE_FLOAT:
		add_float(flattening, type, offset);
		break;
	case TYPE_COMPLEX:
		add_float(flattening, type, offset);
		add_float(flattening, type, offset + size / 2);
		break;
	case TYPE_ARRAY:
		add_elements(flattening, type, offset);
		break;
	case TYPE_STRUCT:
	case TYPE_UNION:
		add_members(flattening, type, offset);
		break;
	case TYPE_VOID:
		break;
	}
}

static void add_type(struct flattening *flattening, const struct type *type,
		     uint64_t offset)
{
	if (!flattening->steps || flattening->depth == TYPE_DEPTH_MAX ||
	    offset >= FLAT_BYTES_MAX)
		return;
	flattening->steps--;
	flattening->depth++;
	add_kind(flattening, type, offset);
	flattening->depth--;
}

/* One number, as nearly all arguments are: there is nothing to walk over. */
static bool is_word(const struct type *type, const struct layout *layout)
{
	return (type->kind == TYPE_POINTER || type->kind == TYPE_INTEGER) &&
	       layout->size && layout->size <= 8;
}

void flatten(const struct type *type, unsigned word_size, struct flattened *ret)
{
	struct flattening flattening = { .to = ret,
					 .word_size = word_size,
					 .steps = STEPS_MAX };
	struct layout layout = layout_of(type, word_size);

	ret->value = (struct flat_value){
		.size = layout.size,
		.align = layout.align,
		.aggregate = type->kind == TYPE_STRUCT ||
			     type->kind == TYPE_UNION ||
			     type->kind == TYPE_ARRAY,
		.complex = type->kind == TYPE_COMPLEX,
		.by_address = type->in_memory,
		.scalars = ret->scalars,
	};
	if (is_word(type, &layout))
		add_scalar(&flattening, 0, layout.size, SCALAR_INTEGER);
	else if (layout.size <= FLAT_BYTES_MAX)
		add_type(&flattening, type, 0);
}
