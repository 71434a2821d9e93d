/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TEXT_RECORDING_H
#define CALLTRAP_TEXT_RECORDING_H

#include "heap/act_observer.h"
#include "recording/text_log.h"

/*
 * Tells an observer of the calls in a text, as if they happened: a microsecond
 * each, in one process, with threads as far as the text has them, without
 * stacks. families must have malloc's. What was read is left in *log (which
 * the caller has zeroed); a negative errno of reading. process: what was told
 * of, before it is over.
 */
int text_recording_play(int fd, const struct families *families,
			const struct stacks *stacks,
			struct act_observer *observer,
			void (*ended)(void *context,
				      const struct watched *process),
			void *context, struct text_log *log) MUST_CHECK;

#endif
