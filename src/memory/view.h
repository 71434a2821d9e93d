/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_VIEW_OF_MEMORY_H
#define CALLTRAP_VIEW_OF_MEMORY_H

#include "memory/glibc.h"
#include "memory/heap_shape.h"
#include "memory/mappings.h"
#include "memory/object_heap.h"
#include "memory/touched.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/vitals.h"

/* Where the memory of a process is, at about one time. */
struct memory_total {
	uint64_t mappings;
	uint64_t virtual_bytes, resident, swapped, proportional, huge;
};

/* What mappings of a kind had when it was known what is touched of it. */
struct memory_use {
	uint64_t resident, touched;
};

struct memory_view {
	pid_t pid;
	char name[PROCFS_COMM_ROOM];
	struct vitals vitals; /* what the kernel says of the whole */
	struct mappings mappings;
	struct memory_total kinds[MAPPING_KINDS];
	struct memory_total all; /* the sum of these */
	bool has_glibc;          /* these two are known */
	struct glibc glibc;
	struct heap_shape shape;
	struct object_heap objects[OBJECT_LANGUAGES];
	uint64_t map_resident;  /* of glibc's blocks with own mappings */
	const char *allocator;  /* another one that is there, or NULL … */
	uint64_t taken;         /* … which says that it has got so many bytes
				   from the system; 0: it doesn't */
	struct touched touched; /* … of its mappings, if that was watched */
	bool moved;             /* it has mapped or unmapped meanwhile, or since
				   its heap was read: not all figures are of one
				   instant */
	bool frozen;            /* no task ran while it was read … */
	uint64_t pause_ns;      /* … which took so long */
	unsigned attempts;      /* else: how often it was read, until all made
				    sense */
};

/*
 * touched: how long it is watched before, or 0. freeze: all tasks are stopped
 * meanwhile; else none is, and what changes
 * while it is read is read again. When it can't be read message_ret (to be
 * freed) says why.
 */
int memory_view_read(pid_t pid, uint64_t touched, bool freeze,
		     struct memory_view *ret, char **message_ret) MUST_CHECK;

/*
 * The same of a heap that was read before, when its mappings were as in then:
 * what is resident, and which pages could be given back, is as it is now, and
 * .moved says whether it has other mappings now. copied: then is of a copy, which
 * may not have had all of them. The
 * heap is shared, and stays the caller's: memory_view_leave_heap(). A negative
 * errno.
 */
int memory_view_around(pid_t pid, const struct glibc *glibc,
		       const struct mappings *then, bool copied,
		       struct memory_view *ret) MUST_CHECK;

/* What was shared is no longer this one's. */
void memory_view_leave_heap(struct memory_view *view);

/* What was touched, of mappings of each kind, and of all behind these. */
void memory_view_sum_touched(const struct memory_view *view,
			     struct memory_use ret[MAPPING_KINDS + 1]);

/* Sums of its mappings. */
void memory_view_sum_up(struct memory_view *view);
void memory_view_fini(struct memory_view *view);

/* What a kind is called: "program code". */
const char *mapping_kind_name(enum mapping_kind kind);

#endif
