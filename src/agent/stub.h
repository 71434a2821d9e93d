/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_STUB_H
#define CALLTRAP_STUB_H

#include <stdbool.h>
#include <stddef.h>

#include "sysdeps/arch.h"
#include "sysdeps/x86_64/agent/layout.h"
#include "tracee/patch.h"

struct entry;

/*
 * What is caught, and how. entry: where a jump to the stub is to stand in the
 * function's code; or else insn: its first instruction, where a trap stands on
 * it. The agent enters behind that.
 */
struct stub_config {
	taddr_t base; /* of the agent */
	unsigned index;
	taddr_t function;
	const struct insn *insn;   /* or NULL */
	const struct entry *entry; /* or NULL */
	unsigned arguments;
	unsigned failure; /* enum agent_failure, and AGENT_WIDE */
};

/* Where the stub lies, and what slots of its function hold from then on. */
taddr_t stub_address(taddr_t base, unsigned index);

/* Where a jump in the function's code leads to. */
taddr_t stub_entry_address(taddr_t base, unsigned index);

/*
 * Where the copies of an entry's instructions are; 0: none begins there. As of
 * struct patch.
 */
void stub_copies(const struct stub_config *config,
		 taddr_t ret[PATCH_INSNS]);

/* Returns -EINVAL or -ERANGE when the first instructions can't be moved there. */
int stub_make(const struct stub_config *config,
	      struct agent_stub *ret) MUST_CHECK;

/*
 * Whether an old one, made by whomever for the same place, does the same; what
 * is patched is told later.
 */
bool stub_equals(const struct agent_stub *a, const struct agent_stub *b);

#endif
