/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/stub.h"

#include <errno.h>
#include <string.h>

#include "sysdeps/x86/insn.h"
#include "sysdeps/x86_64/agent/image.h"

taddr_t stub_address(taddr_t base, unsigned index)
{
	return base + AGENT_STUBS_OFFSET + index * AGENT_STUB_SIZE;
}

/* Behind the copy of an instruction. */
#define DOOR (offsetof(struct agent_stub, copy) + INSN_COPY_MAX)

taddr_t stub_door(taddr_t base, unsigned index)
{
	return stub_address(base, index) + DOOR;
}

/* endbr64; lea address(%rip), %r11; jmp hook */
static void write_code(uint8_t ret[16], taddr_t at, taddr_t hook)
{
	static const uint8_t code[16] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x4c, 0x8d,
					  0x1d, 0xf5, 0xff, 0xff, 0xff, 0xe9 };
	const int32_t distance = (int32_t)(hook - (at + sizeof(code)));

	memcpy(ret, code, sizeof(code));
	memcpy(ret + 12, &distance, sizeof(distance));
}

/* The copy would push or pop another return address than the original. */
static bool can_be_copied(const struct insn *insn)
{
	return insn->way != INSN_STEP && !insn->pushes_or_pops_return;
}

/* notrack jmp *0(%rip) */
static const uint8_t far_jump[] = { 0x3e, 0xff, 0x25, 0, 0, 0, 0 };

_Static_assert(sizeof(far_jump) + sizeof(taddr_t) == STUB_FAR_JUMP_SIZE,
	       "and the address behind it");

void stub_put_far_jump(uint8_t ret[STUB_FAR_JUMP_SIZE], taddr_t target)
{
	memcpy(ret, far_jump, sizeof(far_jump));
	memcpy(ret + sizeof(far_jump), &target, sizeof(target));
}

bool stub_needs_no_code(const struct agent_stub *stub)
{
	return !memcmp(stub->copy, far_jump, sizeof(far_jump));
}

static int copy_first(const struct stub_config *config, taddr_t to,
		      uint8_t *ret)
{
	const struct insn *insn = config->insn;
	int8_t resume[INSN_COPY_MAX];
	int size;

	/* What it reads may be too far away from here to be read. */
	if (config->leads_to) {
		stub_put_far_jump(ret, config->leads_to);
		return 0;
	}
	if (insn->op.kind == X86_JUMP && insn->op.source == X86_IMMEDIATE) {
		stub_put_far_jump(ret, (taddr_t)insn->op.immediate);
		return 0;
	}
	if (!can_be_copied(insn))
		return -EINVAL;
	size = arch_x86_64.insn_relocate(insn, to, ret, resume);
	return size < 0 ? size : 0;
}

/* Its size is its first argument, no more is to be known, and its return is seen. */
static bool has_its_size_alone(unsigned failure)
{
	const unsigned plan =
		agent_act(AGENT_RESIZES, AGENT_NO_ARGUMENT, AGENT_NO_ARGUMENT) |
		AGENT_ENTRY_ONLY | AGENT_REPLACES;

	return (failure & plan) ==
	       agent_act(AGENT_ACQUIRES, 0, AGENT_NO_ARGUMENT);
}

static uint32_t hook_of(const struct stub_config *config)
{
	const struct agent_header *header = (const void *)agent_image;

	switch (config->way) {
	case STUB_WATCHES:
		return header->watch;
	case STUB_SAMPLES:
		return has_its_size_alone(config->failure) ? header->acquire :
							     header->sample;
	case STUB_RELEASES:
		return header->release;
	case STUB_WALKS:
		return header->unwind;
	case STUB_FILTERS:
		return header->filter;
	case STUB_TALLIES:
		return header->tally;
	case STUB_NOTES:
	case STUB_RECORDS:
		break;
	}
	if (config->failure & AGENT_REPLACES)
		return header->watch;
	return config->way == STUB_RECORDS ? header->record : header->hook;
}

int stub_make(const struct stub_config *config, struct agent_stub *ret)
{
	const taddr_t at = stub_address(config->base, config->index);
	const taddr_t copy = at + offsetof(struct agent_stub, copy);
	int err = 0;

	_Static_assert(INSN_COPY_MAX + STUB_FAR_JUMP_SIZE <= sizeof(ret->copy),
		       "each has its place");
	*ret = (struct agent_stub){
		.original = config->insn ? copy : config->function,
		.function = config->function,
		.index = config->index,
		.arguments = (uint8_t)config->arguments,
		.failure = config->failure,
		.used = 1,
		.door = config->function,
	};
	memcpy(ret->captures, config->captures, sizeof(ret->captures));
	if (config->failure & AGENT_WALKS)
		ret->door = ret->original;
	if (config->has_door) {
		stub_put_far_jump(ret->copy + INSN_COPY_MAX, ret->original);
		ret->door = stub_door(config->base, config->index);
	}
	if (config->way == STUB_FILTERS) {
		ret->original = config->hook;
		memcpy(ret->copy, &config->callers, sizeof(config->callers));
	}
	write_code(ret->code, at, config->base + hook_of(config));
	if (config->insn)
		err = copy_first(config, copy, ret->copy);
	return err;
}

/* What is different while a jump leads there. */
static void forget_patch(struct agent_stub *stub)
{
	stub->original = stub->door = stub->trampoline = 0;
	memset(stub->before, 0, sizeof(stub->before));
}

bool stub_equals(const struct agent_stub *a, const struct agent_stub *b)
{
	struct agent_stub own = *a, other = *b;

	forget_patch(&own);
	forget_patch(&other);
	return !memcmp(&own, &other, sizeof(own));
}
