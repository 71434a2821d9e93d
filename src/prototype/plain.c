/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/plain.h"

#include "prototype/signature.h"

#define PLAIN_ARGUMENTS (PLAIN_WHOLE_RESULT - 1)

/* What is shown without a prototype. */
#define GUESSED_ARGUMENTS 4

/* As registers have it, one each. */
static bool is_float(const struct type *type)
{
	return type->kind == TYPE_FLOAT && (type->size == 4 || type->size == 8);
}

static bool is_number(const struct type *type)
{
	if (is_float(type))
		return true;
	if (type->kind == TYPE_POINTER)
		return !type->target || type->target->kind == TYPE_VOID;
	return type->kind == TYPE_INTEGER && type->lens != LENS_FORMAT &&
	       type->lens != LENS_SCAN && type->size <= 8;
}

/* Bytes behind a pointer, which nothing but the arguments says the number of. */
static bool is_text(const struct type *type)
{
	const struct type *array = type->target;

	return type->kind == TYPE_POINTER && !type->needs_result &&
	       (type->lens == LENS_STRING || type->lens == LENS_BYTES) &&
	       array && array->kind == TYPE_ARRAY && !array->needs_result &&
	       array->length && array->target->kind == TYPE_INTEGER &&
	       array->target->size == 1;
}

/* By as much as the result says. */
static bool is_filled(const struct parameter *parameter)
{
	const struct type *array = parameter->type->target;

	return parameter->filled && parameter->type->needs_result &&
	       parameter->type->kind == TYPE_POINTER && array &&
	       array->kind == TYPE_ARRAY;
}

/* A number that an address leads to, or a text that the address there does. */
static bool is_pointed_at(const struct type *type)
{
	const struct type *target = type->target;

	return type->kind == TYPE_POINTER && !type->needs_result && target &&
	       (is_text(target) || is_number(target));
}

/* That it is there another argument says. */
static bool is_plain_parameter(const struct parameter *parameter, bool text,
			       bool filled)
{
	if (parameter->alternative_count)
		return false;
	if (filled && is_pointed_at(parameter->type))
		return true;
	if (parameter->filled)
		return filled && is_filled(parameter);
	return is_number(parameter->type) || (text && is_text(parameter->type));
}

/* A struct that leads nowhere else. */
static bool is_flat(const struct type *type)
{
	unsigned i;

	for (i = 0; i < type->count; i++) {
		const struct type *member = type->members[i].type;

		if (member->kind == TYPE_ARRAY)
			member = member->target;
		if (member->kind != TYPE_INTEGER)
			return false;
	}
	return type->complete;
}

/* An int, or such a struct. */
static bool is_whole(const struct type *type)
{
	const struct type *target = type->target;

	if (type->kind != TYPE_POINTER || !target || type->needs_result)
		return false;
	return target->kind == TYPE_INTEGER ?
		       target->size <= 4 :
		       target->kind == TYPE_STRUCT && is_flat(target);
}

static bool is_plain_result(const struct type *result, unsigned texts)
{
	if (result->kind == TYPE_VOID || is_number(result))
		return true;
	return (texts & PLAIN_RESULT && is_text(result)) ||
	       (texts & PLAIN_WHOLE_RESULT && is_whole(result));
}

bool prototype_is_plain(const struct prototype *prototype, unsigned texts,
			unsigned filled)
{
	unsigned i;

	if (!prototype)
		return true;
	if (prototype->variadic)
		return false;
	for (i = 0; i < prototype->count; i++)
		if (!is_plain_parameter(&prototype->parameters[i],
					texts >> i & 1, filled >> i & 1))
			return false;
	return is_plain_result(prototype->result, texts);
}

/* Its place among those that aren't in floating-point registers. */
static unsigned place_of(const struct prototype *prototype, unsigned argument)
{
	unsigned i, floats = 0;

	for (i = 0; i < argument && i < prototype->count; i++)
		floats += is_float(prototype->parameters[i].type);
	return argument - floats;
}

/* The argument, from 1 on. */
static unsigned argument_of(const struct prototype *prototype,
			    const struct expression *length)
{
	return length->kind == EXPRESSION_ARGUMENT && !length->times &&
			       length->number ?
		       place_of(prototype, (unsigned)length->number - 1) + 1 :
		       0;
}

static struct plain_text text_of(const struct prototype *prototype,
				 unsigned argument)
{
	const struct type *array = prototype->parameters[argument].type->target;

	return (struct plain_text){
		.argument = place_of(prototype, argument),
		.ends = array->length->kind == EXPRESSION_ZERO,
		.length = argument_of(prototype, array->length),
	};
}

unsigned prototype_texts(const struct prototype *prototype,
			 struct plain_text *ret, unsigned most)
{
	unsigned i, count = 0;

	if (!prototype || !prototype_is_plain(prototype, PLAIN_ARGUMENTS, 0))
		return 0;
	for (i = 0; i < prototype->count; i++) {
		const struct type *type = prototype->parameters[i].type;

		if (is_number(type))
			continue;
		if (count == most)
			return 0;
		ret[count++] = text_of(prototype, i);
	}
	return count;
}

bool prototype_plain_result(const struct prototype *prototype,
			    struct plain_prototype *ret)
{
	const struct type *result;

	*ret = (struct plain_prototype){ .arguments = GUESSED_ARGUMENTS };
	if (!prototype)
		return true;
	result = prototype->result;
	ret->arguments = place_of(prototype, prototype->count);
	ret->floats = prototype->count - ret->arguments;
	ret->is_float = is_float(result);
	ret->failure = prototype->failure;
	ret->pointer = result->kind == TYPE_POINTER;
	ret->wide = ret->pointer || result->size == TYPE_WORD ||
		    result->size == 8;
	return result->kind == TYPE_VOID || ret->pointer || ret->is_float ||
	       (result->kind == TYPE_INTEGER &&
		(ret->wide || result->size == 4));
}
