/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "debuginfo/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/printable.h"
#include "base/xalloc.h"
#include "dwarf/wire.h"

struct answer_string {
	UT_hash_handle hh;
	char text[];
};

struct answer_block {
	struct answer_block *previous;
	max_align_t bytes[];
};

/* The least that one takes in an answer: no count can be higher. */
#define PART_SIZE 26
#define TYPE_SIZE 36

void answers_fini(struct answers *answers)
{
	struct answer_string *string, *next;

	HASH_ITER(hh, answers->strings, string, next) {
		HASH_DEL(answers->strings, string);
		free(string);
	}
	while (answers->blocks) {
		struct answer_block *block = answers->blocks;

		answers->blocks = block->previous;
		free(block);
	}
}

static void *keep(struct answers *answers, size_t count, size_t size)
{
	struct answer_block *block = xcalloc(1, sizeof(*block) + count * size);

	block->previous = answers->blocks;
	answers->blocks = block;
	return block->bytes;
}

static const char *read_string(struct answers *answers, struct cursor *c)
{
	struct answer_string *string, *known;
	size_t length;
	const char *text = wire_string(c, &length);

	if (!text)
		return NULL;
	string = xmalloc(sizeof(*string) + length + 1);
	memcpy(string->text, text, length);
	string->text[length] = '\0';
	/* A terminal must not take a name for a command. */
	printable_make(string->text, length);
	HASH_FIND(hh, answers->strings, string->text, length, known);
	if (known) {
		free(string);
		return known->text;
	}
	HASH_ADD_KEYPTR(hh, answers->strings, string->text, length, string);
	return string->text;
}

static struct debug_place read_place(struct answers *answers, struct cursor *c)
{
	struct debug_place place = { .function = read_string(answers, c) };

	place.file = read_string(answers, c);
	place.line = cursor_u32(c);
	place.column = cursor_u32(c);
	place.start_line = cursor_u32(c);
	return place;
}

static struct debug_target read_target(struct answers *answers,
				       struct cursor *c)
{
	struct debug_target target = { .kind = DEBUG_TARGET_UNKNOWN };
	uint8_t kind = cursor_u8(c);

	target.address = cursor_u64(c);
	target.name = read_string(answers, c);
	if (kind > DEBUG_TARGET_NAME ||
	    (kind == DEBUG_TARGET_NAME && !target.name))
		c->bad = true;
	else
		target.kind = kind;
	return target;
}

int answers_read_places(struct answers *answers, struct cursor *c,
			struct debug_caller *caller_ret,
			const struct debug_place **ret, unsigned *count_ret)
{
	struct debug_caller caller = { .entry = cursor_u64(c) };
	struct debug_place *places;
	uint32_t count, i;

	caller.target = read_target(answers, c);
	count = cursor_u32(c);
	if (c->bad || count > WIRE_PLACES_MAX)
		return -EPROTO;
	places = keep(answers, count, sizeof(*places));
	for (i = 0; i < count; i++)
		places[i] = read_place(answers, c);
	*ret = places;
	*count_ret = count;
	*caller_ret = caller;
	return c->bad ? -EPROTO : 0;
}

int answers_read_tails(struct answers *answers, struct cursor *c,
		       struct debug_tails *ret)
{
	bool complete = cursor_u8(c);
	uint32_t count = cursor_u32(c), i;
	struct debug_tail *list;

	if (c->bad || count > WIRE_TAILS_MAX)
		return -EPROTO;
	list = keep(answers, count, sizeof(*list));
	for (i = 0; i < count; i++) {
		list[i].address = cursor_u64(c);
		list[i].target = read_target(answers, c);
	}
	*ret = (struct debug_tails){ complete, count, list };
	return c->bad ? -EPROTO : 0;
}

int answers_read_way(struct answers *answers, struct cursor *c,
		     struct debug_step *steps_ret, unsigned *count_ret)
{
	const uint32_t count = cursor_u32(c);

	if (c->bad || count > DEBUG_STEPS_MAX)
		return -EPROTO;
	for (uint32_t i = 0; i < count; i++) {
		steps_ret[i].path = read_string(answers, c);
		steps_ret[i].row.start = cursor_u64(c);
		steps_ret[i].row.size = cursor_u64(c);
		steps_ret[i].row.bytes = cursor_u64(c);
		steps_ret[i].type = read_string(answers, c);
		steps_ret[i].kind = read_string(answers, c);
		steps_ret[i].end = cursor_u64(c);
	}
	*count_ret = count;
	return c->bad ? -EPROTO : 0;
}

/* ---- functions ---- */

static struct debug_part read_part(struct answers *answers, struct cursor *c)
{
	struct debug_part part = { .name = read_string(answers, c) };

	part.type = cursor_u32(c);
	part.value = cursor_u64(c);
	part.offset = cursor_u64(c);
	part.bit_size = cursor_u8(c);
	part.bit_offset = cursor_u8(c);
	if (part.bit_size > 64 || part.bit_offset > 63 ||
	    part.bit_size + part.bit_offset > 64)
		c->bad = true;
	return part;
}

static const struct debug_part *
read_parts(struct answers *answers, struct cursor *c, uint32_t *count_ret)
{
	uint32_t count = cursor_u32(c), i;
	struct debug_part *parts;

	if (c->bad || count > (c->size - c->position) / PART_SIZE) {
		c->bad = true;
		count = 0;
	}
	parts = keep(answers, count, sizeof(*parts));
	for (i = 0; i < count; i++)
		parts[i] = read_part(answers, c);
	*count_ret = count;
	return parts;
}

static bool read_bool(struct cursor *c)
{
	return cursor_u8(c) != 0;
}

static struct debug_type read_type(struct answers *answers, struct cursor *c)
{
	struct debug_type type = { .kind = DEBUG_UNKNOWN };
	uint8_t kind = cursor_u8(c);

	if (kind > DEBUG_UNKNOWN)
		c->bad = true;
	else
		type.kind = kind;
	type.name = read_string(answers, c);
	type.size = cursor_u64(c);
	type.align = cursor_u32(c);
	type.is_signed = read_bool(c);
	type.declared_only = read_bool(c);
	type.by_address = read_bool(c);
	type.target = cursor_u32(c);
	type.length = cursor_u64(c);
	type.parts = read_parts(answers, c, &type.part_count);
	return type;
}

static bool is_number(const struct debug_function *function, uint32_t type)
{
	return type == DEBUG_NO_TYPE || type < function->type_count;
}

static bool are_numbers(const struct debug_function *function,
			const struct debug_part *parts, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (!is_number(function, parts[i].type))
			return false;
	return true;
}

/* Whether every type that is referred to is there. */
static bool is_closed(const struct debug_function *function)
{
	uint32_t i;

	for (i = 0; i < function->type_count; i++) {
		const struct debug_type *type = &function->types[i];

		if (!is_number(function, type->target) ||
		    !are_numbers(function, type->parts, type->part_count))
			return false;
	}
	return is_number(function, function->result) &&
	       are_numbers(function, function->parameters,
			   function->parameter_count);
}

int answers_read_function(struct answers *answers, struct cursor *c,
			  const struct debug_function **ret)
{
	struct debug_function *function = keep(answers, 1, sizeof(*function));
	struct debug_type *types;
	uint32_t count, i;

	function->result = cursor_u32(c);
	function->prototyped = read_bool(c);
	function->variadic = read_bool(c);
	function->is_method = read_bool(c);
	function->parameters =
		read_parts(answers, c, &function->parameter_count);
	count = cursor_u32(c);
	if (c->bad || count > (c->size - c->position) / TYPE_SIZE)
		return -EPROTO;
	types = keep(answers, count, sizeof(*types));
	for (i = 0; i < count; i++)
		types[i] = read_type(answers, c);
	function->type_count = count;
	function->types = types;
	*ret = function;
	return c->bad || !is_closed(function) ? -EPROTO : 0;
}
