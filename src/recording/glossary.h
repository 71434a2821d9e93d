/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GLOSSARY_H
#define CALLTRAP_GLOSSARY_H

#include "base/cursor.h"
#include "heap/heap.h"
#include "naming/namer.h"

/* The dictionary of a recording, being read. Numbers begin with 1. */

struct glossary_process {
	pid_t pid;
	uint64_t start;
	unsigned flags;
	char *program, *name;
	int *inherited;
	size_t inherited_count;
};

struct glossary_thread {
	uint32_t process;
	pid_t tid;
	char name[HEAP_THREAD_NAME];
};

struct glossary_site {
	const struct family_function *function;
	stack_id stack;
	uint32_t untold;     /* the stack's number; 0: .stack is known */
	const char *library; /* of its innermost frame; or NULL */
	/* What the heap of the process that had it last calls it; or 0. */
	uint32_t process, known;
};

struct glossary_code {
	const struct code *code;
};

struct glossary_frame {
	struct frame frame;
	uint32_t number; /* in .stacks */
};

/* Most of them may never be asked for. */
struct glossary_stack {
	uint32_t outer; /* as in the file */
	uint32_t frame; /* its number, less 1 */
	stack_id id;    /* or STACK_NONE: not yet */
};

struct glossary {
	struct stacks *stacks;
	struct families *families;
	struct namer *namer; /* learns names; or NULL */
	bool *missing;       /* by family->index */
	bool complete;       /* what comes was read before, but may change */
	struct family_draft **drafts;
	const struct family_function **functions;
	struct glossary_process *processes;
	struct glossary_thread *threads;
	struct glossary_code *codes;
	struct glossary_frame *frames;
	struct glossary_stack *stack_list;
	struct glossary_site *sites;
	size_t family_count, function_count, process_count, thread_count,
		code_count, frame_count, stack_count, site_count;
	size_t family_room, function_room, process_room, thread_room, code_room,
		frame_room, stack_room, site_room;
	uint32_t *path; /* from a stack to one that is known */
	size_t path_room;
};

#define GLOSSARY_FAMILIES_MAX 256

/* stacks and families are the caller's, and may have some already. */
void glossary_init(struct glossary *glossary, struct stacks *stacks,
		   struct families *families, struct namer *namer);
void glossary_fini(struct glossary *glossary);

/* The entries of one block. False: something in it is not as it must be. */
bool glossary_read(struct glossary *glossary, const void *bytes, size_t size,
		   uint32_t count) MUST_CHECK;

/* NULL when there is none. */
const struct glossary_process *glossary_process(const struct glossary *glossary,
						uint64_t number);
const struct glossary_thread *glossary_thread(const struct glossary *glossary,
					      uint64_t number);
struct glossary_site *glossary_site(struct glossary *glossary, uint64_t number);

/* It will be asked for soon. */
void glossary_expect_site(const struct glossary *glossary, uint64_t number);

#endif
