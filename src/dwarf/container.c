/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/container.h"

#include <string.h>

#include "base/xalloc.h"
#include "dwarf/scope.h"
#include "dwarf/types.h"

/*
 * Pointers between nodes are declared with what all nodes begin with; the class
 * that has them knows what follows.
 */
static const struct node_kind {
	const char *owner, *parameter, *node;
} node_kinds[] = {
	{ "_Rb_tree<", "_Val", "_Rb_tree_node_base" },
	{ "_Hashtable<", "_Value", "_Hash_node_base" },
	{ "_List_base<", "_Tp", "_List_node_base" },
	{ "_Fwd_list_base<", "_Tp", "_Fwd_list_node_base" },
};

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static void forget_nodes(struct container *container)
{
	if (container->node)
		die_put(&container->value);
	container->node = NULL;
}

void container_fini(struct container *container)
{
	forget_nodes(container);
	strbuf_fini(&container->name);
	*container = (struct container){ .node = NULL };
}

/* Versions of the library are in namespaces of their own within std. */
static bool set_name(struct container *container, const struct die *type,
		     const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf scope = { 0 };

	scope_add(type, &scope);
	if (!begins_with(strbuf_text(&scope), "std::"))
		return false;
	if (begins_with(name, "basic_string<char,"))
		name = "string";
	strbuf_printf(&container->name, "std::%.*s", (int)strcspn(name, "<"),
		      name);
	return true;
}

static bool find_parameter(const struct die *type, const char *name,
			   struct die *ret)
{
	struct die child;

	for_each_child(type, &child) {
		const char *its = die_string(&child, DW_AT_name);
		const char *unused = NULL;
		bool found;

		if (die_tag(&child) != DW_TAG_template_type_parameter || !its ||
		    strcmp(its, name) != 0)
			continue;
		found = die_reference(&child, DW_AT_type, ret) &&
			types_peel(ret, &unused);
		die_put(&child);
		return found;
	}
	return false;
}

static void set_nodes(struct container *container, const struct die *type,
		      const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(node_kinds); i++) {
		const struct node_kind *kind = &node_kinds[i];
		struct die value;

		if (!begins_with(name, kind->owner) ||
		    !find_parameter(type, kind->parameter, &value))
			continue;
		forget_nodes(container);
		container->node = kind->node;
		container->value = value;
	}
}

bool container_enter(struct container *container, const struct die *type,
		     const char *member)
{
	const char *name = die_string(type, DW_AT_name);

	if (!name ||
	    (!container->name.length && !set_name(container, type, name)))
		return false;
	set_nodes(container, type, name);
	if (!strcmp(member, "_M_start") || !strcmp(member, "_M_p"))
		container->row = true;
	return true;
}

bool container_is_node(const struct container *container,
		       const struct die *type)
{
	const char *name = container->node ? die_string(type, DW_AT_name) :
					     NULL;

	return name && !strcmp(name, container->node);
}

/* ---- where values begin ---- */

/* No type that lies in a container is deeper, or has more parts. */
#define DEPTH_MOST 16
#define PARTS_MOST 1024

static uint64_t alignment_of(const struct die *type, unsigned depth,
			     unsigned *parts);

static uint64_t larger(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

/* A member, a base class, or what an array is of; alignas() may say more. */
static uint64_t alignment_of_part(const struct die *part, unsigned depth,
				  unsigned *parts)
{
	uint64_t align = 1;
	const char *unused = NULL;
	struct die type;

	(void)die_number(part, DW_AT_alignment, &align);
	if (!die_reference(part, DW_AT_type, &type) ||
	    !types_peel(&type, &unused))
		return align;
	align = larger(align, alignment_of(&type, depth, parts));
	die_put(&type);
	return align;
}

static uint64_t alignment_of_parts(const struct die *type, unsigned depth,
				   unsigned *parts)
{
	uint64_t align = 1;
	struct die child;

	for_each_child(type, &child) {
		const unsigned tag = die_tag(&child);

		if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
		    !die_has(&child, DW_AT_declaration))
			align = larger(align,
				       alignment_of_part(&child, depth, parts));
	}
	return align;
}

/* Numbers lie at multiples of their size, pairs of them at those of one. */
static uint64_t alignment_of_number(const struct die *type)
{
	uint64_t size = 1, encoding = 0;

	(void)die_number(type, DW_AT_byte_size, &size);
	if (die_number(type, DW_AT_encoding, &encoding) &&
	    encoding == DW_ATE_complex_float)
		size /= 2;
	return size && !(size & (size - 1)) ? size : 1;
}

static uint64_t alignment_of(const struct die *type, unsigned depth,
			     unsigned *parts)
{
	uint64_t align = 1;

	if (depth >= DEPTH_MOST || ++*parts > PARTS_MOST)
		return align;
	(void)die_number(type, DW_AT_alignment, &align);
	switch (die_tag(type)) {
	case DW_TAG_base_type:
		return larger(align, alignment_of_number(type));
	case DW_TAG_array_type:
		return larger(align, alignment_of_part(type, depth + 1, parts));
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return larger(align,
			      alignment_of_parts(type, depth + 1, parts));
	default:
		return align;
	}
}

/* What is asked for has pointers in it, which lie at multiples of their size. */
uint64_t container_value_offset(const struct container *container,
				uint64_t size)
{
	unsigned parts = 0;
	uint64_t align = larger(container->value.dwarf->word_size,
				alignment_of(&container->value, 0, &parts));

	if (align > 4096 || align & (align - 1))
		align = container->value.dwarf->word_size;
	return (size + align - 1) / align * align;
}

/* Of others than these it isn't known whether they are a part of it, or what it
   holds: in std::array<char *, 2>, say. */
void container_add_name(const struct container *container,
			const struct die *type, struct strbuf *out)
{
	const char *name = die_string(type, DW_AT_name);
	const bool is_part = name && name[0] == '_';

	if (!container->name.length ||
	    (!container->row && !container->node && !is_part))
		return;
	strbuf_puts(out, container->name.text);
	if (container_is_node(container, type))
		strbuf_puts(out, " node");
}
