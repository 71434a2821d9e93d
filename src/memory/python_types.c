/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/python_types.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/printable.h"
#include "base/xalloc.h"

/* struct _typeobject, Include/cpython/object.h */
#define TYPE_OF          8
#define TYPE_NAME        24
#define TYPE_BASIC_SIZE  32
#define TYPE_FLAGS       168
#define TYPE_WEAK_LIST   208
#define TYPE_SIZE        216
#define FLAG_READY       (UINT64_C(1) << 12)
#define FLAG_OF_TYPES    (UINT64_C(1) << 31)
#define FLAG_OF_LISTS    (UINT64_C(1) << 25)
#define BASIC_SIZE_LEAST 16
#define BASIC_SIZE_MOST  (1 << 20)

#define NAME_MOST 256

/* More aren't told apart. */
#define TYPES_MAX 100000

struct type_entry {
	taddr_t address;
	char *name; /* NULL: it is none, or nobody has asked */
	bool is_type, of_types, of_lists;
	int64_t weak_list;
	struct object_type counted;
	UT_hash_handle hh;
};

struct python_types {
	struct memory *memory;
	const struct mappings *mappings;
	struct type_entry *known;
};

struct python_types *python_types_new(struct memory *memory,
				      const struct mappings *mappings)
{
	struct python_types *types = xcalloc(1, sizeof(*types));

	types->memory = memory;
	types->mappings = mappings;
	return types;
}

void python_types_free(struct python_types *types)
{
	struct type_entry *entry, *next;

	HASH_ITER(hh, types->known, entry, next) {
		HASH_DEL(types->known, entry);
		free(entry->name);
		free(entry);
	}
	free(types);
}

static uint64_t word_at(const void *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, (const uint8_t *)bytes + offset, sizeof(word));
	return word;
}

/* ---- types ---- */

static bool may_be_type(const struct python_types *types, taddr_t address)
{
	const struct mapping *mapping;

	if (!address || address % 8)
		return false;
	mapping = mappings_find(types->mappings, address);
	return mapping && mapping->readable && mapping->writable;
}

static bool read_type(struct python_types *types, taddr_t address,
		      uint8_t bytes[TYPE_SIZE])
{
	uint64_t flags, size;

	if (!may_be_type(types, address) ||
	    memory_read(types->memory, address, bytes, TYPE_SIZE))
		return false;
	flags = word_at(bytes, TYPE_FLAGS);
	size = word_at(bytes, TYPE_BASIC_SIZE);
	return flags & FLAG_READY && size >= BASIC_SIZE_LEAST &&
	       size <= BASIC_SIZE_MOST;
}

/* A type of types says so, and so does its own type; type's own is itself. */
static bool is_of_types(struct python_types *types, taddr_t address)
{
	uint8_t bytes[TYPE_SIZE];

	if (!read_type(types, address, bytes) ||
	    !(word_at(bytes, TYPE_FLAGS) & FLAG_OF_TYPES))
		return false;
	return word_at(bytes, TYPE_OF) == address ||
	       (read_type(types, word_at(bytes, TYPE_OF), bytes) &&
		word_at(bytes, TYPE_FLAGS) & FLAG_OF_TYPES);
}

static struct type_entry *entry_of(struct python_types *types, taddr_t address)
{
	struct type_entry *entry;

	HASH_FIND(hh, types->known, &address, sizeof(address), entry);
	if (entry || HASH_COUNT(types->known) >= TYPES_MAX)
		return entry;
	entry = xcalloc(1, sizeof(*entry));
	entry->address = address;
	HASH_ADD(hh, types->known, address, sizeof(address), entry);
	return entry;
}

static char *read_name(struct python_types *types, taddr_t address)
{
	char name[NAME_MOST];

	if (memory_read_string(types->memory, address, name, sizeof(name)) <= 0)
		return NULL;
	return printable_has_no_controls(name) ? xstrdup(name) : NULL;
}

/* What is known as a type may be asked for the first time whether it is one of
   types: those of its objects that come first may be classes. */
static bool makes_types(struct python_types *types, taddr_t address)
{
	struct type_entry *entry;

	HASH_FIND(hh, types->known, &address, sizeof(address), entry);
	if (entry && entry->of_types)
		return true;
	if (!is_of_types(types, address))
		return false;
	entry = entry_of(types, address);
	if (entry)
		entry->of_types = true;
	return entry;
}

static bool is_type(struct python_types *types, taddr_t address,
		    uint8_t bytes[TYPE_SIZE])
{
	return read_type(types, address, bytes) &&
	       makes_types(types, word_at(bytes, TYPE_OF));
}

static const struct type_entry *known_type(struct python_types *types,
					   taddr_t address)
{
	uint8_t bytes[TYPE_SIZE];
	struct type_entry *entry;

	HASH_FIND(hh, types->known, &address, sizeof(address), entry);
	if (entry && entry->is_type)
		return entry;
	if (!is_type(types, address, bytes))
		return NULL;
	entry = entry_of(types, address);
	if (!entry)
		return NULL;
	entry->is_type = true;
	entry->of_lists = word_at(bytes, TYPE_FLAGS) & FLAG_OF_LISTS;
	entry->weak_list = word_at(bytes, TYPE_WEAK_LIST);
	return entry;
}

bool python_types_has(struct python_types *types, taddr_t address,
		      bool *of_lists_ret)
{
	const struct type_entry *entry = known_type(types, address);

	if (entry)
		*of_lists_ret = entry->of_lists;
	return entry;
}

int64_t python_types_weak_list(struct python_types *types, taddr_t address)
{
	const struct type_entry *entry = known_type(types, address);

	return entry ? entry->weak_list : 0;
}

/* Objects of few types follow each other, but other words are of all kinds: only
   what is a type, or is the type of something, is kept. */
static struct type_entry *find_type(struct python_types *types, taddr_t address)
{
	struct type_entry *entry;
	uint8_t bytes[TYPE_SIZE];
	char *name;

	HASH_FIND(hh, types->known, &address, sizeof(address), entry);
	if (entry && entry->name)
		return entry;
	if (!is_type(types, address, bytes))
		return NULL;
	name = read_name(types, word_at(bytes, TYPE_NAME));
	entry = name ? entry_of(types, address) : NULL;
	if (!entry) {
		free(name);
		return NULL;
	}
	entry->name = name;
	return entry;
}

/* ---- objects ---- */

/* Nothing, what the collector of rings needs, and a dictionary besides. */
static const size_t in_front[] = { 0, 16, 32 };

const char *python_types_count(struct python_types *types, const void *head,
			       size_t size, uint64_t bytes, size_t *head_ret)
{
	*head_ret = 0;
	for (size_t i = 0; i < ARRAY_SIZE(in_front); i++) {
		struct type_entry *entry;
		uint64_t references;

		if (in_front[i] + 16 > size)
			break;
		/* Immortal ones have all bits of half a word. */
		references = word_at(head, in_front[i]);
		if (!references || references > UINT32_MAX)
			continue;
		entry = find_type(types, word_at(head, in_front[i] + TYPE_OF));
		if (!entry)
			continue;
		entry->counted.objects++;
		entry->counted.bytes += bytes;
		*head_ret = in_front[i];
		return entry->name;
	}
	return NULL;
}

struct object_type *python_types_list(const struct python_types *types,
				      size_t *count_ret)
{
	struct object_type *list =
		xcalloc(HASH_COUNT(types->known) + 1, sizeof(*list));
	struct type_entry *entry, *next;
	size_t count = 0;

	HASH_ITER(hh, types->known, entry, next) {
		if (!entry->name || !entry->counted.objects)
			continue;
		list[count] = entry->counted;
		list[count++].name = xstrdup(entry->name);
	}
	object_types_sort(list, count);
	*count_ret = count;
	return list;
}
