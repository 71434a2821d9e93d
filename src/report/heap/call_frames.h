/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_CALL_FRAMES_H
#define CALLTRAP_HEAP_CALL_FRAMES_H

#include "base/strbuf.h"
#include "report/memory/config.h"

/*
 * Adds the innermost ten functions of a stack, up to main(), a word each with a
 * blank before:
 *
 *	0xADDRESS@LIBRARY(FUNCTION+0xOFFSET,FILE:LINE)
 *
 * The address is that of the file, as addr2line takes it; what isn't known is
 * left out. A function that was inlined has "inlined" in place of its offset,
 * one that has left by a tail call "tail_call". callee: see namer_frames().
 * demangle: functions are as they are written, and may have blanks.
 */
void heap_call_frames_add(const struct heap_report_config *config,
			  stack_id stack, const char *callee, bool demangle,
			  struct strbuf *out);

#endif
