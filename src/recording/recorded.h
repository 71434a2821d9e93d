/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RECORDED_H
#define CALLTRAP_RECORDED_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "base/types.h"

/* What a recording tells: events, and who and what they speak of. Numbers of
   the dictionary begin with 1. See calltrap.recording(5). */

enum recorded_kind {
	RECORDED_ENTRY,   /* a call whose return nobody waits for */
	RECORDED_RETURN,  /* one whose act takes effect when it returns */
	RECORDED_CALL,    /* one that took effect when it was entered: both */
	RECORDED_BEGIN,   /* … its entry … */
	RECORDED_END,     /* … and its return, with others in between */
	RECORDED_ABANDON, /* a call that will not return */
	RECORDED_NOTE,    /* something else */
	RECORDED_KINDS,
};

struct recorded_event {
	enum recorded_kind kind;
	bool failed, unkept, further;
	uint64_t time;      /* monotonic, ns */
	uint64_t wait;      /* CALL: how long before that it was entered */
	uint64_t duration;  /* the call's own time; 0 = not known */
	int64_t correction; /* see struct heap_act */
	uint32_t thread;
	uint32_t site;
	uint64_t call; /* BEGIN, END, ABANDON: the same number; or 0 */
	uint64_t handle, old, size, old_size;
	uint64_t count, item; /* factors of the size, or 0 */
	/* NOTE: good as long as the block. */
	unsigned note;
	const uint8_t *body;
	size_t body_size;
};

enum recorded_note {
	NOTE_SAMPLE = 1, /* what the kernel says of a process */
	NOTE_SWITCH,     /* counting was switched off or on */
	NOTE_MISSED,     /* calls may have gone by unseen */
	NOTE_END,        /* a process has come to its end */
	NOTE_DROPPED,    /* events that were not kept */
	NOTE_COST,       /* what being traced has cost a process */
	NOTE_HELD_UP,    /* for some of a time a process could not run */
};

enum entry_kind {
	ENTRY_PROCESS = 1,
	ENTRY_THREAD,
	ENTRY_FAMILY,
	ENTRY_FUNCTION,
	ENTRY_CODE,
	ENTRY_FRAME,
	ENTRY_STACK,
	ENTRY_SITE,
	ENTRY_NAMES,
	ENTRY_TAILS, /* functions that have left by a tail call */
};

/* Bits of ENTRY_PROCESS. */
enum {
	PROCESS_COMPLETE = 1,
	PROCESS_INHERITED = 2, /* its descriptors are known */
};

/* … of ENTRY_FAMILY. */
enum {
	FAMILY_HAS_SIZE = 1,
	FAMILY_NULL_IS_NOTHING = 2,
	FAMILY_SHARED = 4,
	FAMILY_MISSING = 8, /* some acquisitions can't be seen at all */
	FAMILY_PARTLY = 16,
	FAMILY_COLLECTED = 32,
};

/* … of ENTRY_FUNCTION: what of a call is known, and from where. */
enum {
	FUNCTION_ALWAYS_SUCCEEDS = 1,
	FUNCTION_HAS_HANDLE = 2,
	FUNCTION_HAS_OLD = 4,
	FUNCTION_HAS_SIZE = 8,
	FUNCTION_HAS_OLD_SIZE = 16,
	FUNCTION_HAS_PRODUCT = 32, /* the size is a product */
	FUNCTION_HAS_FORM = 64,
};

/* … of ENTRY_CODE. */
enum { CODE_HAS_IMAGE = 1 };

/* … of each name of ENTRY_NAMES. */
enum { NAME_INLINED = 1 };

#endif
