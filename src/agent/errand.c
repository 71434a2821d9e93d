/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/errand.h"

#include <errno.h>
#include <string.h>

#include "sysdeps/x86_64/agent/image.h"
#include "tracee/tracer.h"

static size_t code_size(void)
{
	const struct agent_header *header = (const void *)agent_image;

	return header->errand_end - header->errand;
}

struct agent_saved errand_save(const struct regs *regs)
{
	return (struct agent_saved){
		.rax = regs->user.rax,
		.rcx = regs->user.rcx,
		.rdx = regs->user.rdx,
		.rsi = regs->user.rsi,
		.rdi = regs->user.rdi,
		.r8 = regs->user.r8,
		.r9 = regs->user.r9,
		.r10 = regs->user.r10,
		.r11 = regs->user.r11,
	};
}

static const uint64_t mark = SCRATCH_GUEST_MARK;

static size_t whole_size(void)
{
	return code_size() + sizeof(struct agent_errand) + sizeof(mark);
}

void errand_keep_room(struct space *space, bool needed)
{
	scratch_keep(space, needed ? whole_size() : 0);
}

int errand_write(const struct task *task, const struct agent_errand *what,
		 taddr_t *place_ret)
{
	const struct agent_header *header = (const void *)agent_image;
	struct space *space = task->tracee->space;
	const size_t code = code_size(), size = whole_size();
	uint8_t bytes[SCRATCH_GUEST_MAX];
	int err = size > sizeof(bytes) ? -E2BIG :
					 scratch_begin_guest(space, task, size);

	if (err)
		return err;
	memcpy(bytes, agent_image + header->errand, code);
	memcpy(bytes + code, what, sizeof(*what));
	memcpy(bytes + size - sizeof(mark), &mark, sizeof(mark));
	*place_ret = space->scratch.guest.place;
	err = scratch_write_guest(space, bytes);
	if (err)
		scratch_end_guest(space);
	return err;
}
