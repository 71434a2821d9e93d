/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "torture.h"

static volatile int zero;

long p_leaf(long x)
{
	return RESULT(x, LEAF);
}

long p_data(long x)
{
	return RESULT(x, DATA) + zero;
}

/* The caller has put the number of a system call where the kernel looks. */
#ifdef __aarch64__
/* And x into x9: x0 is the call's result. */
__asm__(".globl p_step\n"
	".type p_step, %function\n"
	"p_step:\n"
	"	svc #0\n"
	"	movz x0, #0x300, lsl #48\n"
	"	orr x0, x0, x9\n"
	"	ret\n"
	".size p_step, . - p_step\n");
#else
__asm__(".globl p_step\n"
	".type p_step, @function\n"
	"p_step:\n"
	"	syscall\n"
	"	mov $3, %eax\n"
	"	shl $56, %rax\n"
	"	or %rdi, %rax\n"
	"	ret\n"
	".size p_step, . - p_step\n");
#endif
_Static_assert(RESULT(0l, STEP) == 3l << 56, "p_step knows its number");

__attribute__((noinline)) long p_tail_end(long x)
{
	return RESULT(x, TAIL) + zero;
}

/* Compiled with -O2: a jump, no call. */
long p_tail(long x)
{
	return p_tail_end(x);
}

long p_through(long x, void (*function)(void *), void *context)
{
	function(context);
	return RESULT(x, THROUGH);
}
