/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/object_types.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"

/* More aren't told apart. */
#define TYPES_MAX 100000

struct object_types_entry {
	uint64_t key;
	struct object_type type;
	UT_hash_handle hh;
};

void object_types_fini(struct object_types *types)
{
	struct object_types_entry *entry, *next;

	HASH_ITER(hh, types->known, entry, next) {
		HASH_DEL(types->known, entry);
		free(entry->type.name);
		free(entry);
	}
}

static struct object_types_entry *find(const struct object_types *types,
				       uint64_t key)
{
	struct object_types_entry *entry;

	HASH_FIND(hh, types->known, &key, sizeof(key), entry);
	return entry;
}

const char *object_types_name(const struct object_types *types, uint64_t key)
{
	const struct object_types_entry *entry = find(types, key);

	return entry ? entry->type.name : NULL;
}

bool object_types_are_full(const struct object_types *types)
{
	return HASH_COUNT(types->known) >= TYPES_MAX;
}

void object_types_keep(struct object_types *types, uint64_t key,
		       const char *name)
{
	struct object_types_entry *entry;

	if (object_types_are_full(types))
		return;
	entry = xcalloc(1, sizeof(*entry));
	entry->key = key;
	entry->type.name = xstrdup(name);
	HASH_ADD(hh, types->known, key, sizeof(key), entry);
}

void object_types_count(struct object_types *types, uint64_t key,
			uint64_t bytes)
{
	struct object_types_entry *entry = find(types, key);

	if (!entry)
		return;
	entry->type.objects++;
	entry->type.bytes += bytes;
}

static int compare_names(const void *a, const void *b)
{
	const struct object_type *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Objects that have a class of their own have that of others besides. */
static size_t join(struct object_type *types, size_t count)
{
	size_t kept = 0;

	qsort(types, count, sizeof(*types), compare_names);
	for (size_t i = 0; i < count; i++) {
		struct object_type *last = kept ? &types[kept - 1] : NULL;

		if (!last || strcmp(last->name, types[i].name) != 0) {
			types[kept++] = types[i];
			continue;
		}
		last->objects += types[i].objects;
		last->bytes += types[i].bytes;
		free(types[i].name);
	}
	return kept;
}

static int compare(const void *a, const void *b)
{
	const struct object_type *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

void object_types_sort(struct object_type *types, size_t count)
{
	qsort(types, count, sizeof(*types), compare);
}

void object_types_take(const struct object_types *types,
		       struct object_heap *heap)
{
	struct object_types_entry *entry, *next;
	size_t count = 0;

	heap->types =
		xcalloc(HASH_COUNT(types->known) + 1, sizeof(*heap->types));
	HASH_ITER(hh, types->known, entry, next) {
		if (!entry->type.objects)
			continue;
		heap->types[count] = entry->type;
		heap->types[count++].name = xstrdup(entry->type.name);
	}
	heap->type_count = join(heap->types, count);
	object_types_sort(heap->types, heap->type_count);
}
