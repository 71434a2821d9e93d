/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_NAMER_H
#define CALLTRAP_NAMER_H

#include "debuginfo/debuginfo.h"
#include "stack/stacks.h"

/* Names for frames, worked out when they are asked for, and kept. */
struct namer;

struct namer_options {
	bool demangle;
	struct debuginfo *debuginfo; /* file and line, inlined frames: from
					it; NULL: without */
};

struct namer *namer_new(const struct namer_options *options) MUST_CHECK;
void namer_free(struct namer *namer);

/* One function that a frame stands for; with inlined ones there are several. */
struct frame_name {
	const char *function; /* as shown; NULL: not known */
	const char *linkage;  /* as the symbol table has it, or NULL */
	uint64_t offset;      /* of the frame's address in the function */
	const char *library;  /* path as the program sees it; "" = no file */
	const char *file;     /* or NULL */
	unsigned line;        /* 0 = not known */
	unsigned start_line;
	bool inlined; /* into the next one */
};

/*
 * The names of a frame, innermost first, at least one. innermost: the address
 * is that of the instruction itself, not one behind a call (frame_method
 * FRAME_INNERMOST, and what FRAME_SIGNAL has interrupted). Good as long as
 * namer is.
 */
size_t namer_names(struct namer *namer, const struct frame *frame,
		   const struct frame_name **ret);

/*
 * The frames of a stack, innermost first, and among them (as FRAME_TAIL) those
 * of functions that have left by a tail call, as far as debug information
 * proves that they were there. callee: the function that the stack's innermost
 * frame has called, as the linker knows it, or NULL. To be freed.
 */
struct frame *namer_frames(struct namer *namer, const struct stacks *stacks,
			   stack_id stack, const char *callee,
			   size_t *count_ret) MUST_CHECK;

/*
 * How many of the answers of these two, so far, may be others later, as debug
 * information is still to come. Who keeps what is made of them looks whether
 * there are more now.
 */
uint64_t namer_unfinished(const struct namer *namer);

/* More never lie between two frames. */
#define NAMER_TAILS_MAX 32

/*
 * Only those between a frame and the one inside of it (or, without that,
 * callee). Returns how many.
 */
size_t namer_tails(struct namer *namer, const struct frame *outer,
		   const struct frame *inner, const char *callee,
		   struct frame ret[NAMER_TAILS_MAX]);

/* The addresses of these are known from elsewhere. */
void namer_teach_tails(struct namer *namer, const struct frame *outer,
		       const struct frame *inner, const char *callee,
		       const uint64_t *addresses, size_t count);

/*
 * The names of a frame are known from elsewhere. names and their texts (but
 * .library) become the namer's. False when it had others already.
 */
bool namer_teach(struct namer *namer, const struct frame *frame,
		 struct frame_name *names, size_t count);

/* Frees such names, for who doesn't teach them. */
void namer_forget(struct frame_name *names, size_t count);

/*
 * Says which frames will be asked for, so that debug information is read once
 * for all of them.
 */
void namer_prepare(struct namer *namer, const struct frame *frames,
		   size_t count);

/*
 * The same without waiting, which is for who must not stand still: false as
 * long as debug information is being read, and this is to be called again.
 */
bool namer_prefetch(struct namer *namer, const struct frame *frames,
		    size_t count) MUST_CHECK;

/*
 * After namer_prefetch() nobody waits for what namer_frames() wants to know
 * besides, and it has fewer frames: true as long as that is being read.
 */
bool namer_is_reading(const struct namer *namer);

#endif
