/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/python_names.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"
#include "memory/python_text.h"

/* An object with what may be in front of it. */
#define HEAD_ROOM 48

/* struct _typeobject and PyMemberDef (Include/cpython/object.h, descrobject.h): what
   has a place of its own in objects of a type, the last one without a name. */
#define TYPE_MEMBERS 240
#define TYPE_BASE    256
#define MEMBERS_MOST 1000
#define BASES_MOST   64

struct member {
	taddr_t name;
	uint32_t type, unused;
	uint64_t offset, flags, text;
};

/* _heaptypeobject (3.11 and 3.12): how the attributes of its objects are called, in
   their order; and where PyDictObject has that. */
static const size_t type_keys[] = { 872, 880 };
#define DICT_KEYS 32

/* _dictkeysobject, Include/internal/pycore_dict.h (since 3.11): a table of its own
   for places, then texts with a value each, or none. */
struct keys {
	uint64_t references;
	uint8_t log_size, log_table, kind, unused[5];
	uint64_t usable, count;
};

#define KIND_SPLIT 2
#define LOG_MOST   30

struct python_names {
	struct memory *memory;
	struct python_types *types;
	unsigned left; /* looks at members */
	char name[PYTHON_TEXT_MOST + 8];
};

struct python_names *python_names_new(struct memory *memory,
				      const struct mappings *mappings,
				      unsigned looks)
{
	struct python_names *names = xcalloc(1, sizeof(*names));

	names->memory = memory;
	names->types = python_types_new(memory, mappings);
	names->left = looks;
	return names;
}

void python_names_free(struct python_names *names)
{
	if (!names)
		return;
	python_types_free(names->types);
	free(names);
}

/* The type's name; where the object itself is. */
static const char *object_in(struct python_names *names,
			     const struct block *block, taddr_t *ret)
{
	uint8_t bytes[HEAD_ROOM];
	uint64_t size = block_usable(block);
	const char *type;
	size_t head;

	if (size > sizeof(bytes))
		size = sizeof(bytes);
	if (memory_read(names->memory, block->address, bytes, size))
		return NULL;
	type = python_types_count(names->types, bytes, size, 0, &head);
	*ret = block->address + head;
	return type;
}

const char *python_names_class(struct python_names *names,
			       const struct block *block)
{
	taddr_t object;

	return object_in(names, block, &object);
}

/*
 * A value stands behind its key. What is a text itself may be a key as well, or
 * the value before one: only of others it is sure.
 */
const char *python_names_key(struct python_names *names, taddr_t where)
{
	char text[PYTHON_TEXT_MOST + 1];
	uint64_t words[2];

	if (memory_read(names->memory, where - sizeof(words[0]), words,
			sizeof(words)) ||
	    python_is_text(names->types, names->memory, words[1]) ||
	    !python_text(names->types, names->memory, words[0], text))
		return NULL;
	snprintf(names->name, sizeof(names->name), "['%s']", text);
	return names->name;
}

/* ---- attributes ---- */

/* What stands at an offset has this name; members: of a class. */
static bool find_member(struct python_names *names, taddr_t members,
			uint64_t offset, char ret[PYTHON_TEXT_MOST + 1])
{
	struct member member;

	for (unsigned i = 0; members && names->left && i < MEMBERS_MOST; i++) {
		names->left--;
		if (memory_read(names->memory, members + i * sizeof(member),
				&member, sizeof(member)) ||
		    !member.name)
			return false;
		if (member.offset == offset)
			return memory_read_string(names->memory, member.name,
						  ret,
						  PYTHON_TEXT_MOST + 1) > 0 &&
			       printable_is_ascii(ret);
	}
	return false;
}

const char *python_names_member(struct python_names *names,
				const struct block *block, taddr_t where)
{
	char text[PYTHON_TEXT_MOST + 1];
	taddr_t object, type;
	bool of_lists, found = false;

	if (!object_in(names, block, &object))
		return NULL;
	type = memory_word_at(names->memory,
			      object + offsetof(struct python_object, type));
	for (unsigned i = 0; !found && i < BASES_MOST; i++) {
		if (!python_types_has(names->types, type, &of_lists))
			return NULL;
		found = find_member(names,
				    memory_word_at(names->memory,
						   type + TYPE_MEMBERS),
				    where - object, text);
		type = memory_word_at(names->memory, type + TYPE_BASE);
	}
	if (!found)
		return NULL;
	snprintf(names->name, sizeof(names->name), ".%s", text);
	return names->name;
}

/* The name of the attribute of which that is the number. */
static bool find_key(struct python_names *names, taddr_t address,
		     uint64_t number, char ret[PYTHON_TEXT_MOST + 1])
{
	struct keys keys;

	if (!address || address % 8 ||
	    memory_read(names->memory, address, &keys, sizeof(keys)) ||
	    keys.kind != KIND_SPLIT || keys.log_size > LOG_MOST ||
	    keys.log_table > LOG_MOST || number >= keys.count ||
	    keys.count >> keys.log_size)
		return false;
	address += sizeof(keys) + ((taddr_t)1 << keys.log_table) +
		   number * 2 * sizeof(taddr_t);
	return python_text(names->types, names->memory,
			   memory_word_at(names->memory, address), ret);
}

const char *python_names_attribute(struct python_names *names,
				   const struct block *holder, uint64_t number)
{
	char text[PYTHON_TEXT_MOST + 1];
	taddr_t object, type;
	const char *class = object_in(names, holder, &object);
	bool found;

	if (!class)
		return NULL;
	found = !strcmp(class, "dict") &&
		find_key(names,
			 memory_word_at(names->memory, object + DICT_KEYS),
			 number, text);
	type = memory_word_at(names->memory,
			      object + offsetof(struct python_object, type));
	for (size_t i = 0; !found && i < ARRAY_SIZE(type_keys); i++)
		found = find_key(names,
				 memory_word_at(names->memory,
						type + type_keys[i]),
				 number, text);
	if (!found)
		return NULL;
	snprintf(names->name, sizeof(names->name), ".%s", text);
	return names->name;
}
