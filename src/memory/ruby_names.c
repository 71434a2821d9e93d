/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/ruby_names.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/printable.h"
#include "base/xalloc.h"
#include "memory/ruby_ids.h"

/* RObject; rb_global_entry (robject.h, variable.c of Ruby 3.1): a variable, its name,
   and a flag. */
#define VARIABLES_WITHIN 0x2000
#define VARIABLES        16
#define GLOBAL_SIZE      24
#define GLOBAL_NAME      8

struct ruby_names {
	struct memory *memory;
	struct ruby_classes classes;
	struct ruby_ids ids;
	char key[RUBY_TEXT_ROOM + 8];
};

static bool read_head(const struct ruby_names *names, taddr_t address,
		      struct ruby_head *ret)
{
	return address % 8 == 0 &&
	       !memory_read(names->memory, address, ret, sizeof(*ret)) &&
	       ret->flags;
}

struct ruby_names *ruby_names_new(struct memory *memory,
				  const struct blocks *blocks)
{
	struct ruby_names *names = xcalloc(1, sizeof(*names));

	names->memory = memory;
	ruby_classes_init(&names->classes, memory);
	for (size_t i = 0; i < blocks->count; i++) {
		const struct block *block = &blocks->list[i];
		struct ruby_head head;

		if (block->object && read_head(names, block->address, &head) &&
		    ruby_kind_of(&head) == RUBY_CLASS)
			ruby_classes_add(&names->classes, block->address);
	}
	ruby_classes_learn(&names->classes);
	ruby_ids_find(memory, blocks, &names->ids);
	return names;
}

void ruby_names_free(struct ruby_names *names)
{
	if (!names)
		return;
	ruby_classes_fini(&names->classes);
	free(names);
}

const char *ruby_names_class(struct ruby_names *names,
			     const struct block *block)
{
	struct ruby_head head;
	const char *own = NULL;

	if (!read_head(names, block->address, &head))
		return NULL;
	if (ruby_kind_of(&head) == RUBY_CLASS ||
	    ruby_kind_of(&head) == RUBY_MODULE)
		own = ruby_classes_own_name(&names->classes, block->address);
	return own ? own : ruby_classes_count(&names->classes, &head, 0);
}

/* A value stands behind its key, as in Python's: what is a text may be a key. */
const char *ruby_names_key(struct ruby_names *names, taddr_t where)
{
	char text[RUBY_TEXT_ROOM];
	struct ruby_head head;
	uint64_t words[2];

	if (memory_read(names->memory, where - sizeof(words[0]), words,
			sizeof(words)) ||
	    (read_head(names, words[1], &head) &&
	     ruby_kind_of(&head) == RUBY_STRING) ||
	    !ruby_text(names->memory, words[0], text))
		return NULL;
	if (!printable_is_ascii(text))
		return NULL;
	snprintf(names->key, sizeof(names->key), "['%s']", text);
	return names->key;
}

static const char *variable(struct ruby_names *names, taddr_t object,
			    uint64_t number, bool within)
{
	char text[RUBY_TEXT_ROOM];

	if (!ruby_ids_variable(&names->ids, object, number, within, text) ||
	    !printable_is_ascii(text))
		return NULL;
	snprintf(names->key, sizeof(names->key), ".%s", text);
	return names->key;
}

const char *ruby_names_variable(struct ruby_names *names,
				const struct block *object, taddr_t where)
{
	const uint64_t number =
		(where - object->address - VARIABLES) / sizeof(taddr_t);
	struct ruby_head head;

	return read_head(names, object->address, &head) &&
			       head.flags & VARIABLES_WITHIN ?
		       variable(names, object->address, number, true) :
		       NULL;
}

const char *ruby_names_apart(struct ruby_names *names, taddr_t object,
			     uint64_t number)
{
	return variable(names, object, number, false);
}

const char *ruby_names_global(struct ruby_names *names,
			      const struct block *block, taddr_t where)
{
	char text[RUBY_TEXT_ROOM];
	uint64_t id;

	if (where != block->address || block_usable(block) != GLOBAL_SIZE ||
	    memory_read(names->memory, where + GLOBAL_NAME, &id, sizeof(id)) ||
	    !ruby_ids_name(&names->ids, id, text) || *text != '$' ||
	    !printable_is_ascii(text))
		return NULL;
	snprintf(names->key, sizeof(names->key), "['%s']", text);
	return names->key;
}
