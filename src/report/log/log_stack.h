/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LOG_STACK_H
#define CALLTRAP_LOG_STACK_H

#include "naming/namer.h"
#include "report/file/output.h"

/* How stacks are written in a log. Most come again and again: texts are kept. */
struct log_stacks;

struct log_stacks *log_stacks_new(const struct stacks *stacks,
				  struct namer *namer) MUST_CHECK;
void log_stacks_free(struct log_stacks *stacks);

/*
 * Adds a stack to the log, a line for each frame:
 *
 *	 > LIBRARY(FUNCTION+0xOFFSET) [0xADDRESS] FILE:LINE
 *
 * The address is that of the file, as addr2line takes it. Functions that were
 * inlined have a line of their own before the one they are part of, and so have
 * those that have left by a tail call. callee: see namer_frames(). A stack that
 * could not be followed to its end says so.
 */
int log_stacks_add(struct log_stacks *stacks, struct output *output,
		   stack_id stack, const char *callee) MUST_CHECK;

#endif
