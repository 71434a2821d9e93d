/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_CAPTURE_H
#define CALLTRAP_AGENT_CAPTURE_H

#include "sysdeps/x86_64/agent/agent.h"

/* Of what one argument, or the result, leads to. */
struct piece {
	const unsigned char *bytes;
	unsigned which;
	unsigned count;
};

struct pieces {
	struct piece list[AGENT_CAPTURES];
	unsigned count;
	unsigned words; /* of the record */
};

/* When it has returned: but for what was looked at before. */
void find_pieces(const struct config *config, const struct agent_frame *frame,
		 struct pieces *ret) HIDDEN;

/*
 * Of a call that is about to begin. False: by what is known now that can't be done
 * without a risk.
 */
bool find_first_pieces(const struct config *config,
		       const struct agent_frame *frame,
		       struct pieces *ret) HIDDEN;

void write_pieces(const struct pieces *pieces, uint64_t *ring,
		  uint64_t position, uint64_t mask) HIDDEN;

#endif
