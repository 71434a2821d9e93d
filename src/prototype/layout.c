/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/layout.h"

/*
 * The i386 psABI aligns nothing to more than 4 bytes, and gives a long double
 * 12; that of x86_64 aligns everything to its size.
 */
static uint32_t align_max(unsigned word_size)
{
	return word_size == 4 ? 4 : 16;
}

static uint64_t number_size(uint8_t size, unsigned word_size)
{
	if (size == TYPE_WORD)
		return word_size;
	if (size == TYPE_EXTENDED)
		return word_size == 4 ? 12 : 16;
	return size;
}

static struct layout number_layout(uint8_t size, unsigned count,
				   unsigned word_size)
{
	uint64_t bytes = number_size(size, word_size);
	uint32_t align = bytes == 12 ? 4 : bytes;

	if (align > align_max(word_size))
		align = align_max(word_size);
	return (struct layout){ bytes * count, align };
}

static struct layout array_layout(const struct type *type, unsigned word_size)
{
	struct layout layout = layout_of(type->target, word_size);
	const struct expression *length = type->length;

	/* zero(65): what is shown ends at a zero, the array doesn't. */
	while (length && length->kind == EXPRESSION_ZERO)
		length = length->limit;
	if (!length || length->kind != EXPRESSION_NUMBER || length->times)
		layout.size = 0;
	else if (__builtin_mul_overflow(layout.size, length->number,
					&layout.size) ||
		 layout.size > LAYOUT_BYTES_MAX)
		layout.size = LAYOUT_BYTES_MAX;
	return layout;
}

static uint64_t round_up(uint64_t n, uint32_t align)
{
	return align ? (n + align - 1) / align * align : n;
}

static struct layout members_layout(const struct type *type, unsigned word_size)
{
	struct layout_walk walk = layout_members(type, word_size);
	struct layout layout;
	uint64_t offset;

	if (type->placed)
		return (struct layout){ type->bytes,
					type->align ? type->align : 1 };
	while (layout_next(&walk, &offset))
		;
	layout = (struct layout){ round_up(walk.end, walk.align), walk.align };
	if (layout.size > LAYOUT_BYTES_MAX)
		layout.size = LAYOUT_BYTES_MAX;
	return layout;
}

struct layout layout_of(const struct type *type, unsigned word_size)
{
	switch (type->kind) {
	case TYPE_INTEGER:
	case TYPE_FLOAT:
		return number_layout(type->size, 1, word_size);
	case TYPE_COMPLEX:
		return number_layout(type->size, 2, word_size);
	case TYPE_POINTER:
		return number_layout(TYPE_WORD, 1, word_size);
	case TYPE_ARRAY:
		return array_layout(type, word_size);
	case TYPE_STRUCT:
	case TYPE_UNION:
		return members_layout(type, word_size);
	case TYPE_VOID:
		break;
	}
	return (struct layout){ 0, 1 };
}

struct layout_walk layout_members(const struct type *type, unsigned word_size)
{
	return (struct layout_walk){ .type = type,
				     .word_size = word_size,
				     .align = 1 };
}

const struct type_member *layout_next(struct layout_walk *walk,
				      uint64_t *offset_ret)
{
	const struct type_member *member;
	struct layout layout;
	uint64_t offset;

	if (walk->index >= walk->type->count)
		return NULL;
	member = &walk->type->members[walk->index++];
	if (walk->type->placed) {
		*offset_ret = member->offset;
		return member;
	}
	layout = layout_of(member->type, walk->word_size);
	offset = walk->type->kind == TYPE_UNION ?
			 0 :
			 round_up(walk->end, layout.align);
	if (offset + layout.size > walk->end)
		walk->end = offset + layout.size;
	if (walk->align < layout.align)
		walk->align = layout.align;
	*offset_ret = offset;
	return member;
}

uint32_t layout_natural_align(const struct type *type)
{
	uint32_t align = 1;

	for (unsigned i = 0; i < type->count; i++) {
		const struct type_member *member = &type->members[i];
		uint32_t own = layout_of(member->type, 8).align;

		if (own && member->offset % own)
			return 1;
		if (align < own)
			align = own;
	}
	return type->bytes % align ? 1 : align;
}
