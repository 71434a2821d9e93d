/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LOG_SCRIPT_H
#define CALLTRAP_LOG_SCRIPT_H

#include "report/file/output.h"
#include "script/script.h"

/* "[report.py:14] ": the program's own frame, before a call. */
void log_script_add(struct strbuf *out, const struct script_frames *frames);

/* The frames under a call, a line each. Returns like output_end_line(). */
int log_script_stack(struct output *output,
		     const struct script_frames *frames) MUST_CHECK;

#endif
