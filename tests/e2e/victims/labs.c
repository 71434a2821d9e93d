/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * labs() once more. With LOOP no jump can stand at its entry, as something in
 * it leads back there; with SLOW threads spend their time in the first bytes.
 */
__asm__(".text\n"
	".globl labs\n"
	".type labs, @function\n"
	".p2align 4\n"
	"labs:\n"
#if defined(LOOP)
	"	mov %rdi, %rax\n"
	"1:	neg %rax\n"
	"	js 1b\n"
#elif defined(SLOW)
#ifdef MARKED
	"	endbr64\n"
#endif
	"	pause\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	mov %rdi, %rbx\n"
	"	pause\n"
	"	mov %rbx, %rax\n"
	"	neg %rax\n"
	"	cmovs %rbx, %rax\n"
	"	pop %r12\n"
	"	pop %rbx\n"
#endif
	"	ret\n"
	".size labs, . - labs\n");
