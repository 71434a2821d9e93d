/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/root_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/xalloc.h"
#include "debuginfo/debuginfo.h"
#include "image/image.h"
#include "sysdeps/linux/procmem.h"
#include "tracee/image_cache.h"

#define WHOLE_PAGES (~UINT64_C(4095))

/* So many places get the names of members: each is a question to the process
   that reads debug information. */
#define ASKED_MAX (1u << 14)

struct root_name {
	taddr_t where;
	char *place, *variable; /* NULL: not asked for yet */
	UT_hash_handle hh;
};

struct root_names {
	const struct leaks *leaks;
	struct image_cache *images;
	const struct mapping *last; /* module that was asked about, … */
	struct image *last_image;   /* … and its file, or NULL */
	struct root_name *known;
	struct debuginfo *debuginfo;
	unsigned asked;
};

/* ---- data of modules ---- */

/* The first piece of the file that a place in its data, or .bss, belongs to. */
static const struct mapping *module_of(const struct mappings *mappings,
				       const struct mapping *mapping)
{
	const struct mapping *first = mappings->list;
	uint64_t inode;

	while (mapping > first && !mapping->inode)
		mapping--;
	inode = mapping->inode;
	while (mapping > first && mapping[-1].inode == inode)
		mapping--;
	return inode ? mapping : NULL;
}

/* Places come by address: the next one is mostly of the same module. */
static struct image *image_of(struct root_names *names,
			      const struct mapping *module)
{
	struct procfs_mapping line;

	if (module == names->last)
		return names->last_image;
	if (names->last_image)
		image_put(names->last_image);
	names->last = module;
	if (!procfs_find_mapping(names->leaks->pid, module->start, &line) ||
	    image_cache_open(names->images, names->leaks->pid, &line,
			     &names->last_image))
		names->last_image = NULL;
	return names->last_image;
}

/* As people write it. */
static char *shown_name(const char *name)
{
	struct demangler demangler = { 0 };
	char *shown = demangle(&demangler, name);

	return shown ? shown : xstrdup(name);
}

/* An address as the file has it. */
static uint64_t in_image(struct image *image, const struct mapping *module,
			 taddr_t where)
{
	return where - module->start + (image_low(image) & WHOLE_PAGES);
}

static bool find_datum(struct root_names *names, const struct mapping *module,
		       taddr_t where, struct image_datum *ret, char **name_ret)
{
	struct image *image = image_of(names, module);
	bool known;

	*name_ret = NULL;
	if (!image)
		return false;
	known = image_describe_datum(image, in_image(image, module, where),
				     ret);
	if (known && *ret->name)
		*name_ret = shown_name(ret->name);
	return known;
}

/* How the pointer in a variable is told, and those behind it. */
static int ask_way(struct root_names *names, const struct mapping *module,
		   taddr_t variable, const uint64_t *offsets, unsigned count,
		   struct debug_step *ret)
{
	struct image *image = image_of(names, module);

	if (!image)
		return -ENOENT;
	return debuginfo_way(names->debuginfo, image,
			     in_image(image, module, variable), offsets, count,
			     ret);
}

/* ".list[3]", or NULL. */
static const char *members_at(struct root_names *names,
			      const struct mapping *module, taddr_t where,
			      uint64_t offset)
{
	struct debug_step steps[DEBUG_STEPS_MAX];

	return names->asked++ < ASKED_MAX &&
			       ask_way(names, module, where - offset, &offset,
				       1, steps) > 0 ?
		       steps[0].path :
		       NULL;
}

static char *name_datum(struct root_names *names, const struct mapping *module,
			taddr_t where, bool whole)
{
	const char *file = file_base_name(module->path);
	struct image_datum datum = { .offset = 0 };
	char *name CLEANUP(xfree_cleanup) = NULL;
	const char *members;

	if (!find_datum(names, module, where, &datum, &name))
		return xasprintf("%s+0x%" PRIx64, file, where - module->start);
	if (!name)
		return xasprintf("%s %s+0x%" PRIx64, file, datum.section,
				 datum.section_offset);
	members = whole ? NULL : members_at(names, module, where, datum.offset);
	if (members)
		return xasprintf("%s%s (%s %s+0x%" PRIx64 ")", name, members,
				 file, datum.section, datum.section_offset);
	if (whole)
		datum.section_offset -= datum.offset;
	return datum.offset && !whole ?
		       xasprintf("%s+0x%" PRIx64 " (%s %s+0x%" PRIx64 ")", name,
				 datum.offset, file, datum.section,
				 datum.section_offset) :
		       xasprintf("%s (%s %s+0x%" PRIx64 ")", name, file,
				 datum.section, datum.section_offset);
}

/* ---- anything ---- */

static const struct frozen_task *task_on(const struct leaks *leaks,
					 const struct mapping *stack)
{
	for (size_t i = 0; i < leaks->freeze.count; i++) {
		const struct frozen_task *task = &leaks->freeze.tasks[i];
		const struct arch_ops *arch =
			task->known ? arch_of_regs(&task->regs) : NULL;
		const taddr_t sp = arch ? arch->sp(&task->regs) : 0;

		if (sp >= stack->start && sp < stack->end)
			return task;
	}
	return NULL;
}

static bool is_of_module(const struct mapping *mapping)
{
	return mapping->kind == MAPPING_PROGRAM_DATA ||
	       mapping->kind == MAPPING_LIBRARY_DATA || mapping->inode;
}

/* In whose data a place is; or NULL. */
static const struct mapping *module_with(const struct mappings *mappings,
					 const struct mapping *mapping)
{
	if (!is_of_module(mapping) || mapping->shared ||
	    mapping->kind == MAPPING_FILE)
		return NULL;
	return module_of(mappings, mapping);
}

static char *make_name(struct root_names *names, taddr_t where, bool whole)
{
	const struct mappings *mappings = &names->leaks->mappings;
	const struct mapping *mapping = mappings_find(mappings, where);
	const struct mapping *module;
	const struct frozen_task *task;

	if (!where)
		return xstrdup("a register");
	if (!mapping)
		return xasprintf("0x%" PRIx64, where);
	task = task_on(names->leaks, mapping);
	if (task)
		return xasprintf("stack or variables of thread %d",
				 (int)task->tid);
	module = module_with(mappings, mapping);
	if (module)
		return name_datum(names, module, where, whole);
	if (whole)
		return xasprintf("%s mapping 0x%" PRIx64,
				 mapping_kind_name(mapping->kind),
				 mapping->start);
	return xasprintf("%s mapping 0x%" PRIx64 "+0x%" PRIx64,
			 mapping_kind_name(mapping->kind), mapping->start,
			 where - mapping->start);
}

static struct root_name *entry_of(struct root_names *names, taddr_t where)
{
	struct root_name *entry;

	HASH_FIND(hh, names->known, &where, sizeof(where), entry);
	if (entry)
		return entry;
	entry = xcalloc(1, sizeof(*entry));
	entry->where = where;
	HASH_ADD(hh, names->known, where, sizeof(where), entry);
	return entry;
}

const char *root_names_place(struct root_names *names, taddr_t where)
{
	struct root_name *entry = entry_of(names, where);

	if (!entry->place)
		entry->place = make_name(names, where, false);
	return entry->place;
}

const char *root_names_variable(struct root_names *names, taddr_t where)
{
	struct root_name *entry = entry_of(names, where);

	if (!entry->variable)
		entry->variable = make_name(names, where, true);
	return entry->variable;
}

const struct mapping *root_names_variable_at(struct root_names *names,
					     taddr_t where, taddr_t *start_ret)
{
	const struct mappings *mappings = &names->leaks->mappings;
	const struct mapping *mapping = mappings_find(mappings, where);
	const struct mapping *module =
		mapping ? module_with(mappings, mapping) : NULL;
	struct image_datum datum;
	char *name CLEANUP(xfree_cleanup) = NULL;

	if (!module || !find_datum(names, module, where, &datum, &name) ||
	    !name)
		return NULL;
	*start_ret = where - datum.offset;
	return module;
}

int root_names_way(struct root_names *names, const struct mapping *module,
		   taddr_t variable, const uint64_t *offsets, unsigned count,
		   struct debug_step ret[DEBUG_STEPS_MAX])
{
	return ask_way(names, module, variable, offsets, count, ret);
}

bool root_names_is_of_thread(const struct root_names *names, taddr_t where)
{
	const struct mapping *mapping =
		where ? mappings_find(&names->leaks->mappings, where) : NULL;

	return !where || (mapping && task_on(names->leaks, mapping));
}

bool root_names_are_curtailed(const struct root_names *names)
{
	return names->asked > ASKED_MAX;
}

struct root_names *root_names_new(const struct leaks *leaks)
{
	struct root_names *names = xcalloc(1, sizeof(*names));

	names->leaks = leaks;
	names->images = image_cache_new();
	names->debuginfo = debuginfo_new();
	return names;
}

void root_names_free(struct root_names *names)
{
	struct root_name *entry, *next;

	HASH_ITER(hh, names->known, entry, next) {
		HASH_DEL(names->known, entry);
		free(entry->place);
		free(entry->variable);
		free(entry);
	}
	if (names->last_image)
		image_put(names->last_image);
	debuginfo_free(names->debuginfo);
	image_cache_free(names->images);
	free(names);
}
