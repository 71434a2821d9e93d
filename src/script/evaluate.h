/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_EVALUATE_SCRIPT_H
#define CALLTRAP_EVALUATE_SCRIPT_H

#include "script/node.h"

/* A script that is being asked. */
struct evaluation {
	struct script_thread *thread;
	unsigned steps; /* that it may still take */
	uint64_t values[SCRIPT_ITEMS_MAX + SCRIPT_LOCALS_MAX];
};

/* The value of an expression. */
int script_evaluate(struct evaluation *evaluation,
		    const struct script_node *node, uint64_t *ret) MUST_CHECK;

/* That of one that is text. */
int script_evaluate_text(struct evaluation *evaluation,
			 const struct script_node *node,
			 struct strbuf *ret) MUST_CHECK;

#endif
