/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/allocator.h"

#include <string.h>

#include "base/file.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/procmem.h"
#include "tracee/image_cache.h"

/* Of gperftools; jemalloc and mimalloc export nothing that counts. */
#define LIBRARY  "libtcmalloc"
#define VARIABLE "TCMalloc_SystemTaken"

static const struct mapping *find_library(const struct mappings *mappings)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *mapping = &mappings->list[i];

		if (mapping->inode && !mapping->offset &&
		    !strncmp(file_base_name(mapping->path), LIBRARY,
			     strlen(LIBRARY)))
			return mapping;
	}
	return NULL;
}

static bool find_variable(pid_t pid, const struct mapping *library,
			  taddr_t *ret)
{
	struct image_cache *images = image_cache_new();
	struct procfs_mapping line;
	struct image *image;
	bool found = false;
	uint64_t address;

	if (procfs_find_mapping(pid, library->start, &line) &&
	    !image_cache_open(images, pid, &line, &image)) {
		found = image_find_object(image, VARIABLE, &address);
		*ret = library->start + address -
		       (image_low(image) & ~(uint64_t)4095);
		image_put(image);
	}
	image_cache_free(images);
	return found;
}

uint64_t allocator_taken(const struct mappings *mappings)
{
	const struct mapping *library = find_library(mappings);
	struct procmem memory;
	uint64_t bytes = 0;
	taddr_t variable;

	if (!library || !find_variable(mappings->pid, library, &variable))
		return 0;
	procmem_init(&memory, mappings->pid);
	if (memory_read(&memory.memory, variable, &bytes, sizeof(bytes)))
		bytes = 0;
	procmem_fini(&memory);
	return bytes;
}
