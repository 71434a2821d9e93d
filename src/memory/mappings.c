/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/mappings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/remains.h"
#include "base/file.h"
#include "base/xalloc.h"
#include "memory/module_end.h"
#include "sysdeps/arch.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/procmem.h"
#include "sysdeps/linux/smaps.h"

static const struct mapping *last_of(const struct mappings *mappings)
{
	return mappings->count ? &mappings->list[mappings->count - 1] : NULL;
}

static char *share_path(const struct mappings *mappings, const char *path)
{
	const struct mapping *last = last_of(mappings);

	return last && !strcmp(last->path, path) ? last->path : xstrdup(path);
}

static void add(struct mappings *mappings, const struct smaps_row *row)
{
	const struct procfs_mapping *from = &row->mapping;

	mappings->list = xgrow(mappings->list, mappings->count, &mappings->room,
			       sizeof(*mappings->list));
	mappings->list[mappings->count] = (struct mapping){
		.start = from->start,
		.end = from->end,
		.kind = MAPPING_ANONYMOUS,
		.readable = from->readable,
		.writable = from->writable,
		.executable = from->executable,
		.shared = from->shared,
		.inode = from->inode,
		.offset = from->offset,
		.path = share_path(mappings, from->path),
		.resident = row->resident,
		.proportional = row->proportional,
		.swapped = row->swapped,
		.anonymous = row->anonymous,
		.huge = row->huge,
	};
	mappings->count++;
}

static void read_figures(struct mappings *ret)
{
	struct smaps *smaps = smaps_open(ret->pid);
	struct smaps_row row;

	if (!smaps)
		return;
	while (smaps_next(smaps, &row))
		add(ret, &row);
	smaps_close(smaps);
}

static void read_lines(struct mappings *ret)
{
	FILE *file CLEANUP(file_close_cleanup) = procfs_maps_open(ret->pid);
	struct smaps_row row = { .resident = 0 };

	while (file && procfs_maps_next(file, &row.mapping))
		add(ret, &row);
}

/* ---- what they are for ---- */

static bool is_kernels(const struct mapping *mapping)
{
	static const char *const names[] = { "[vdso]", "[vvar]", "[vsyscall]",
					     "[vvar_vclock]", "[uprobes]" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!mapping->inode && !strcmp(mapping->path, names[i]))
			return true;
	return false;
}

/* Files of tmpfs that nobody can find, and System V's. */
static bool is_shared_memory(const struct mapping *mapping)
{
	static const char *const beginnings[] = { "/dev/zero", "/SYSV",
						  "/memfd:", "/dev/shm/",
						  "[anon_shmem" };

	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (!strncmp(mapping->path, beginnings[i],
			     strlen(beginnings[i])))
			return true;
	return false;
}

/* An ELF file is mapped in pieces, one of them executable; what has no file may
   lie between these. image_ret: of each mapping. */
static void find_images(const struct mappings *mappings, bool *image_ret)
{
	const struct mapping *all = mappings->list;
	size_t first = 0;

	while (first < mappings->count) {
		bool executable = all[first].inode && all[first].executable;
		size_t end = first + 1;

		while (end < mappings->count && all[first].inode &&
		       (!all[end].inode ||
			all[end].inode == all[first].inode)) {
			executable |= all[end].inode && all[end].executable;
			end++;
		}
		memset(image_ret + first, executable, end - first);
		first = end;
	}
}

static bool is_program(const struct mappings *mappings,
		       const struct mapping *mapping)
{
	return mappings->program && !strcmp(mappings->program, mapping->path);
}

/* A module's pieces, as far as they were passed by. */
struct module_passed {
	const struct mapping *first; /* NULL: no file yet */
	bool asked;
	taddr_t end; /* if .asked */
};

/* Each beginning of a file is one of a module; what has no file may lie between
   its pieces. */
static void pass(struct module_passed *module, const struct mapping *mapping)
{
	if (mapping->inode && (!module->first || !mapping->offset ||
			       mapping->inode != module->first->inode))
		*module = (struct module_passed){ .first = mapping };
}

/* The kernel may put any other memory right behind a library. Its headers are
   read once: files may be mapped millions of times. */
static bool is_within(struct module_passed *module, struct memory *memory,
		      const struct mapping *mapping)
{
	if (module->first->offset)
		return true;
	if (!module->asked)
		module->end = module_end(memory, module->first->start);
	module->asked = true;
	return mapping->start < module->end;
}

/* .bss, where it goes on behind the pages of the file; some linkers put what is
   read-only after relocation last of these. */
static bool goes_on(const struct mappings *mappings,
		    const struct mapping *before, const struct mapping *mapping)
{
	if (!before || before->end != mapping->start || !mapping->writable ||
	    mapping->shared || !before->inode || before->shared)
		return false;
	if (before->writable)
		return before->kind == MAPPING_PROGRAM_DATA ||
		       before->kind == MAPPING_LIBRARY_DATA;
	return before->kind == MAPPING_PROGRAM_CODE && !before->executable &&
	       before > mappings->list && before[-1].end == before->start &&
	       before[-1].kind == MAPPING_PROGRAM_DATA;
}

/* What guards a stack from below. */
static bool is_guard(const struct mapping *before,
		     const struct mapping *mapping)
{
	return before && before->end == mapping->start && !before->readable &&
	       !before->writable && !before->inode && !before->shared &&
	       !*before->path;
}

static enum mapping_kind kind_of_file(const struct mappings *mappings,
				      const struct mapping *mapping, bool image)
{
	bool program = is_program(mappings, mapping);

	if (is_shared_memory(mapping))
		return mapping->executable ? MAPPING_CODE : MAPPING_SHARED;
	if (mapping->shared || !image)
		return MAPPING_FILE;
	if (mapping->writable)
		return program ? MAPPING_PROGRAM_DATA : MAPPING_LIBRARY_DATA;
	return program ? MAPPING_PROGRAM_CODE : MAPPING_LIBRARY_CODE;
}

static enum mapping_kind kind_of(const struct mappings *mappings,
				 struct memory *memory,
				 struct module_passed *module, size_t index,
				 bool image)
{
	const struct mapping *mapping = &mappings->list[index];
	const struct mapping *before = index ? mapping - 1 : NULL;

	if (is_kernels(mapping))
		return MAPPING_KERNEL;
	if (mapping->inode)
		return kind_of_file(mappings, mapping, image);
	if (!strcmp(mapping->path, "[heap]"))
		return MAPPING_HEAP;
	if (!strncmp(mapping->path, "[stack", 6))
		return MAPPING_STACK;
	if (mapping->shared)
		return MAPPING_SHARED;
	if (goes_on(mappings, before, mapping) &&
	    is_within(module, memory, mapping))
		return is_program(mappings, before) ? MAPPING_PROGRAM_DATA :
						      MAPPING_LIBRARY_DATA;
	if (mapping->executable)
		return MAPPING_CODE;
	return mapping->writable && is_guard(before, mapping) ?
		       MAPPING_STACK :
		       MAPPING_ANONYMOUS;
}

/* ---- what is calltrap's ---- */

/*
 * What an agent shares lies behind the rest of it, with nothing between. Another
 * build may have another size: then its code isn't there.
 */
static void find_agent(struct mappings *mappings, size_t shared)
{
	struct mapping *all = mappings->list;
	const uint64_t size = remains_size_before();
	size_t first = shared;

	if (all[shared].start < size)
		return;
	all[shared].kind = MAPPING_OWN;
	while (first && all[first].start > all[shared].start - size &&
	       all[first - 1].end == all[first].start &&
	       !all[first - 1].shared && !all[first - 1].inode)
		first--;
	if (all[first].start != all[shared].start - size ||
	    !all[first].executable)
		return;
	while (first < shared)
		all[first++].kind = MAPPING_OWN;
}

static void find_own(struct mappings *mappings)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (mappings->list[i].shared &&
		    remains_is_name(mappings->list[i].path))
			find_agent(mappings, i);
}

void mappings_find_kinds(struct mappings *mappings, struct memory *memory)
{
	bool *image CLEANUP(xfree_cleanup) =
		xcalloc(mappings->count, sizeof(*image));
	struct module_passed module = { .first = NULL };

	find_images(mappings, image);
	for (size_t i = 0; i < mappings->count; i++) {
		pass(&module, &mappings->list[i]);
		mappings->list[i].kind =
			kind_of(mappings, memory, &module, i, image[i]);
	}
	find_own(mappings);
}

/* Linux knows that of a process (arm64, x86's LAM) since 6.4; before, arm64 had it
   for all. No address has them. */
#define TAGS_MOST (UINT64_C(0xffff) << 48)
#define TAGGED    (~(UINT64_C(1) << 55)) /* an address of programs */

static uint64_t find_tags(pid_t pid)
{
	uint64_t tags = TAGGED ^ arch_untagged(TAGGED);
	struct procfs_status status;

	if (!procfs_status(pid, &status))
		tags |= status.pointer_tags;
	return tags & TAGS_MOST;
}

int mappings_read(pid_t pid, bool figures, struct mappings *ret)
{
	struct procmem memory;

	*ret = (struct mappings){ .pid = pid };
	errno = 0;
	if (figures)
		read_figures(ret);
	else
		read_lines(ret);
	if (!ret->count)
		return errno == EACCES || errno == EPERM ? -EACCES : -ERR_GONE;
	ret->program = procfs_exe(pid);
	ret->tags = find_tags(pid);
	procmem_init(&memory, pid);
	mappings_find_kinds(ret, &memory.memory);
	procmem_fini(&memory);
	return 0;
}

void mappings_fini(struct mappings *mappings)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (!i || mappings->list[i].path != mappings->list[i - 1].path)
			free(mappings->list[i].path);
	free(mappings->list);
	free(mappings->program);
	*mappings = (struct mappings){ 0 };
}

struct mapping *mappings_find(const struct mappings *mappings, taddr_t address)
{
	size_t low = 0, high = mappings->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct mapping *mapping = &mappings->list[middle];

		if (address < mapping->start)
			high = middle;
		else if (address >= mapping->end)
			low = middle + 1;
		else
			return mapping;
	}
	return NULL;
}

/* "[anon:...]" is what a program calls it (prctl()). */
static bool is_of_no_file(const struct mapping *mapping)
{
	return !mapping->shared && !mapping->inode &&
	       (!*mapping->path || !strncmp(mapping->path, "[anon:", 6));
}

bool mappings_goes_on(const struct mappings *mappings, size_t index)
{
	const struct mapping *one = &mappings->list[index], *next = one + 1;

	return index + 1 < mappings->count && one->end == next->start &&
	       ((is_of_no_file(one) && is_of_no_file(next)) ||
		(one->kind == MAPPING_HEAP && next->kind == MAPPING_HEAP));
}

static bool is_same(const struct mapping *one, const struct mapping *other)
{
	return one->start == other->start && one->end == other->end &&
	       one->readable == other->readable &&
	       one->writable == other->writable &&
	       one->executable == other->executable &&
	       one->shared == other->shared && one->inode == other->inode;
}

bool mappings_are_equal(const struct mappings *one,
			const struct mappings *other)
{
	if (one->count != other->count)
		return false;
	for (size_t i = 0; i < one->count; i++)
		if (!is_same(&one->list[i], &other->list[i]))
			return false;
	return true;
}

void mappings_mark_stack(struct mappings *mappings, taddr_t sp)
{
	struct mapping *mapping = mappings_find(mappings, sp);

	if (mapping && mapping->kind == MAPPING_ANONYMOUS)
		mapping->kind = MAPPING_STACK;
}
