/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LOG_STACK_H
#define CALLTRAP_LOG_STACK_H

#include "naming/namer.h"
#include "report/file/output.h"

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
int log_stack_add(struct output *output, const struct stacks *stacks,
		  struct namer *namer, stack_id stack,
		  const char *callee) MUST_CHECK;

#endif
