/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/definitions.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

struct definitions *definitions_new(const char *path)
{
	struct definitions *definitions = xcalloc(1, sizeof(*definitions));

	definitions->path = xstrdup(path);
	return definitions;
}

void definitions_free(struct definitions *definitions)
{
	if (!definitions)
		return;
	HASH_CLEAR(hh, definitions->functions);
	HASH_CLEAR(hh, definitions->types);
	pool_fini(&definitions->pool);
	free(definitions->imports);
	free(definitions->path);
	free(definitions);
}

static struct definition *find(struct definition *table, const char *name,
			       size_t length)
{
	struct definition *found;

	HASH_FIND(hh, table, name, length, found);
	return found;
}

/* The entry of a name, a new one if there is none. */
static struct definition *entry_of(struct pool *pool, struct definition **table,
				   const char *name, size_t length)
{
	struct definition *entry = find(*table, name, length);

	if (!entry) {
		entry = pool_alloc(pool, sizeof(*entry));
		entry->name = pool_strndup(pool, name, length);
		HASH_ADD_KEYPTR(hh, *table, entry->name, length, entry);
	}
	return entry;
}

void definitions_add_function(struct definitions *definitions, const char *name,
			      size_t length, const struct prototype *prototype)
{
	entry_of(&definitions->pool, &definitions->functions, name, length)
		->prototype = prototype;
}

void definitions_add_type(struct definitions *definitions, const char *name,
			  size_t length, struct type *type)
{
	entry_of(&definitions->pool, &definitions->types, name, length)->type =
		type;
}

static void import_table(struct pool *pool, struct definition **to,
			 struct definition *from)
{
	struct definition *entry, *next;

	HASH_ITER(hh, from, entry, next) {
		struct definition *copy;

		if (find(*to, entry->name, entry->hh.keylen))
			continue;
		copy = entry_of(pool, to, entry->name, entry->hh.keylen);
		copy->type = entry->type;
	}
}

void definitions_import(struct definitions *definitions,
			const struct definitions *other)
{
	for (size_t i = 0; i < definitions->import_count; i++)
		if (definitions->imports[i] == other)
			return;
	definitions->imports =
		xgrow(definitions->imports, definitions->import_count,
		      &definitions->import_room, sizeof(*definitions->imports));
	definitions->imports[definitions->import_count++] = other;
	import_table(&definitions->pool, &definitions->functions,
		     other->functions);
	import_table(&definitions->pool, &definitions->types, other->types);
	if (!definitions->script)
		definitions->script = other->script;
}

const struct prototype *
definitions_find_function(const struct definitions *definitions,
			  const char *name)
{
	struct definition *found =
		find(definitions->functions, name, strlen(name));

	return found ? found->prototype : NULL;
}

struct type *definitions_find_type(const struct definitions *definitions,
				   const char *name, size_t length)
{
	struct definition *found = find(definitions->types, name, length);

	return found ? found->type : NULL;
}
