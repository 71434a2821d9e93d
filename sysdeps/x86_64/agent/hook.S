/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stubs jump to. The original is called, so nothing has to be remembered
 * of a call that never comes back (longjmp out of a signal handler, the end of
 * the thread): its frame goes with the stack. But no exception passes that
 * frame: where one may come, the original is jumped to, and returns to
 * agent_back.
 */
#define STUB_ORIGINAL 16
#define STUB_DOOR     48
#define STUB_LOW      72
#define STUB_SIZE     80
#define BOOTS         8
#define BOOT_SHIFT    9
#define BOOT_ROOM     512
#define WAY           416
#define MARKS         329920
#define MARKED        2427072
#define THREADS       128
#define TID           8
#define RATE          36
#define LEFT          40
#define WITHIN        48
#define GATE_TID      48
#define GATE_RATE     56
#define FRAME         136

	.section .header, "ax", @progbits
	.globl	agent_header
	.hidden	agent_header
agent_header:
	.quad	0x746e656761544c43
	.long	55
	.long	agent_boot
	.long	agent_hook
	.long	agent_end
	.long	agent_errand
	.long	agent_errand_data
	.long	agent_watch
	.long	agent_sample
	.long	agent_release
	.long	agent_unwind
	.long	agent_back
	.long	agent_filter
	.long	agent_count_only
	.long	agent_record
	.long	agent_acquire, 0
	.fill	7, 8, 0

	.text
/*
 * r11: the stub. Arguments are where the caller has put them; none is on the
 * stack. The frame is struct agent_frame (agent.h): the six arguments, the
 * stub, the time, the two result registers (until there is a result, rax and
 * r10, which are the caller's too), what was chosen, where the return address
 * lies, where its entry ends in the ring, and floating-point arguments, which no code
 * here changes: nor results.
 */
.macro make_frame
	sub	$FRAME, %rsp
	mov	%rdi, 0(%rsp)
	mov	%rsi, 8(%rsp)
	mov	%rdx, 16(%rsp)
	mov	%rcx, 24(%rsp)
	mov	%r8, 32(%rsp)
	mov	%r9, 40(%rsp)
	mov	%r11, 48(%rsp)
	mov	%rax, 64(%rsp)
	mov	%r10, 72(%rsp)
	lea	FRAME(%rsp), %rax
	mov	%rax, 88(%rsp)
.endm

.macro enter_hook
	cmpq	$0, agent_gate(%rip)
	je	1f
	make_frame
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, 56(%rsp)
.endm

/* What the original is called with, after code of ours has run. */
.macro take_arguments
	mov	0(%rsp), %rdi
	mov	8(%rsp), %rsi
	mov	16(%rsp), %rdx
	mov	24(%rsp), %rcx
	mov	32(%rsp), %r8
	mov	40(%rsp), %r9
	mov	48(%rsp), %r11
.endm

.macro return_result
	mov	64(%rsp), %rax
	mov	72(%rsp), %rdx
	add	$FRAME, %rsp
	ret
.endm

/* What has happened in the call is written down when it has returned. */
.macro call_and_note
	call	*STUB_ORIGINAL(%r11)
	mov	%rax, 64(%rsp)
	mov	%rdx, 72(%rsp)
	mov	%rsp, %rdi
	call	agent_note
	return_result
.endm

	.p2align 5
agent_hook:
	enter_hook
	mov	16(%rsp), %rdx
	call_and_note
1:	jmp	*STUB_ORIGINAL(%r11)

/*
 * The same where each call is recorded: that it has begun is noted, for who is told of
 * what is called within it.
 */
	.p2align 5
agent_record:
	cmpq	$0, agent_gate(%rip)
	je	1b
	make_frame
	mov	%rsp, %rdi
	call	agent_begin
	take_arguments
	call_and_note

/*
 * The same where calls are watched: the entry is written down before the
 * original runs. agent_enter says how it goes on: 0 by a call, whose return is
 * written, too; 1 by a jump; 2 by a jump to where the trap is, which tells what
 * can't be told from here.
 */
	.p2align 5
agent_watch:
	cmpq	$0, agent_gate(%rip)
	je	1f
	make_frame
	mov	%rsp, %rdi
	mov	%rbp, %rsi
	call	agent_enter
	take_arguments
	test	%eax, %eax
	jne	2f
	call	*STUB_ORIGINAL(%r11)
	mov	%rax, 64(%rsp)
	mov	%rdx, 72(%rsp)
	mov	%rsp, %rdi
	call	agent_returned
	return_result
2:	cmp	$1, %eax
	mov	64(%rsp), %rax
	mov	72(%rsp), %r10
	lea	FRAME(%rsp), %rsp
	jne	3f
1:	jmp	*STUB_ORIGINAL(%r11)
3:	jmp	*STUB_DOOR(%r11)

/*
 * Where calls are counted, and nothing is known of their end. No return address is
 * another, and no frame stays: whatever the function does with its caller's stack, it
 * finds what it would without us. The clock isn't read.
 */
	.p2align 5
agent_count_only:
	cmpq	$0, agent_gate(%rip)
	je	1b
	make_frame
	mov	%rsp, %rdi
	call	agent_tally
	take_arguments
	jmp	2b

/*
 * The same where some calls are chosen: of the others nothing is written, and
 * the clock isn't read (a time of 0 says so). The frame's last word is where
 * the thread has that a call of it stands for all within, and the choice.
 */
	.p2align 5
agent_sample:
	cmpq	$0, agent_gate(%rip)
	je	1b
	sub	$FRAME, %rsp
	mov	%rdi, 0(%rsp)
	mov	%rsi, 8(%rsp)
	mov	%rdx, 16(%rsp)
	mov	%r11, 48(%rsp)
	mov	%rax, 64(%rsp)
	mov	%r10, 72(%rsp)
	lea	FRAME(%rsp), %rax
	mov	%rax, 88(%rsp)
	mov	%rsp, %rdi
	mov	%rbp, %rsi
	call	agent_choose
	mov	0(%rsp), %rdi
	mov	8(%rsp), %rsi
	mov	16(%rsp), %rdx
	mov	48(%rsp), %r11
	test	%eax, %eax
	jne	2b
	call	*STUB_ORIGINAL(%r11)
	cmpq	$0, 56(%rsp)
	jne	4f
	mov	80(%rsp), %rcx
	movq	$0, WITHIN(%rcx)
	add	$FRAME, %rsp
	ret
4:	mov	%rax, 64(%rsp)
	mov	%rdx, 72(%rsp)
	mov	%rsp, %rdi
	call	agent_chosen
	return_result

/*
 * The same in short, for most of them: what has nothing but its size (the first of three
 * arguments at most), lies in no other call, and isn't chosen.
 */
	.p2align 5
agent_acquire:
	cmpq	$0, agent_gate(%rip)
	je	8f
	mov	%fs:0, %rax
	mov	%rax, %r10
	shr	$6, %r10
	movabs	$0x9e3779b97f4a7c15, %rcx
	imul	%rcx, %r10
	shr	$54, %r10
	shl	$6, %r10
	lea	agent_shared + THREADS(%rip), %rcx
	add	%rcx, %r10
	cmp	%rax, (%r10)
	jne	agent_sample
	mov	agent_gate + GATE_TID(%rip), %rcx
	mov	%fs:(%rcx), %eax	/* if it is 0, this is no thread's number */
	cmp	%eax, TID(%r10)
	jne	agent_sample
	mov	RATE(%r10), %ecx
	cmp	%rcx, agent_gate + GATE_RATE(%rip)
	jne	agent_sample
	cmpq	$0, WITHIN(%r10)
	jne	agent_sample
	test	%rdi, %rdi
	jle	agent_sample
	cmp	%rdi, LEFT(%r10)
	jle	agent_sample
	sub	%rdi, LEFT(%r10)
	mov	%rsp, WITHIN(%r10)
	sub	$FRAME, %rsp
	mov	%r10, 80(%rsp)
	call	*STUB_ORIGINAL(%r11)
	mov	80(%rsp), %rcx
	movq	$0, WITHIN(%rcx)
	add	$FRAME, %rsp
	ret
8:	jmp	*STUB_ORIGINAL(%r11)

/*
 * … and of releases only those of blocks that are marked. The functions have
 * three arguments at most, so other registers are free.
 */
	.p2align 5
agent_release:
	cmpq	$0, agent_gate(%rip)
	je	5f
	mov	%rdi, %rax
	shr	$12, %rax
	movabs	$0x9e3779b97f4a7c15, %r10
	imul	%r10, %rax
	shr	$49, %rax
	lea	agent_shared + MARKED(%rip), %r10
	cmpb	$0, (%r10, %rax)
	je	5f
	test	%rdi, %rdi
	je	5f
	shl	$6, %rax
	lea	agent_shared + MARKS(%rip), %r10
	add	%r10, %rax
	cmp	%rdi, 8(%rax)
	je	agent_sample
	cmp	%rdi, 16(%rax)
	je	agent_sample
	cmp	%rdi, 24(%rax)
	je	agent_sample
	cmp	%rdi, 32(%rax)
	je	agent_sample
	cmp	%rdi, 40(%rax)
	je	agent_sample
	cmp	%rdi, 48(%rax)
	je	agent_sample
	cmp	%rdi, 56(%rax)
	je	agent_sample
	cmpq	$0, 0(%rax)
	jne	agent_sample
5:	jmp	*STUB_ORIGINAL(%r11)

/*
 * Functions that walk over stacks, or throw what is on them away: what stands
 * there for return addresses is taken away first, whoever is there to watch.
 */
	.p2align 5
agent_unwind:
	make_frame
	mov	%rsp, %rdi
	call	agent_put_back
	take_arguments
	jmp	2b

/*
 * A stub that is the function's address for the whole program has calls of other
 * modules, too, by pointer. Where the return address was replaced, the call is a tail
 * caller's that is caught itself.
 */
	.p2align 5
agent_filter:
	push	%rax
	lea	agent_back(%rip), %rax
	cmp	%rax, 8(%rsp)
	je	6f
	mov	8(%rsp), %rax
	sub	STUB_LOW(%r11), %rax
	cmp	STUB_SIZE(%r11), %rax
	jae	7f
6:	pop	%rax
	jmp	*STUB_ORIGINAL(%r11)
7:	pop	%rax
	jmp	*STUB_DOOR(%r11)

/*
 * Where calls return whose return address was replaced. The slot is on the
 * stack again before anything else is, and what it leads to is jumped to: a
 * ret, too many by one, would have the processor guess each caller wrong.
 */
	.p2align 5
	.globl	agent_back
	.hidden	agent_back
agent_back:
	lea	-8(%rsp), %rsp
	push	%rax
	push	%rdx
	push	%rcx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	mov	%rsp, %rdi
	call	agent_come_back
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rcx
	pop	%rdx
	pop	%rax
	lea	8(%rsp), %rsp
	jmp	*-8(%rsp)

/*
 * Entered between two instructions of the program: every register is the program's,
 * and so is the stack, which may have no room. What it was sent with, and where it goes
 * on, lies in the way of this turn: when calltrap was killed meanwhile the next one
 * sends another thread. A handler would run on the stack that is taken then: so all
 * signals wait. No flag is changed before they can be kept.
 */
.macro call_sigprocmask
	mov	$2, %edi		/* SIG_SETMASK */
	mov	$8, %r10d
	mov	$14, %eax
	syscall
.endm

	.p2align 5
agent_boot:
	.set	turn, 0
	.rept	BOOTS
	lea	agent_boots + BOOT_ROOM * turn(%rip), %r8
	jmp	boot_of_turn
	.p2align 4
	mov	agent_boots + BOOT_ROOM * turn + WAY + 40(%rip), %r8
	jmp	*agent_boots + BOOT_ROOM * turn + WAY + 72(%rip)
	.p2align 5
	.set	turn, turn + 1
	.endr
boot_of_turn:
	lea	agent_boots(%rip), %rdi
	mov	$BOOTS * BOOT_ROOM, %esi
	mov	$3, %edx		/* readable and writable */
	mov	$10, %eax		/* mprotect */
	syscall
	mov	%rax, %rcx
	jrcxz	1f
	jmp	2f
1:	lea	all_signals(%rip), %rsi
	lea	WAY + 80(%r8), %rdx
	call_sigprocmask
	mov	%rsp, %rax
	lea	WAY(%r8), %rsp
	pushfq
	push	%rax
	push	%r8
	push	%r8
	cld
	mov	%r8, %rdi
	lea	agent_boots(%rip), %rax
	sub	%rax, %rdi
	shr	$BOOT_SHIFT, %rdi
	call	agent_boot_run
	pop	%r8
	pop	%r8
	pop	%rax
	popfq
	mov	%rax, %rsp
	lea	WAY + 80(%r8), %rsi
	mov	$0, %edx
	call_sigprocmask
2:	mov	WAY + 0(%r8), %rax
	mov	WAY + 8(%r8), %rcx
	mov	WAY + 16(%r8), %rdx
	mov	WAY + 24(%r8), %rsi
	mov	WAY + 32(%r8), %rdi
	mov	WAY + 48(%r8), %r9
	mov	WAY + 56(%r8), %r10
	mov	WAY + 64(%r8), %r11
	jmp	*WAY + 88(%r8)
	.p2align 3
all_signals:
	.quad	-1

/* As debuggers know it. */
	.p2align 4
	.globl	agent_net_return
	.hidden	agent_net_return
agent_net_return:
	mov	$15, %rax
	syscall

/*
 * A copy of this runs in the unused end of a page of code, before anything is
 * mapped: one system call, made as above between two instructions. Calltrap
 * has written behind it which, where to go on, and with what.
 */
	.p2align 3
agent_errand:
	lea	agent_errand_data(%rip), %rcx
	mov	0(%rcx), %rax
	mov	8(%rcx), %rdi
	mov	16(%rcx), %rsi
	mov	24(%rcx), %rdx
	mov	32(%rcx), %r10
	mov	40(%rcx), %r8
	mov	48(%rcx), %r9
	syscall
	lea	agent_errand_data(%rip), %rcx
	mov	64(%rcx), %rax
	mov	80(%rcx), %rdx
	mov	88(%rcx), %rsi
	mov	96(%rcx), %rdi
	mov	104(%rcx), %r8
	mov	112(%rcx), %r9
	mov	120(%rcx), %r10
	mov	128(%rcx), %r11
	mov	72(%rcx), %rcx
	jmp	*agent_errand_data + 56(%rip)
	.p2align 3
agent_errand_data:

	.section .note.GNU-stack, "", @progbits
