/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/python_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"
#include "memory/python_types.h"

/* An object with what may be in front of it. */
#define HEAD_ROOM 48

/* PyASCIIObject, Include/cpython/unicodeobject.h: a text of ASCII that follows
   its head, which has had a pointer less since 3.12. */
struct ascii_head {
	struct python_object object;
	uint64_t length, hash;
	uint32_t state, unused;
};

#define STATE_COMPACT (1u << 5)
#define STATE_ASCII   (1u << 6)
#define TEXT_NEW      40
#define TEXT_OLD      48
#define TEXT_MOST     64

struct python_names {
	struct memory *memory;
	struct python_types *types;
	char key[TEXT_MOST + 8];
};

struct python_names *python_names_new(struct memory *memory,
				      const struct mappings *mappings)
{
	struct python_names *names = xcalloc(1, sizeof(*names));

	names->memory = memory;
	names->types = python_types_new(memory, mappings);
	return names;
}

void python_names_free(struct python_names *names)
{
	if (!names)
		return;
	python_types_free(names->types);
	free(names);
}

/* Of what lies there; size: as far as that goes. */
static const char *type_at(struct python_names *names, taddr_t address,
			   size_t size)
{
	uint8_t bytes[HEAD_ROOM];
	size_t head;

	if (size > sizeof(bytes))
		size = sizeof(bytes);
	if (memory_read(names->memory, address, bytes, size))
		return NULL;
	return python_types_count(names->types, bytes, size, 0, &head);
}

const char *python_names_class(struct python_names *names,
			       const struct block *block)
{
	return type_at(names, block->address, block_usable(block));
}

static bool is_text(struct python_names *names, taddr_t address,
		    struct ascii_head *ret)
{
	const char *type =
		type_at(names, address, sizeof(struct python_object));

	return type && !strcmp(type, "str") &&
	       !memory_read(names->memory, address, ret, sizeof(*ret));
}

/* The word that has gone was a pointer to a wider copy, which few texts had. */
static bool read_text(struct python_names *names, taddr_t address,
		      char ret[TEXT_MOST + 1])
{
	struct ascii_head head;
	size_t size;

	if (!is_text(names, address, &head) || !(head.state & STATE_COMPACT) ||
	    !(head.state & STATE_ASCII) || !head.length)
		return false;
	size = head.length < TEXT_MOST ? head.length : TEXT_MOST;
	ret[size] = 0;
	if (memory_read(names->memory, address + TEXT_NEW, ret, size))
		return false;
	return *ret ||
	       !memory_read(names->memory, address + TEXT_OLD, ret, size);
}

/*
 * A value stands behind its key. What is a text itself may be a key as well, or
 * the value before one: only of others it is sure.
 */
const char *python_names_key(struct python_names *names, taddr_t where)
{
	char text[TEXT_MOST + 1];
	struct ascii_head ignored;
	uint64_t words[2];

	if (memory_read(names->memory, where - sizeof(words[0]), words,
			sizeof(words)) ||
	    is_text(names, words[1], &ignored) ||
	    !read_text(names, words[0], text))
		return NULL;
	if (!printable_is_ascii(text))
		return NULL;
	snprintf(names->key, sizeof(names->key), "['%s']", text);
	return names->key;
}
