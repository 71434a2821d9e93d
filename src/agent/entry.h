/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ENTRY_H
#define CALLTRAP_ENTRY_H

#include "tracee/space.h"

/*
 * The entry of a function, where a jump to the agent is to stand: which
 * instructions it covers, what is to be written, and the copy that does what
 * they did.
 */
struct entry {
	taddr_t function;
	unsigned length; /* of the covered instructions */
	unsigned count;
	struct insn insns[PATCH_INSNS];
	uint64_t word;   /* the aligned word in which the jump begins: where … */
	uint64_t before; /* … and what it holds */
	uint8_t last[4]; /* the jump's distance as the code has it there now */
};

/*
 * Reads the entry of a function. Negative when no jump can stand there:
 * -EINVAL for instructions that can't be copied, or that aren't the file's,
 * -EOPNOTSUPP for endbr64, -ENOSPC for a function that is too short, -EBUSY where something jumps to
 * one of the covered instructions or is caught there.
 */
int entry_read(struct space *space, taddr_t function,
	       struct entry *ret) MUST_CHECK;

/*
 * Writes a copy of the covered instructions that will lie at an address, and
 * the way back behind it. offsets_ret: of each instruction's copy. Returns its
 * size, -ERANGE when it would be too far away, or -ENOSPC.
 */
int entry_copy(const struct entry *entry, taddr_t to, uint8_t *ret, size_t room,
	       uint8_t offsets_ret[PATCH_INSNS]) MUST_CHECK;

/*
 * Where the jump leads, when all of its distance's bytes can be what they must:
 * straight to target if possible, else to an address where nothing is mapped
 * and size bytes may be. Returns -ERANGE when there is none. The patch lacks
 * its copies.
 */
int entry_aim(const struct entry *entry, pid_t pid, taddr_t target, size_t size,
	      struct patch *ret, taddr_t *to_ret) MUST_CHECK;

#endif
