/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/way.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/xalloc.h"
#include "dwarf/container.h"
#include "dwarf/data.h"
#include "dwarf/scope.h"
#include "dwarf/type_kind.h"
#include "dwarf/types.h"
#include "dwarf/wire.h"

/* How deep members lie in members. */
#define DEPTH_MAX 32

/* Where one is among the members of a type. */
struct spot {
	struct die type; /* what is there: a pointer, or what can't be divided */
	uint64_t offset; /* … and how far in it */
};

/* How far a way has been followed. */
struct walker {
	struct die type;            /* of what was come to last */
	struct container container; /* … that one of these has led to */
	uint64_t at;                /* … where the pointer is in there, … */
	struct strbuf path;         /* … of members */
	struct debug_row row;       /* … the first that it is in */
};

static bool type_of(const struct die *die, struct die *ret)
{
	const char *name = NULL;

	return die_inherited_reference(die, DW_AT_type, ret) &&
	       types_peel(ret, &name);
}

/* 0: it isn't known. */
static uint64_t size_of(const struct die *type)
{
	struct debug_type array, one;
	uint64_t size = 0;
	struct die element;

	type_describe(type, &array);
	if (array.kind != DEBUG_ARRAY || array.size)
		return array.size;
	if (array.length == UINT64_MAX || !type_of(type, &element))
		return 0;
	type_describe(&element, &one);
	if (__builtin_mul_overflow(array.length, one.size, &size))
		size = 0;
	die_put(&element);
	return size;
}

/* What begins so is the library's own business (C++ [lex.name]). */
static bool is_reserved(const char *name)
{
	return name && name[0] == '_' &&
	       (name[1] == '_' || isupper((unsigned char)name[1]));
}

/* A member, or a base class, that isn't elsewhere. */
static bool is_part(const struct die *die)
{
	const unsigned tag = die_tag(die);

	return (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
	       !die_flag(die, DW_AT_external) &&
	       !die_flag(die, DW_AT_declaration) &&
	       !die_has(die, DW_AT_const_value) &&
	       !die_has(die, DW_AT_virtuality) && !die_has(die, DW_AT_bit_size);
}

/* Whether the pointer at an offset lies in it; then the spot is within its type.
   Empty base classes are where members are. */
static bool covers(const struct die *part, uint64_t offset, struct spot *ret)
{
	uint64_t start = 0;

	if (die_has(part, DW_AT_data_member_location) &&
	    !die_number(part, DW_AT_data_member_location, &start))
		return false;
	if (offset < start || !type_of(part, &ret->type))
		return false;
	ret->offset = offset - start;
	if (ret->offset + part->dwarf->word_size <= size_of(&ret->type))
		return true;
	die_put(&ret->type);
	return false;
}

/* Members of the library's are passed through, and not told, as what they are
   inherited from isn't. */
static bool add_member(struct walker *walker, const struct die *type,
		       const char *name, const struct die *inner)
{
	struct container *container = &walker->container;

	if (is_reserved(name))
		return container_enter(container, type, name);
	if (name) {
		container_fini(container);
		strbuf_printf(&walker->path, ".%s", name);
	} else if (is_reserved(die_string(inner, DW_AT_name))) {
		(void)container_enter(container, type, "");
	}
	return true;
}

/* Into the member; false (and nothing is changed) when none is to be told. Of a
   union any of them might be meant. */
static bool enter_struct(struct walker *walker, struct spot *spot)
{
	struct die part;

	if (die_flag(&spot->type, DW_AT_declaration))
		return false;
	for_each_child(&spot->type, &part) {
		const bool member = die_tag(&part) == DW_TAG_member;
		const char *name = member ? die_string(&part, DW_AT_name) :
					    NULL;
		struct spot inner;

		if (!is_part(&part) || !covers(&part, spot->offset, &inner))
			continue;
		die_put(&part);
		if (!add_member(walker, &spot->type, name, &inner.type)) {
			die_put(&inner.type);
			return false;
		}
		die_put(&spot->type);
		*spot = inner;
		return true;
	}
	return false;
}

static void add_index(struct walker *walker, uint64_t offset, uint64_t size,
		      uint64_t bytes)
{
	strbuf_printf(&walker->path, "[%" PRIu64 "]", offset / size);
	if (!walker->row.size)
		walker->row =
			(struct debug_row){ walker->at - offset, size, bytes };
}

/* One of several dimensions isn't told by one number. */
static bool has_one_dimension(const struct die *array)
{
	unsigned count = 0;
	struct die range;

	for_each_child(array, &range)
		count += die_tag(&range) == DW_TAG_subrange_type;
	return count == 1;
}

static bool enter_array(struct walker *walker, struct spot *spot)
{
	struct die element;
	uint64_t size;

	if (!has_one_dimension(&spot->type) || !type_of(&spot->type, &element))
		return false;
	size = size_of(&element);
	if (!size) {
		die_put(&element);
		return false;
	}
	add_index(walker, spot->offset, size, size_of(&spot->type));
	die_put(&spot->type);
	*spot = (struct spot){ element, spot->offset % size };
	return true;
}

static enum debug_type_kind kind_of(const struct die *type)
{
	struct debug_type description;

	type_describe(type, &description);
	return description.kind;
}

/* As far as it can be told; whether that is a pointer's beginning. */
static bool descend(struct walker *walker, struct spot *spot)
{
	for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
		switch (kind_of(&spot->type)) {
		case DEBUG_STRUCT:
			if (!enter_struct(walker, spot))
				return false;
			break;
		case DEBUG_ARRAY:
			if (!enter_array(walker, spot))
				return false;
			break;
		case DEBUG_POINTER:
		case DEBUG_REFERENCE:
			return !spot->offset;
		default:
			return false;
		}
	}
	return false;
}

static bool copy_spot(const struct die *type, uint64_t offset, struct spot *ret)
{
	ret->offset = offset;
	return die_at(type->dwarf, die_offset(type), &ret->type);
}

static bool enter_node(struct walker *walker, uint64_t offset, struct spot *ret)
{
	struct container *container = &walker->container;
	const uint64_t size = size_of(&walker->type);
	const uint64_t value = container_value_offset(container, size);
	bool found;

	if (offset < size)
		return copy_spot(&walker->type, offset, ret);
	found = offset >= value &&
		copy_spot(&container->value, offset - value, ret);
	container_fini(container);
	return found;
}

/* Whether what a pointer leads to is surely an array. */
static bool is_row(const struct walker *walker)
{
	return walker->container.row || kind_of(&walker->type) == DEBUG_POINTER;
}

/*
 * What a pointer leads to may go on behind the type that it is declared with: it
 * may be an array of these, or an object of a derived class, or begin with one.
 * Only an array of pointers is sure, and what a container has in a row.
 */
static bool enter_block(struct walker *walker, uint64_t offset,
			struct spot *ret)
{
	struct container *container = &walker->container;
	const uint64_t size = size_of(&walker->type);
	const bool pointers = kind_of(&walker->type) == DEBUG_POINTER;
	const bool array = is_row(walker);

	if (container_is_node(container, &walker->type))
		return enter_node(walker, offset, ret);
	/* Nodes are mostly still to come. */
	if (!pointers || !container->node)
		container_fini(container);
	if (!size || (offset >= size && !array))
		return false;
	if (array) {
		add_index(walker, offset, size, UINT64_MAX);
		offset %= size;
	}
	return copy_spot(&walker->type, offset, ret);
}

static bool add_type(const struct walker *walker, const struct die *type,
		     struct strbuf *out)
{
	const enum debug_type_kind kind = kind_of(type);
	const char *name = die_string(type, DW_AT_name);

	if (!name || (kind != DEBUG_STRUCT && kind != DEBUG_UNION))
		return false;
	if (is_reserved(name) && walker->container.name.length)
		return false;
	scope_add(type, out);
	strbuf_puts(out, name);
	return true;
}

/* "session", "session *", "std::map node"; what has no name is none. */
static void write_name(const struct walker *walker, struct strbuf *out)
{
	const struct die *type = &walker->type;
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	struct die target;

	if (kind_of(type) == DEBUG_POINTER && type_of(type, &target)) {
		if (add_type(walker, &target, &name))
			strbuf_puts(&name, " *");
		die_put(&target);
	} else {
		(void)add_type(walker, type, &name);
	}
	if (!name.length)
		container_add_name(&walker->container, type, &name);
	wire_put_string(out, name.text);
}

static void add_entry(const struct die *die, struct strbuf *out)
{
	strbuf_printf(out, "%s%" PRIx64, die->dwarf->common ? "" : "=",
		      die_offset(die));
}

/* All that enter_block() and write_name() go by. */
static void write_kind(const struct walker *walker, struct strbuf *out)
{
	const struct container *container = &walker->container;
	CLEANUP(strbuf_fini) struct strbuf kind = { 0 };

	add_entry(&walker->type, &kind);
	if (container->name.length)
		strbuf_printf(&kind, " %s%s", container->name.text,
			      container->row ? "[]" : "");
	if (container->node) {
		strbuf_printf(&kind, " %s ", container->node);
		add_entry(&container->value, &kind);
	}
	wire_put_string(out, kind.text);
	if (container_is_node(container, &walker->type) || is_row(walker))
		wire_put_u64(out, UINT64_MAX);
	else
		wire_put_u64(out, size_of(&walker->type));
}

static void write_row(const struct debug_row *row, struct strbuf *out)
{
	wire_put_u64(out, row->start);
	wire_put_u64(out, row->size);
	wire_put_u64(out, row->bytes);
}

/* One step; false when the way can't be followed any further. */
static bool step(struct walker *walker, struct spot *spot, struct strbuf *out)
{
	struct die target;
	bool found = descend(walker, spot);

	wire_put_string(out, found || walker->path.length ?
				     strbuf_text(&walker->path) :
				     NULL);
	write_row(&walker->row, out);
	found = found && type_of(&spot->type, &target);
	die_put(&spot->type);
	if (!found) {
		wire_put_string(out, NULL);
		wire_put_string(out, NULL);
		wire_put_u64(out, 0);
		return false;
	}
	die_put(&walker->type);
	walker->type = target;
	write_name(walker, out);
	write_kind(walker, out);
	return true;
}

static bool begin(struct infofile *file, uint64_t variable,
		  struct walker *walker)
{
	struct die die;
	bool found = data_find(file, variable, &die);

	if (found) {
		found = type_of(&die, &walker->type);
		die_put(&die);
	}
	return found;
}

void way_write(struct infofile *file, uint64_t variable,
	       const uint64_t *offsets, unsigned count, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf steps = { 0 };
	struct walker walker = { .path = { 0 } };
	bool going_on = begin(file, variable, &walker);
	unsigned told = 0;

	while (going_on && told < count) {
		struct spot spot;

		strbuf_clear(&walker.path);
		walker.row = (struct debug_row){ .size = 0 };
		walker.at = offsets[told];
		going_on = told ? enter_block(&walker, offsets[told], &spot) :
				  copy_spot(&walker.type, offsets[0], &spot);
		if (!going_on)
			break;
		going_on = step(&walker, &spot, &steps);
		told++;
	}
	die_put(&walker.type);
	container_fini(&walker.container);
	strbuf_fini(&walker.path);
	wire_put_u32(out, told);
	strbuf_add(out, strbuf_text(&steps), steps.length);
}
