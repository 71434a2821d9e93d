/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OWNERS_H
#define CALLTRAP_OWNERS_H

#include "memory/leaks.h"

/*
 * Through which variable blocks are reached, and through that alone: were it
 * gone, they would be lost. What a thread has on its stack or in a register
 * owns only what no variable leads to: it is mostly at work with the others.
 */
struct owners {
	uint32_t *of; /* of each block of leaks->glibc.blocks: a number, or 0
			  when it is lost, or has no owner, as it is reached
			  through several */
	char **names; /* names[number]; NULL for those that aren't one */
	size_t count; /* numbers are below */
};

void owners_find(const struct leaks *leaks, struct owners *ret);
void owners_fini(struct owners *owners);

#endif
