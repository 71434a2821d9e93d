/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/python_text.h"

#include <string.h>

#include "base/printable.h"

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

bool python_is_text(struct python_types *types, struct memory *memory,
		    taddr_t address)
{
	struct python_object object;
	const char *type;
	size_t head;

	if (memory_read(memory, address, &object, sizeof(object)))
		return false;
	type = python_types_count(types, &object, sizeof(object), 0, &head);
	return type && !strcmp(type, "str");
}

/* The word that has gone was a pointer to a wider copy, which few texts had. */
static bool read_text(struct memory *memory, taddr_t address, size_t size,
		      char *ret)
{
	return !memory_read(memory, address + TEXT_NEW, ret, size) &&
	       (*ret || !memory_read(memory, address + TEXT_OLD, ret, size));
}

bool python_text(struct python_types *types, struct memory *memory,
		 taddr_t address, char ret[PYTHON_TEXT_MOST + 1])
{
	struct ascii_head head;
	size_t size;

	if (!python_is_text(types, memory, address) ||
	    memory_read(memory, address, &head, sizeof(head)) ||
	    !(head.state & STATE_COMPACT) || !(head.state & STATE_ASCII) ||
	    !head.length)
		return false;
	size = head.length < PYTHON_TEXT_MOST ? head.length : PYTHON_TEXT_MOST;
	ret[size] = 0;
	return read_text(memory, address, size, ret) && printable_is_ascii(ret);
}
