/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_ANSWERS_H
#define CALLTRAP_DEBUGINFO_ANSWERS_H

#include "base/cursor.h"
#include "debuginfo/debuginfo.h"

/*
 * What the child has answered, as debuginfo.h has it. The child may have been
 * taken over by what it read: nothing in an answer is believed.
 */
struct answers {
	struct answer_string *strings; /* each once */
	struct answer_block *blocks;
};

void answers_fini(struct answers *answers);

/* -EPROTO when it makes no sense. Results are good until answers_fini(). */
int answers_read_places(struct answers *answers, struct cursor *c,
			struct debug_caller *caller_ret,
			const struct debug_place **ret,
			unsigned *count_ret) MUST_CHECK;
int answers_read_function(struct answers *answers, struct cursor *c,
			  const struct debug_function **ret) MUST_CHECK;

int answers_read_tails(struct answers *answers, struct cursor *c,
		       struct debug_tails *ret) MUST_CHECK;

/* steps_ret has room for DEBUG_STEPS_MAX. */
int answers_read_way(struct answers *answers, struct cursor *c,
		     struct debug_step *steps_ret,
		     unsigned *count_ret) MUST_CHECK;

#endif
