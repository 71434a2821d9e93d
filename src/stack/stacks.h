/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_STACKS_H
#define CALLTRAP_STACKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/types.h"
#include "image/image.h"

/*
 * Call stacks, each kept once: a trie of (parent, frame), whose roots are the
 * outermost frames. A stack is the number of its innermost frame's node, so two
 * equal stacks have equal numbers, for as long as the session lasts.
 */
struct stacks;

typedef uint32_t stack_id;
#define STACK_NONE 0

/* How a frame was found. */
enum frame_method {
	FRAME_INNERMOST, /* where the task stood */
	FRAME_ENTRY,     /* the return address of a function just entered */
	FRAME_CFI,       /* .eh_frame or .debug_frame */
	FRAME_POINTER,   /* the chain of frame pointers */
	FRAME_SIGNAL,    /* what a signal interrupted */
	FRAME_HANDLED,   /* the kernel's, that a signal handler returns to */
	FRAME_GUESSED,   /* a return address found by its looks */
	FRAME_TAIL,      /* of no stack: naming/ says that a function has left
			    by the jump before the address, or around it */
	FRAME_SCRIPT,    /* of a program that an interpreter runs: the address
			    is the line, 0 where it isn't known */
};

/* Why there are no further frames outside the outermost one. */
enum stack_end {
	STACK_COMPLETE, /* that was the thread's first function */
	STACK_CUT,      /* as deep as was asked for, or as was copied */
	STACK_BROKEN,   /* the next one could not be found */
};

/*
 * Code that a frame may lie in: an image as one program maps it, or memory
 * that belongs to no file (the vdso, what a JIT compiler has made).
 */
struct code {
	struct image *image;  /* NULL: no file */
	const char *path;     /* as the program sees it; "" without */
	const char *function; /* of a script; NULL: not known, or none */
	pid_t pid;            /* no file: whose memory it is */
	struct code *next;
};

/*
 * The code object of these; made when it is not there yet. Keeps the image
 * (and its names) after the module is gone. Good as long as stacks is.
 */
const struct code *stacks_code(struct stacks *stacks, struct image *image,
			       const char *path, pid_t pid);

/*
 * A new one, of a file that isn't there any more: what has been at one path
 * needn't have been the same. Processes have no negative numbers, which these
 * have, so nobody will look for maps of theirs.
 */
const struct code *stacks_lost_code(struct stacks *stacks, const char *path);

/*
 * The same for what an interpreter runs: a function (or NULL) of a file, which
 * frames of FRAME_SCRIPT lie in.
 */
const struct code *stacks_script(struct stacks *stacks, const char *file,
				 const char *function);

struct frame {
	const struct code *code;
	uint64_t address; /* the image's own, or (no file) the
				     process's: of the instruction that runs
				     next. A caller's lies behind the call */
	enum frame_method method;
};

/*
 * Whether the address is that of the instruction itself, not one behind a
 * call, where the next function may begin: there, one byte before is what
 * tables and symbols are asked about.
 */
static inline bool frame_is_exact(const struct frame *frame)
{
	return frame->method == FRAME_INNERMOST ||
	       frame->method == FRAME_SIGNAL;
}

struct stacks *stacks_new(void) MUST_CHECK;
void stacks_free(struct stacks *stacks);

/* frames[0] is the innermost. Without any it is STACK_NONE. */
stack_id stacks_intern(struct stacks *stacks, const struct frame *frames,
		       size_t count, enum stack_end end);

/*
 * The same in steps, for who keeps the numbers of frames: begins with an end,
 * and adds frames from the outermost on.
 */
uint32_t stacks_frame_number(struct stacks *stacks, const struct frame *frame);
stack_id stacks_begin(enum stack_end end);
stack_id stacks_extend(struct stacks *stacks, stack_id outer,
		       uint32_t frame_number);

/* Frames from the innermost on, at most room; returns how many. */
size_t stacks_frames(const struct stacks *stacks, stack_id stack,
		     struct frame *ret, size_t room);
size_t stacks_depth(const struct stacks *stacks, stack_id stack);
enum stack_end stacks_end(const struct stacks *stacks, stack_id stack);

/* The stack without its innermost frame; STACK_NONE when that was the last. */
stack_id stacks_caller(const struct stacks *stacks, stack_id stack);

/* How many nodes there are, and the bytes that they take. */
size_t stacks_nodes(const struct stacks *stacks);
size_t stacks_bytes(const struct stacks *stacks);

#endif
