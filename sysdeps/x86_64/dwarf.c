/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/dwarf.h"

#include <string.h>

#include "sysdeps/x86/call.h"

/* System V ABI, AMD64 supplement, figure 3.36. */
enum {
	RAX,
	RDX,
	RCX,
	RBX,
	RSI,
	RDI,
	RBP,
	RSP,
	R8,
	R9,
	R10,
	R11,
	R12,
	R13,
	R14,
	R15,
	RETURN_ADDRESS,
	COUNT,
};

static void registers(const struct regs *regs,
		      uint64_t ret[DWARF_REGISTERS_MAX])
{
	const struct user_regs_struct *user = &regs->user;
	const uint64_t values[COUNT] = {
		user->rax, user->rdx, user->rcx, user->rbx, user->rsi,
		user->rdi, user->rbp, user->rsp, user->r8,  user->r9,
		user->r10, user->r11, user->r12, user->r13, user->r14,
		user->r15, user->rip,
	};

	memcpy(ret, values, sizeof(values));
}

/*
 * The handler has popped the return address: the stack pointer is at the
 * ucontext, 40 bytes into which the registers begin, in the order of struct
 * sigcontext (asm/sigcontext.h).
 */
static void set_offsets(int32_t ret[DWARF_REGISTERS_MAX])
{
	static const uint8_t saved[] = {
		R8,
		R9,
		R10,
		R11,
		R12,
		R13,
		R14,
		R15,
		RDI,
		RSI,
		RBP,
		RBX,
		RDX,
		RAX,
		RCX,
		RSP,
		RETURN_ADDRESS,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(saved); i++)
		ret[saved[i]] = 40 + 8 * i;
}

static bool is_signal_return(const uint8_t *code,
			     int32_t offsets_ret[DWARF_REGISTERS_MAX])
{
	/* mov $15, %rax (or %eax); syscall */
	static const uint8_t wide[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 15, 5 };
	static const uint8_t narrow[] = { 0xb8, 15, 0, 0, 0, 15, 5 };

	if (memcmp(code, wide, sizeof(wide)) &&
	    memcmp(code, narrow, sizeof(narrow)))
		return false;
	set_offsets(offsets_ret);
	return true;
}

const struct dwarf_arch x86_64_dwarf = {
	.count = COUNT,
	.sp = RSP,
	.fp = RBP,
	.ip = RETURN_ADDRESS,
	.return_address = RETURN_ADDRESS,
	.registers = registers,
	.ends_in_call = x86_ends_in_call,
	.is_signal_return = is_signal_return,
};
