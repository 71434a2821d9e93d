/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_FIXTURE_H
#define CALLTRAP_HEAP_FIXTURE_H

#include "unit.h"

#include <string.h>

#include "heap/heap.h"

/* Families for tests, and acts in few words. Times are in seconds. */

#define SECOND UINT64_C(1000000000)
#define START  (1000 * SECOND)

static const char fixture_text[] =
	"family m counts bytes\n"
	"form c\n"
	"acquire malloc(size) = handle\n"
	"resize realloc(old, size) = handle\n"
	"release free(handle)\n"
	"form new\n"
	"acquire new(size) = handle\n"
	"release delete(handle, size)\n"
	"family maps counts bytes in ranges of 4096\n"
	"acquire mmap(_, size) = handle != -1\n"
	"resize mremap(old, old_size, size) = handle != -1\n"
	"release munmap(handle, size) = 0\n"
	"family break counts bytes in ranges of 1\n"
	"move brk(end) = 0\n"
	"move sbrk(by) = old != -1\n"
	"family descriptors counts descriptors\n"
	"acquire open = int handle >= 0\n"
	"replace dup2 = int handle >= 0\n"
	"release close(int handle) = 0\n"
	"family sockets counts sockets\n"
	"acquire open = int handle >= 0\n"
	"release close(int handle) = 0\n"
	"family refs counts objects, shared\n"
	"acquire get = handle\n"
	"acquire up_ref(handle) = 1\n"
	"release put(handle)\n"
	"family parts counts parts, partly\n"
	"acquire make = handle\n"
	"release drop(handle)\n"
	"family objects counts bytes, collected\n"
	"acquire new_object(size) = handle\n";

struct fixture {
	struct families *families;
	struct heap *heap;
	uint64_t now;
	uint64_t call;
	pid_t tid;
	stack_id stack;
	const char *library;
};

static inline void fixture_init(struct fixture *f,
				const struct heap_options *options)
{
	struct heap_options copy = options ? *options :
					     (struct heap_options){ 0 };

	*f = (struct fixture){
		.now = START, .tid = 100, .stack = 1, .library = "main"
	};
	f->families = families_new();
	families_parse(f->families, "fixture", fixture_text,
		       strlen(fixture_text));
	copy.families = f->families;
	copy.start = START;
	f->heap = heap_new(&copy);
}

static inline void fixture_fini(struct fixture *f)
{
	heap_free(f->heap);
	families_free(f->families);
}

static inline struct heap_act fixture_act(struct fixture *f, const char *name)
{
	struct heap_act act = {
		.function = families_find(f->families, name),
		.begin = f->now,
		.end = f->now,
		.tid = f->tid,
		.stack = f->stack,
		.library = f->library,
	};

	ck_assert_ptr_nonnull(act.function);
	return act;
}

static inline void acquire(struct fixture *f, const char *name, uint64_t handle,
			   uint64_t size)
{
	struct heap_act act = fixture_act(f, name);

	act.handle = handle;
	act.size = size;
	heap_act(f->heap, &act);
}

static inline void release(struct fixture *f, const char *name, uint64_t handle,
			   uint64_t size)
{
	struct heap_act act = fixture_act(f, name);

	act.handle = handle;
	act.size = size;
	act.end = 0;
	heap_act(f->heap, &act);
}

static inline void resize(struct fixture *f, const char *name, uint64_t old,
			  uint64_t handle, uint64_t size)
{
	struct heap_act act = fixture_act(f, name);

	act.old = old;
	act.handle = handle;
	act.size = size;
	act.failed = !handle;
	heap_act(f->heap, &act);
}

static inline const struct heap_total *total_of(struct fixture *f,
						const char *name)
{
	const struct family_function *function =
		families_find(f->families, name);

	return heap_total(f->heap, function->family);
}

/* The site of a stack, and of a function if one is named. */
static inline const struct site *site_of(struct fixture *f, stack_id stack,
					 const char *name)
{
	for (size_t i = 1; i <= heap_site_count(f->heap); i++) {
		const struct site *site = heap_site(f->heap, i);

		if (site->stack == stack &&
		    (!name || !strcmp(site->function->name, name)))
			return site;
	}
	ck_abort_msg("no site of stack %u", stack);
}

#endif
