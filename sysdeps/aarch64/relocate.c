/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/aarch64/insn.h"

#include <errno.h>
#include <string.h>

#include "sysdeps/aarch64/bits.h"
#include "sysdeps/aarch64/registers.h"

enum { SIZE = 4 };

/* A copy that is being written. No register is free to be used for it. */
struct relocation {
	const struct insn *insn;
	uint32_t original;
	taddr_t to;
	uint8_t *bytes;
	int8_t *resume;
	size_t size;
	int err;
};

static void put(struct relocation *copy, uint32_t word, int resume)
{
	memcpy(copy->bytes + copy->size, &word, SIZE);
	memset(copy->resume + copy->size, -1, SIZE);
	copy->resume[copy->size] = (int8_t)resume;
	copy->size += SIZE;
}

/* In units of 4 bytes, a number of so many bits. */
static uint32_t field(struct relocation *copy, taddr_t target, unsigned width)
{
	int64_t distance = (int64_t)(target - (copy->to + copy->size));
	int64_t limit = INT64_C(2) << width;

	if (distance % SIZE || distance < -limit || distance >= limit)
		copy->err = -ERANGE;
	return (uint32_t)(distance / SIZE) & ((UINT32_C(1) << width) - 1);
}

static void put_jump(struct relocation *copy, taddr_t target, int resume)
{
	put(copy, 0x14000000 | field(copy, target, 26), resume);
}

/* The same instruction, with another distance in its bits from 5 on. */
static void put_aimed(struct relocation *copy, taddr_t target, unsigned width,
		      int resume)
{
	const uint32_t mask = ((UINT32_C(1) << width) - 1) << 5;

	put(copy, (copy->original & ~mask) | field(copy, target, width) << 5,
	    resume);
}

static void put_way_back(struct relocation *copy)
{
	put_jump(copy, copy->insn->address + SIZE, SIZE);
}

/*
 * A branch over the way back, to a jump that reaches farther. Who stands there
 * may as well run the original again: it changes nothing.
 */
static void put_conditional(struct relocation *copy, unsigned width)
{
	put_aimed(copy, copy->to + copy->size + 2 * SIZE, width, 0);
	put_way_back(copy);
	put_jump(copy, (taddr_t)copy->insn->op.immediate, 0);
}

/* Until it jumps, another run of the original makes the same of x30. */
static void put_call(struct relocation *copy)
{
	const taddr_t behind = copy->insn->address + SIZE;

	/* ldr x30, two instructions on */
	put(copy, 0x58000000 | 2 << 5 | AARCH64_LINK, 0);
	put_jump(copy, (taddr_t)copy->insn->op.immediate, 0);
	put(copy, (uint32_t)behind, -1);
	put(copy, (uint32_t)(behind >> 32), -1);
}

static void put_address(struct relocation *copy)
{
	const bool pages = is_adrp(copy->original);
	const taddr_t target = (taddr_t)copy->insn->op.immediate;
	int64_t distance = (int64_t)(target - copy->to);

	if (pages)
		distance = (int64_t)(target - (copy->to & ~UINT64_C(0xfff))) /
			   0x1000;
	if (distance < -(INT64_C(1) << 20) || distance >= INT64_C(1) << 20)
		copy->err = -ERANGE;
	put(copy,
	    (copy->original & 0x9f00001f) | ((uint32_t)distance & 3) << 29 |
		    ((uint32_t)(distance >> 2) & 0x7ffff) << 5,
	    0);
	put_way_back(copy);
}

int aarch64_insn_relocate(const struct insn *insn, taddr_t to,
			  uint8_t ret[INSN_COPY_MAX],
			  int8_t resume_ret[INSN_COPY_MAX])
{
	struct relocation copy = { insn, 0, to, ret, resume_ret, 0, 0 };

	memcpy(&copy.original, insn->bytes, SIZE);
	if (to % SIZE)
		return -ERANGE;
	switch ((enum aarch64_kind)insn->op.kind) {
	case AARCH64_OTHER:
	case AARCH64_MOVE:
	case AARCH64_THREAD:
	case AARCH64_LOAD_AT:
	case AARCH64_ADD_IMMEDIATE:
	case AARCH64_ADD:
		if (insn->way == INSN_STEP)
			return -EINVAL;
		put(&copy, copy.original, 0);
		put_way_back(&copy);
		break;
	case AARCH64_NOP:
	case AARCH64_PREFETCH:
		put_way_back(&copy);
		break;
	case AARCH64_ADDRESS:
		put_address(&copy);
		break;
	case AARCH64_LOAD:
	case AARCH64_LOAD_WIDE:
		put_aimed(&copy, (taddr_t)insn->op.immediate, 19, 0);
		put_way_back(&copy);
		break;
	case AARCH64_B:
		put_jump(&copy, (taddr_t)insn->op.immediate, 0);
		break;
	case AARCH64_BL:
		put_call(&copy);
		break;
	case AARCH64_B_IF:
	case AARCH64_CBZ:
		put_conditional(&copy, 19);
		break;
	case AARCH64_TBZ:
		put_conditional(&copy, 14);
		break;
	case AARCH64_RET_SIGNED:
		put(&copy, copy.original, 0);
		break;
	/* What these may lead to depends on the page that they stand in. */
	case AARCH64_BR:
	case AARCH64_BLR:
	case AARCH64_RET:
		return -EINVAL;
	}
	return copy.err ? copy.err : (int)copy.size;
}
