/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/head.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/hash.h"

#define NAME_ROOM  512
#define TEXT_LEAST 4
#define TEXT_MOST  32

struct vtable {
	taddr_t address;
	char *name; /* NULL: it is none */
	UT_hash_handle hh;
};

struct heads {
	const struct mappings *mappings;
	const struct picture *picture;
	struct memory *constants;
	struct demangler demangler;
	struct vtable *tables;
};

struct heads *heads_new(const struct mappings *mappings,
			const struct picture *picture, struct memory *constants)
{
	struct heads *heads = xcalloc(1, sizeof(*heads));

	heads->mappings = mappings;
	heads->picture = picture;
	heads->constants = constants;
	return heads;
}

void heads_free(struct heads *heads)
{
	struct vtable *table, *next;

	HASH_ITER(hh, heads->tables, table, next) {
		HASH_DEL(heads->tables, table);
		free(table->name);
		free(table);
	}
	free(heads);
}

/* Tables lie in what was mapped from a file and isn't written any more. */
static bool is_constant(const struct heads *heads, taddr_t address)
{
	const struct mapping *mapping = mappings_find(heads->mappings, address);

	return mapping && mapping->inode && mapping->readable;
}

static bool read_constant(struct heads *heads, taddr_t address, uint64_t *ret)
{
	return address % 8 == 0 && is_constant(heads, address) &&
	       !memory_read(heads->constants, address, ret, sizeof(*ret));
}

/* "4Shop", "N4shop7SessionE"; one with a '*' is compared by its address. */
static char *type_name(struct heads *heads, taddr_t address)
{
	static const char before[] = "typeinfo name for ";
	char mangled[NAME_ROOM + 4] = "_ZTS";
	char *whole, *name;
	size_t skip;

	if (!is_constant(heads, address) ||
	    memory_read_string(heads->constants, address, mangled + 4,
			       NAME_ROOM) <= 0)
		return NULL;
	skip = mangled[4] == '*';
	memmove(mangled + 4, mangled + 4 + skip,
		strlen(mangled + 4 + skip) + 1);
	for (const char *c = mangled; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_' && *c != '.')
			return NULL;
	whole = demangle(&heads->demangler, mangled);
	if (!whole || strncmp(whole, before, strlen(before)) != 0) {
		free(whole);
		return NULL;
	}
	name = xstrdup(whole + strlen(before));
	free(whole);
	return name;
}

static char *table_name(struct heads *heads, taddr_t address)
{
	uint64_t info, name;

	if (!read_constant(heads, address, &info) ||
	    !read_constant(heads, address - 8, &info) ||
	    !read_constant(heads, info, &name) ||
	    !read_constant(heads, info + 8, &name))
		return NULL;
	return type_name(heads, name);
}

const char *heads_class(struct heads *heads, taddr_t address)
{
	struct vtable *table;
	uint64_t word;

	if (memory_read((struct memory *)&heads->picture->memory, address,
			&word, sizeof(word)) ||
	    !word || word % 8)
		return NULL;
	HASH_FIND(hh, heads->tables, &word, sizeof(word), table);
	if (!table) {
		if (!is_constant(heads, word))
			return NULL;
		table = xcalloc(1, sizeof(*table));
		table->address = word;
		table->name = table_name(heads, word);
		HASH_ADD(hh, heads->tables, address, sizeof(word), table);
	}
	return table->name;
}

/* Six of an address's bytes may happen to be letters, and the rest are zeros. */
static bool is_address(const struct heads *heads, const char text[TEXT_MOST])
{
	uint64_t word;

	memcpy(&word, text, sizeof(word));
	return mappings_find(heads->mappings, word);
}

char *heads_text(struct heads *heads, taddr_t address, uint64_t size)
{
	char text[TEXT_MOST + 1] = "";
	size_t length = 0;

	if (size > TEXT_MOST)
		size = TEXT_MOST;
	if (memory_read((struct memory *)&heads->picture->memory, address, text,
			size))
		return NULL;
	while (length < size && text[length] >= ' ' && text[length] <= '~')
		length++;
	/* Text ends, or goes on for as long as we look. */
	if (length < TEXT_LEAST || (length < size && text[length]) ||
	    is_address(heads, text))
		return NULL;
	return xstrndup(text, length);
}
