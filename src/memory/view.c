/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "memory/allocator.h"
#include "memory/freeze.h"
#include "memory/heap_read.h"
#include "sysdeps/linux/pagemap.h"
#include "sysdeps/linux/procmem.h"
#include "tracee/attach.h"

/* A heap that changes while it is read is read again, so often. */
#define ATTEMPTS 5

const char *mapping_kind_name(enum mapping_kind kind)
{
	static const char *const names[] = {
		[MAPPING_PROGRAM_CODE] = "program code",
		[MAPPING_PROGRAM_DATA] = "program data",
		[MAPPING_LIBRARY_CODE] = "library code",
		[MAPPING_LIBRARY_DATA] = "library data",
		[MAPPING_HEAP] = "heap (brk)",
		[MAPPING_ARENA] = "heap (mapped)",
		[MAPPING_STACK] = "stacks",
		[MAPPING_CODE] = "code of no file",
		[MAPPING_SHARED] = "shared memory",
		[MAPPING_FILE] = "files",
		[MAPPING_ANONYMOUS] = "other anonymous",
		[MAPPING_KERNEL] = "the kernel's",
		[MAPPING_OWN] = "calltrap's own",
	};

	return names[kind];
}

static void add_total(struct memory_total *total, const struct mapping *mapping)
{
	total->mappings++;
	total->virtual_bytes += mapping->end - mapping->start;
	total->resident += mapping->resident;
	total->swapped += mapping->swapped;
	total->proportional += mapping->proportional;
	total->huge += mapping->huge;
}

/* [vsyscall] lies beside the address space, and in no sum of the kernel's. */
static bool is_apart(const struct mapping *mapping)
{
	return mapping->start >> 63;
}

void memory_view_sum_up(struct memory_view *view)
{
	for (size_t i = 0; i < view->mappings.count; i++) {
		const struct mapping *mapping = &view->mappings.list[i];

		if (is_apart(mapping))
			continue;
		add_total(&view->kinds[mapping->kind], mapping);
		add_total(&view->all, mapping);
	}
}

void memory_view_sum_touched(const struct memory_view *view,
			     struct memory_use ret[MAPPING_KINDS + 1])
{
	memset(ret, 0, (MAPPING_KINDS + 1) * sizeof(*ret));
	for (size_t i = 0; i < view->mappings.count; i++) {
		const struct mapping *mapping = &view->mappings.list[i];
		const struct touched_part *part =
			touched_at(&view->touched, mapping->start);

		if (!part || is_apart(mapping))
			continue;
		ret[mapping->kind].resident += part->resident;
		ret[mapping->kind].touched += part->touched;
		ret[MAPPING_KINDS].resident += part->resident;
		ret[MAPPING_KINDS].touched += part->touched;
	}
}

static void mark_stacks(struct mappings *mappings, const struct freeze *freeze)
{
	for (size_t i = 0; i < freeze->count; i++) {
		const struct frozen_task *task = &freeze->tasks[i];
		const struct arch_ops *arch =
			task->known ? arch_of_regs(&task->regs) : NULL;

		if (arch)
			mappings_mark_stack(mappings, arch->sp(&task->regs));
	}
}

static uint64_t resident_of_maps(const struct glibc *glibc, pid_t pid)
{
	struct pagemap map;
	struct page_run run;
	uint64_t bytes = 0;

	if (pagemap_open(&map, pid))
		return 0;
	for (size_t i = 0; i < glibc->part_count; i++) {
		const struct glibc_part *part = &glibc->parts[i];
		taddr_t at = part->whole_start;

		while (part->mapped &&
		       !pagemap_next(&map, at, part->whole_end, &run) &&
		       run.begin < run.end) {
			bytes += run.end - run.begin;
			at = run.end;
		}
	}
	pagemap_close(&map);
	return bytes;
}

static int look(struct memory_view *view, const struct freeze *freeze)
{
	struct procmem memory;
	int err = mappings_read(view->pid, true, &view->mappings);

	if (err)
		return err;
	mark_stacks(&view->mappings, freeze);
	if (vitals_read("", view->pid, &view->vitals)) {
		mappings_fini(&view->mappings);
		return -ERR_GONE;
	}
	procmem_init(&memory, view->pid);
	view->has_glibc =
		!heap_read(&memory.memory, &view->mappings, &view->glibc);
	object_heaps_read(&memory.memory, &view->mappings, &view->glibc.blocks,
			  NULL, view->objects);
	procmem_fini(&memory);
	return 0;
}

/* Which of its mappings' pages are there: only as of these. */
static void look_at_pages(struct memory_view *view)
{
	if (!view->has_glibc)
		return;
	heap_shape_find(&view->glibc, view->pid, &view->shape);
	view->map_resident = resident_of_maps(&view->glibc, view->pid);
}

/* Who has gone by now had all the mappings until then. */
static bool has_moved(const struct mappings *then)
{
	struct mappings now;
	bool moved;

	if (mappings_read(then->pid, false, &now))
		return false;
	moved = !mappings_are_equal(then, &now);
	mappings_fini(&now);
	return moved;
}

static void forget(struct memory_view *view)
{
	object_heaps_fini(view->objects);
	glibc_fini(&view->glibc);
	mappings_fini(&view->mappings);
}

static int look_until_sure(struct memory_view *view)
{
	const struct freeze none = { .tasks = NULL };
	int err;

	for (view->attempts = 1;; view->attempts++) {
		err = look(view, &none);
		if (err || !view->has_glibc || view->attempts == ATTEMPTS ||
		    glibc_is_understood(&view->glibc))
			return err;
		forget(view);
	}
}

static int look_frozen(struct memory_view *view, char **message_ret)
{
	struct freeze freeze;
	int err = freeze_begin(view->pid, &freeze, message_ret);

	if (err)
		return err;
	view->frozen = true;
	err = look(view, &freeze);
	if (!err)
		look_at_pages(view);
	view->pause_ns = freeze_end(&freeze);
	freeze_fini(&freeze);
	return err;
}

static void look_at_allocator(struct memory_view *view)
{
	view->allocator = allocator_other(&view->mappings, !view->glibc.musl);
	view->taken = allocator_taken(&view->mappings);
}

int memory_view_read(pid_t pid, uint64_t touched, bool freeze,
		     struct memory_view *ret, char **message_ret)
{
	int err = 0;

	*ret = (struct memory_view){ .pid = pid };
	*message_ret = NULL;
	procfs_comm(pid, ret->name);
	/* First, as what we read counts as touched, too. */
	if (touched)
		err = touched_watch(pid, touched, &ret->touched);
	if (!err)
		err = freeze ? look_frozen(ret, message_ret) :
			       look_until_sure(ret);
	if (err) {
		touched_fini(&ret->touched);
		if (!*message_ret)
			*message_ret = attach_explain(pid, err);
		return err;
	}
	if (!freeze) {
		look_at_pages(ret);
		ret->moved = has_moved(&ret->mappings);
	}
	look_at_allocator(ret);
	memory_view_sum_up(ret);
	return 0;
}

static void take_kinds(struct mappings *now, const struct mappings *then)
{
	for (size_t i = 0; i < now->count; i++) {
		struct mapping *mapping = &now->list[i];
		const struct mapping *old = mappings_find(then, mapping->start);

		if (old)
			mapping->kind = old->kind;
	}
}

int memory_view_around(pid_t pid, const struct glibc *glibc,
		       const struct mappings *then, bool copied,
		       struct memory_view *ret)
{
	int err;

	*ret = (struct memory_view){ .pid = pid };
	procfs_comm(pid, ret->name);
	err = mappings_read(pid, true, &ret->mappings);
	if (!err && vitals_read("", pid, &ret->vitals))
		err = -ERR_GONE;
	if (err) {
		mappings_fini(&ret->mappings);
		return err;
	}
	take_kinds(&ret->mappings, then);
	ret->has_glibc = true;
	ret->glibc = *glibc;
	look_at_pages(ret);
	ret->moved = (!copied && !mappings_are_equal(then, &ret->mappings)) ||
		     has_moved(&ret->mappings);
	look_at_allocator(ret);
	memory_view_sum_up(ret);
	return 0;
}

void memory_view_leave_heap(struct memory_view *view)
{
	view->has_glibc = false;
	view->glibc = (struct glibc){ .arenas = NULL };
}

void memory_view_fini(struct memory_view *view)
{
	heap_shape_fini(&view->shape);
	touched_fini(&view->touched);
	forget(view);
}
