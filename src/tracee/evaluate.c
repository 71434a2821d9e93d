/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/evaluate.h"

#include <errno.h>
#include <string.h>

#define LONGEST_FUNCTION 64

/* Where it returns to: nowhere that it could go by itself … */
#define END 0

/* The task's memory but for the top of the stack, which is a copy. */
struct draft {
	struct memory memory;
	struct memory *original;
	taddr_t low; /* where bytes[] are */
	uint8_t bytes[256];
};

static struct draft *draft_of(struct memory *memory)
{
	return (struct draft *)memory;
}

static bool is_drafted(const struct draft *draft, taddr_t address, size_t size)
{
	return address >= draft->low && size <= sizeof(draft->bytes) &&
	       address - draft->low <= sizeof(draft->bytes) - size;
}

static size_t draft_read(struct memory *memory, taddr_t address, void *ret,
			 size_t size)
{
	struct draft *draft = draft_of(memory);

	if (!is_drafted(draft, address, size))
		return memory_read_some(draft->original, address, ret, size);
	memcpy(ret, draft->bytes + (address - draft->low), size);
	return size;
}

static int draft_write(struct memory *memory, taddr_t address,
		       const void *bytes, size_t size)
{
	struct draft *draft = draft_of(memory);

	if (!is_drafted(draft, address, size))
		return -EFAULT;
	memcpy(draft->bytes + (address - draft->low), bytes, size);
	return 0;
}

static const struct memory_ops draft_ops = { draft_read, draft_write };

/* … or where whoever has called returns to, in the register for that. */
static int find_end(const struct arch_ops *arch, const struct regs *regs,
		    struct memory *memory, taddr_t *ret)
{
	*ret = END;
	return arch->returns_by_register ?
		       arch->return_address(regs, memory, ret) :
		       0;
}

/* As if the function had just been called: END is the return address, and what
   may be an argument stands behind it. */
static int draft_init(struct draft *draft, const struct arch_ops *arch,
		      struct memory *original, taddr_t sp)
{
	const uint64_t end = END;

	*draft = (struct draft){
		.memory.ops = &draft_ops,
		.original = original,
		.low = sp + 2 * arch->word_size - sizeof(draft->bytes),
	};
	return memory_write(&draft->memory, sp, &end, arch->word_size);
}

static int carry_out(struct space *space, struct regs *regs,
		     struct memory *memory)
{
	taddr_t ip = space->arch->ip(regs);
	uint8_t code[16];
	size_t n = memory_read_some(memory, ip, code, sizeof(code));
	struct insn insn;
	int err;

	trap_hide(space, ip, code, n);
	err = space->arch->insn_decode(ip, code, n, &insn);
	if (err)
		return err;
	return insn.emulable ? space->arch->insn_emulate(&insn, regs, memory) :
			       -EOPNOTSUPP;
}

int evaluate_function(struct space *space, const struct regs *start,
		      struct memory *memory, taddr_t function,
		      const uint64_t *argument, uint64_t *ret)
{
	const struct arch_ops *arch = space->arch;
	struct regs regs = *start;
	struct draft draft;
	taddr_t end;
	unsigned i;
	int err;

	err = find_end(arch, start, memory, &end);
	if (!err)
		err = draft_init(&draft, arch, memory, arch->sp(&regs));
	if (!err && argument)
		err = arch->set_argument(&regs, &draft.memory, 0, *argument);
	arch->set_ip(&regs, function);
	for (i = 0; i < LONGEST_FUNCTION && !err; i++) {
		err = carry_out(space, &regs, &draft.memory);
		if (!err && arch->ip(&regs) == end) {
			*ret = arch->result(&regs);
			return 0;
		}
	}
	return err ? err : -EOPNOTSUPP;
}
