/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/from_debuginfo.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "prototype/layout.h"

/*
 * A log line has to stay readable. So what a pointer leads to is shown for
 * arguments and results, not for what is within that; and only if it is a
 * struct of so few values.
 */
#define VALUES_BEHIND_POINTER 8

/* Debug information may lie: structs of structs of structs, many in each. */
#define STEPS_MAX 65536

/* Larger structs are none that a log line could show. */
#define OFFSET_MAX (1u << 30)

/* What a type was made to, as an argument and behind one. */
enum level {
	LEVEL_VALUE,
	LEVEL_BEHIND,
	LEVELS,
};

struct making {
	struct pool *pool;
	const struct debug_function *function;
	const struct type **made[LEVELS]; /* by number; NULL: not yet */
	bool *begun[LEVELS];
	unsigned depth;
	unsigned steps; /* left for walks that structs in structs make long */
};

static const struct type *make(struct making *making, uint32_t number,
			       enum level level);

static const struct type *builtin(const char *name)
{
	return type_builtin(name, strlen(name));
}

static const struct type *keep(struct making *making, const struct type *type)
{
	return pool_copy(making->pool, type, sizeof(*type));
}

static const struct debug_type *type_at(const struct making *making,
					uint32_t number)
{
	return number == DEBUG_NO_TYPE ? NULL :
					 &making->function->types[number];
}

/* ---- structs and arrays ---- */

/* A char array is text up to its end or a NUL. */
static const struct type *make_array(struct making *making,
				     const struct debug_type *from,
				     enum level level)
{
	const struct type *target = make(making, from->target, level);
	struct expression length = { .kind = EXPRESSION_NUMBER };
	struct type type = { .kind = TYPE_ARRAY, .target = target };

	/* One without end, which is none at all as far as sizes go. */
	length.number = from->length == UINT64_MAX ? 0 : from->length;
	if (!target || target->kind == TYPE_VOID)
		return NULL;
	type.length = pool_copy(making->pool, &length, sizeof(length));
	if (target->kind == TYPE_INTEGER && target->lens == LENS_CHAR &&
	    target->size == 1)
		type.lens = LENS_STRING;
	return keep(making, &type);
}

static bool is_passed_by_address(struct making *making,
				 const struct debug_type *from, unsigned depth)
{
	bool found = from->by_address;
	uint32_t i;

	if (from->kind != DEBUG_STRUCT || depth == TYPE_DEPTH_MAX)
		return found;
	for (i = 0; i < from->part_count && !found && making->steps; i++) {
		const struct debug_type *part =
			type_at(making, from->parts[i].type);

		making->steps--;
		found = part && part->kind == DEBUG_STRUCT &&
			is_passed_by_address(making, part, depth + 1);
	}
	return found;
}

/* What C++ has of base classes and allocators is often nothing at all. */
static bool is_empty(const struct type *type)
{
	return type->kind == TYPE_VOID ||
	       (type->kind == TYPE_STRUCT && type->complete && !type->count);
}

static bool make_member(struct making *making, const struct debug_part *from,
			enum level level, struct type_member *ret)
{
	const struct type *type = make(making, from->type, level);

	if (!type || is_empty(type) || from->offset > OFFSET_MAX)
		return false;
	*ret = (struct type_member){
		.type = type,
		.name = from->name,
		.offset = from->offset,
		.bit_size = from->bit_size,
		.bit_offset = from->bit_offset,
	};
	return !from->bit_size || type->kind == TYPE_INTEGER;
}

/* std::string of libstdc++, whose text is what its first member points to. */
static bool is_string(const struct debug_type *from)
{
	static const char start[] = "basic_string<char, std::char_traits<char>";

	return from->kind == DEBUG_STRUCT && from->name && from->by_address &&
	       (from->size == 32 || from->size == 24) &&
	       !strncmp(from->name, start, sizeof(start) - 1);
}

static void make_text_member(struct making *making, struct type *type)
{
	const struct type_member member = { .type = builtin("maybe_string") };

	type->members = pool_copy(making->pool, &member, sizeof(member));
	type->count = 1;
	type->is_text = true;
}

static void make_members(struct making *making, const struct debug_type *from,
			 enum level level, struct type *type)
{
	struct type_member *members =
		pool_alloc(making->pool, from->part_count * sizeof(*members));
	uint32_t i;

	for (i = 0; i < from->part_count; i++)
		if (make_member(making, &from->parts[i], level,
				&members[type->count]))
			type->count++;
	type->members = members;
}

static const struct type *make_struct(struct making *making,
				      const struct debug_type *from,
				      enum level level)
{
	struct type type = {
		.kind = from->kind == DEBUG_UNION ? TYPE_UNION : TYPE_STRUCT,
		.complete = !from->declared_only,
		.placed = true,
		.in_memory = is_passed_by_address(making, from, 0),
		.bytes = from->size < OFFSET_MAX ? from->size : OFFSET_MAX,
		.align = from->align,
	};

	if (is_string(from))
		make_text_member(making, &type);
	else
		make_members(making, from, level, &type);
	if (!type.align)
		type.align = layout_natural_align(&type);
	return keep(making, &type);
}

/* ---- pointers ---- */

static unsigned count_values(struct making *making,
			     const struct debug_type *type, unsigned depth)
{
	unsigned count = 0;
	uint32_t i;

	if (!type || (type->kind != DEBUG_STRUCT && type->kind != DEBUG_UNION))
		return 1;
	if (depth == TYPE_DEPTH_MAX || !making->steps)
		return VALUES_BEHIND_POINTER + 1;
	making->steps--;
	for (i = 0; i < type->part_count && count <= VALUES_BEHIND_POINTER; i++)
		count += count_values(making,
				      type_at(making, type->parts[i].type),
				      depth + 1);
	return count;
}

static bool is_shown_behind(struct making *making,
			    const struct debug_type *target)
{
	unsigned count;

	if ((target->kind != DEBUG_STRUCT && target->kind != DEBUG_UNION) ||
	    target->declared_only)
		return false;
	if (is_string(target))
		return true;
	count = count_values(making, target, 0);
	return count && count <= VALUES_BEHIND_POINTER;
}

/* What it refers to is one value, and is there. */
static bool is_shown_referred(struct making *making,
			      const struct debug_type *target)
{
	switch (target->kind) {
	case DEBUG_INTEGER:
	case DEBUG_CHARACTER:
	case DEBUG_BOOLEAN:
	case DEBUG_FLOAT:
	case DEBUG_COMPLEX:
	case DEBUG_ENUM:
	case DEBUG_POINTER:
		return true;
	default:
		return is_shown_behind(making, target);
	}
}

static const struct type *make_behind(struct making *making, uint32_t number)
{
	struct type type = { .kind = TYPE_POINTER };

	type.target = make(making, number, LEVEL_BEHIND);
	return type.target ? keep(making, &type) : builtin("addr");
}

static const struct type *make_reference(struct making *making,
					 const struct debug_type *from,
					 enum level level)
{
	const struct debug_type *target = type_at(making, from->target);

	if (!target || level != LEVEL_VALUE ||
	    !is_shown_referred(making, target))
		return builtin("addr");
	return make_behind(making, from->target);
}

static const struct type *make_pointer(struct making *making,
				       const struct debug_type *from,
				       enum level level)
{
	const struct debug_type *target = type_at(making, from->target);

	if (target && target->kind == DEBUG_CHARACTER)
		return text_from_debuginfo(making->pool, target);
	if (!target || level != LEVEL_VALUE || !is_shown_behind(making, target))
		return builtin("addr");
	return make_behind(making, from->target);
}

/* ---- all of them ---- */

static const struct type *make_kind(struct making *making,
				    const struct debug_type *from,
				    enum level level)
{
	switch (from->kind) {
	case DEBUG_VOID:
		return builtin("void");
	case DEBUG_POINTER:
		return make_pointer(making, from, level);
	case DEBUG_REFERENCE:
		return make_reference(making, from, level);
	case DEBUG_ARRAY:
		return make_array(making, from, level);
	case DEBUG_STRUCT:
	case DEBUG_UNION:
		return make_struct(making, from, level);
	default:
		return number_from_debuginfo(making->pool, from);
	}
}

/*
 * NULL when values of the type can't be shown: no real one holds itself, and
 * some are not known.
 */
static const struct type *make(struct making *making, uint32_t number,
			       enum level level)
{
	if (number == DEBUG_NO_TYPE)
		return builtin("void");
	if (making->made[level][number] || making->begun[level][number] ||
	    making->depth == TYPE_DEPTH_MAX)
		return making->made[level][number];
	making->begun[level][number] = true;
	making->depth++;
	making->made[level][number] =
		make_kind(making, type_at(making, number), level);
	making->depth--;
	return making->made[level][number];
}

/* What `this' points to is an address to whoever reads the log. */
static const struct type *make_parameter(struct making *making, uint32_t index)
{
	const struct debug_function *function = making->function;

	if (index == 0 && function->is_method)
		return builtin("addr");
	return make(making, function->parameters[index].type, LEVEL_VALUE);
}

/* Whether it can be told where the next one lies. */
static bool is_passed(const struct type *type)
{
	return type && type->kind != TYPE_VOID &&
	       ((type->kind != TYPE_STRUCT && type->kind != TYPE_UNION) ||
		type->complete);
}

/* Behind one of unknown size others lie nobody knows where. */
static void make_parameters(struct making *making, struct prototype *ret)
{
	const struct debug_function *function = making->function;
	struct parameter *parameters;
	uint32_t count = function->parameter_count, i;

	ret->variadic = function->variadic || count > PARAMETERS_MAX;
	if (count > PARAMETERS_MAX)
		count = PARAMETERS_MAX;
	parameters = pool_alloc(making->pool, count * sizeof(*parameters));
	for (i = 0; i < count; i++) {
		const struct type *type = make_parameter(making, i);

		if (!is_passed(type)) {
			ret->variadic = true;
			break;
		}
		parameters[i].type = type;
		parameters[i].name = function->parameters[i].name;
	}
	ret->parameters = parameters;
	ret->count = i;
	ret->later = i;
}

const struct prototype *from_debuginfo(struct pool *pool,
				       const struct debug_function *function)
{
	struct prototype *prototype = pool_alloc(pool, sizeof(*prototype));
	struct making making = { .pool = pool,
				 .function = function,
				 .steps = STEPS_MAX };
	const struct type *result;
	bool known;
	int level;

	for (level = 0; level < LEVELS; level++) {
		making.made[level] = xcalloc(function->type_count + 1,
					     sizeof(*making.made[level]));
		making.begun[level] = xcalloc(function->type_count + 1,
					      sizeof(*making.begun[level]));
	}
	result = make(&making, function->result, LEVEL_VALUE);
	/* A result that nobody knows may have a place among the arguments. */
	known = is_passed(result) || (result && result->kind == TYPE_VOID);
	prototype->result = known ? result : &type_guess;
	if (known)
		make_parameters(&making, prototype);
	else
		prototype->variadic = true;
	for (level = 0; level < LEVELS; level++) {
		free(making.made[level]);
		free(making.begun[level]);
	}
	return prototype;
}
