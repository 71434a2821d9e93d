/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/agent/notes.h"

#include "sysdeps/x86_64/agent/cost.h"
#include "sysdeps/x86_64/agent/counts.h"
#include "sysdeps/x86_64/agent/records.h"
#include "sysdeps/x86_64/agent/room.h"
#include "sysdeps/x86_64/agent/threads.h"

void note(const struct config *config, const struct agent_frame *frame,
	  uint64_t ended)
{
	struct agent_thread *thread;

	if (is_alone(config, ended)) {
		close_gate();
		return;
	}
	if (is_too_old(config, frame) || is_forked())
		return;
	thread = find_thread(config);
	if (config->mode & AGENT_COUNTS)
		count(config, thread, frame, ended - frame->began);
	if (config->mode & AGENT_RECORDS)
		record(config, thread, frame, ended);
	if (__builtin_expect(is_sampled(ended), 0))
		sample(config, thread, ended);
}

/* The call has returned. */
void agent_note(const struct agent_frame *frame)
{
	struct config config;

	/* Behind a closed gate the clock isn't read: it may be forbidden. */
	if (read_config(&config))
		note(&config, frame, ticks());
}
