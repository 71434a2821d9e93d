/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86/insn.h"

#include <errno.h>
#include <string.h>

#include "sysdeps/x86/registers.h"

static bool movable(const struct insn *insn)
{
	return insn->way == INSN_RELOCATE ||
	       (insn->way == INSN_EMULATE && !x86_kind_branches(insn->op.kind));
}

/* A displacement in the copy that reaches what the original's does. */
static int adjust(const struct insn *insn, taddr_t to, uint8_t *copy)
{
	int32_t displacement;
	int64_t adjusted;

	memcpy(&displacement, copy + insn->op.relative, sizeof(displacement));
	adjusted = (int64_t)(insn->address - to);
	if (__builtin_add_overflow(adjusted, displacement, &adjusted) ||
	    adjusted != (int32_t)adjusted)
		return -ERANGE;
	displacement = (int32_t)adjusted;
	memcpy(copy + insn->op.relative, &displacement, sizeof(displacement));
	return 0;
}

static size_t jump_near(uint8_t *ret, int32_t distance)
{
	ret[0] = 0xe9;
	memcpy(ret + 1, &distance, sizeof(distance));
	return 1 + sizeof(distance);
}

/* notrack jmp *0(%rip): changes no register, and needs no endbr64 there. */
static size_t jump_far(uint8_t *ret, taddr_t target)
{
	static const uint8_t jump[] = { 0x3e, 0xff, 0x25, 0, 0, 0, 0 };

	memcpy(ret, jump, sizeof(jump));
	memcpy(ret + sizeof(jump), &target, sizeof(target));
	return sizeof(jump) + sizeof(target);
}

static size_t jump(unsigned word_size, taddr_t from, taddr_t target,
		   uint8_t *ret)
{
	int64_t distance = (int64_t)(target - (from + 5));

	/* In 32 bits, addresses wrap and so everything is in reach. */
	if (word_size == 4 || distance == (int32_t)distance)
		return jump_near(ret, (int32_t)distance);
	return jump_far(ret, target);
}

int x86_insn_relocate(unsigned word_size, const struct insn *insn, taddr_t to,
		      uint8_t ret[INSN_COPY_MAX],
		      int8_t resume_ret[INSN_COPY_MAX])
{
	uint8_t copy[INSN_COPY_MAX];
	size_t size = insn->length;
	int err;

	if (!movable(insn))
		return -EINVAL;
	memcpy(copy, insn->bytes, size);
	if (insn->near) {
		err = adjust(insn, to, copy);
		if (err)
			return err;
	}
	memset(resume_ret, -1, INSN_COPY_MAX);
	resume_ret[0] = 0;
	if (!x86_jumps_through_memory(insn)) {
		resume_ret[insn->length] = (int8_t)insn->length;
		size += jump(word_size, to + size,
			     x86_truncate(insn->address + size, word_size),
			     copy + size);
	}
	memcpy(ret, copy, size);
	return (int)size;
}
