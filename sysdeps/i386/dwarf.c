/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/i386/dwarf.h"

#include <string.h>

#include "sysdeps/x86/call.h"

/* System V ABI, Intel386 supplement, table 2.14. */
enum { EAX, ECX, EDX, EBX, ESP, EBP, ESI, EDI, RETURN_ADDRESS, COUNT };

static void registers(const struct regs *regs,
		      uint64_t ret[DWARF_REGISTERS_MAX])
{
	const struct user_regs_struct *user = &regs->user;
	const uint64_t values[COUNT] = {
		user->rax, user->rcx, user->rdx, user->rbx, user->rsp,
		user->rbp, user->rsi, user->rdi, user->rip,
	};
	size_t i;

	for (i = 0; i < COUNT; i++)
		ret[i] = (uint32_t)values[i];
}

/*
 * The number of the signal, two pointers, the siginfo and the ucontext follow
 * (struct rt_sigframe, asm/sigframe.h); in the older form a sigcontext does.
 * Its registers: asm/sigcontext.h.
 */
static void set_offsets(int32_t ret[DWARF_REGISTERS_MAX], int32_t context)
{
	static const uint8_t saved[] = {
		EDI, ESI, EBP, ESP, EBX, EDX, ECX, EAX,
	};
	size_t i;

	/* Four segment registers come first; trapno and err in between. */
	for (i = 0; i < ARRAY_SIZE(saved); i++)
		ret[saved[i]] = context + 16 + 4 * i;
	ret[RETURN_ADDRESS] = context + 56;
}

static bool is_signal_return(const uint8_t *code,
			     int32_t offsets_ret[DWARF_REGISTERS_MAX])
{
	/* mov $173, %eax; int $0x80 */
	static const uint8_t rt[] = { 0xb8, 173, 0, 0, 0, 0xcd, 0x80 };
	/* pop %eax; mov $119, %eax; int $0x80 */
	static const uint8_t old[] = { 0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80 };

	if (!memcmp(code, rt, sizeof(rt)))
		set_offsets(offsets_ret, 12 + 128 + 20);
	else if (!memcmp(code, old, sizeof(old)))
		set_offsets(offsets_ret, 4);
	else
		return false;
	return true;
}

const struct dwarf_arch i386_dwarf = {
	.count = COUNT,
	.sp = ESP,
	.fp = EBP,
	.ip = RETURN_ADDRESS,
	.return_address = RETURN_ADDRESS,
	.registers = registers,
	.ends_in_call = x86_ends_in_call,
	.is_signal_return = is_signal_return,
};
