/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "debuginfo/fetch_cache.h"
#include "doctor/gather.h"
#include "image/image.h"
#include "memory/allocator.h"
#include "sysdeps/arch.h"
#include "tracee/image_cache.h"

/* No real program has more; one that means ill may have 65,530 mappings. */
#define MODULES_MAX 1000

static void close_files(const struct debug_files *files)
{
	close(files->fd);
	if (files->common_fd >= 0)
		close(files->common_fd);
}

static void look_for_debug(const struct image *image,
			   struct module_facts *module)
{
	struct debug_files files;
	int fd;

	module->debug = !image_open_debug(image, &files);
	if (module->debug)
		close_files(&files);
	if (module->debug || !*module->build_id)
		return;
	fd = fetch_cache_open(module->build_id);
	if (fd < 0)
		return;
	module->fetched = !image_open_debug_in(image, fd, &files);
	if (module->fetched)
		close_files(&files);
	module->debug = module->fetched;
	close(fd);
}

static char *id_text(const struct image *image)
{
	char hex[FETCH_HEX_SIZE];
	const uint8_t *id;
	size_t size;

	id = image_build_id(image, &size);
	if (!id || size > BUILD_ID_MAX)
		return xstrdup("");
	fetch_write_hex(hex, id, size);
	return xstrdup(hex);
}

static void add_module(struct process_facts *facts, struct image_cache *cache,
		       const struct procfs_mapping *mapping)
{
	struct module_facts module = { .path = xstrdup(mapping->path) };
	struct image *image;

	module.error = image_cache_open(cache, facts->live, mapping, &image);
	if (module.error) {
		module.build_id = xstrdup("");
	} else {
		module.build_id = id_text(image);
		look_for_debug(image, &module);
		image_put(image);
	}
	facts->modules = xgrow(facts->modules, facts->module_count,
			       &facts->module_room, sizeof(*facts->modules));
	facts->modules[facts->module_count++] = module;
}

static bool is_known(const struct process_facts *facts, const char *path)
{
	for (size_t i = 0; i < facts->module_count; i++)
		if (!strcmp(facts->modules[i].path, path))
			return true;
	return false;
}

static void read_modules(struct process_facts *facts, struct image_cache *cache)
{
	FILE *maps CLEANUP(file_close_cleanup) = procfs_maps_open(facts->live);
	struct procfs_mapping mapping;

	while (maps && procfs_maps_next(maps, &mapping)) {
		if (!mapping.executable || mapping.path[0] != '/' ||
		    !mapping.inode || is_known(facts, mapping.path))
			continue;
		if (facts->module_count < MODULES_MAX)
			add_module(facts, cache, &mapping);
		else
			facts->modules_left++;
	}
}

/* By a file's name, or because the program has brought its own along. */
static void find_allocator(struct process_facts *facts,
			   const struct image *program)
{
	struct mappings mappings;

	if (mappings_read(facts->live, false, &mappings))
		return;
	facts->allocator = allocator_by_file(&mappings);
	if (program && image_find_symbol(program, "malloc") &&
	    (!facts->allocator || !strcmp(facts->allocator, "glibc's malloc")))
		facts->allocator = "the program's own malloc";
	mappings_fini(&mappings);
}

void modules_gather(struct process_facts *facts)
{
	struct image_cache *cache = image_cache_new();
	struct image *program = NULL;

	facts->program_error =
		image_cache_open_exe(cache, facts->live, &program);
	if (!facts->program_error)
		facts->arch = image_arch(program)->name;
	read_modules(facts, cache);
	find_allocator(facts, program);
	image_put(program);
	image_cache_free(cache);
}
