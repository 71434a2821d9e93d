/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/object_heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "memory/php_heap.h"
#include "memory/python_heap.h"
#include "memory/ruby_heap.h"
#include "sysdeps/linux/pagemap.h"

bool object_heap_has_file(const struct mappings *mappings,
			  const char *const *beginnings, size_t count)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const char *name = file_base_name(mappings->list[i].path);

		for (size_t b = 0; b < count; b++)
			if (!strncmp(name, beginnings[b],
				     strlen(beginnings[b])))
				return true;
	}
	return false;
}

void object_sum_add(struct object_sum *sum, uint64_t bytes)
{
	sum->count++;
	sum->bytes += bytes;
}

/* The kernel joins them with what lies beside them: .bss, a stack. */
static bool may_have_pools(const struct mapping *mapping, bool malloc)
{
	if (mapping->kind == MAPPING_HEAP || mapping->kind == MAPPING_ARENA)
		return malloc;
	return mapping->readable && mapping->writable && !mapping->shared &&
	       !mapping->inode && !*mapping->path;
}

static int scan(struct pagemap *map, const struct mapping *mapping,
		object_scan_seen *seen, void *context)
{
	struct page_run run = { .end = mapping->start };
	int err;

	for (;;) {
		err = pagemap_next_kept(map, run.end, mapping->end, &run);
		if (err || run.begin >= run.end)
			return err;
		seen(context, run.begin, run.end);
	}
}

void object_heap_scan(const struct mappings *mappings, bool malloc,
		      object_scan_seen *seen, void *context,
		      struct object_sum *unread)
{
	struct pagemap map;
	const int err = pagemap_open(&map, mappings->pid);

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *mapping = &mappings->list[i];

		if (may_have_pools(mapping, malloc) &&
		    (err || scan(&map, mapping, seen, context)))
			object_sum_add(unread, mapping->end - mapping->start);
	}
	if (!err)
		pagemap_close(&map);
}

bool object_heap_is_there(const struct mappings *mappings)
{
	return python_is_there(mappings) || ruby_is_there(mappings) ||
	       php_is_there(mappings);
}

uint64_t object_heaps_to_read(const struct mappings *mappings,
			      const struct pages *pages)
{
	const bool ruby = ruby_is_there(mappings);
	uint64_t bytes = 0;

	if (!object_heap_is_there(mappings))
		return 0;
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *mapping = &mappings->list[i];
		struct page_sums sums;

		if (!may_have_pools(mapping, ruby))
			continue;
		sums = pages_count(pages, mapping->start, mapping->end);
		bytes += sums.resident + sums.swapped;
	}
	return bytes;
}

void object_heaps_read(struct memory *memory, const struct mappings *mappings,
		       const struct blocks *blocks,
		       const struct object_observer *observer,
		       struct object_heap ret[OBJECT_LANGUAGES])
{
	memset(ret, 0, OBJECT_LANGUAGES * sizeof(*ret));
	if (python_is_there(mappings))
		python_heap_read(memory, mappings, blocks, observer,
				 &ret[OBJECTS_OF_PYTHON]);
	if (ruby_is_there(mappings))
		ruby_heap_read(memory, mappings, observer,
			       &ret[OBJECTS_OF_RUBY]);
	if (php_is_there(mappings))
		php_heap_read(memory, mappings, observer, &ret[OBJECTS_OF_PHP]);
}

void object_heaps_fini(struct object_heap heaps[OBJECT_LANGUAGES])
{
	for (size_t i = 0; i < OBJECT_LANGUAGES; i++) {
		for (size_t t = 0; t < heaps[i].type_count; t++)
			free(heaps[i].types[t].name);
		free(heaps[i].types);
		heaps[i] = (struct object_heap){ .types = NULL };
	}
}
