/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <errno.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sysdeps/aarch64/insn.h"
#include "sysdeps/aarch64/registers.h"
#include "sysdeps/syscall_maker.h"
#include "unit.h"

/* The same in parent and child. */
#define AREA      0x20000000ul
#define AREA_SIZE 0x10000ul
#define CODE      (AREA + 0x1000)
#define COPY      (AREA + 0x5000)
#define ELSEWHERE (AREA + 0x9000)
#define STACK     (AREA + 0xe000)

enum way { EMULATED, COPIED, REFUSED };

static const struct form {
	uint32_t word;
	enum way way;
	const char *text;
} forms[] = {
	{ 0xd503201f, EMULATED, "nop" },
	{ 0xd503245f, EMULATED, "bti c" },
	{ 0xd50324df, EMULATED, "bti jc" },
	{ 0x10000040, EMULATED, "adr x0, +8" },
	{ 0x30000041, EMULATED, "adr x1, +9" },
	{ 0x70ffffe2, EMULATED, "adr x2, -1" },
	{ 0x90000003, EMULATED, "adrp x3, +0" },
	{ 0xb0000004, EMULATED, "adrp x4, +0x1000" },
	{ 0xf0ffffe5, EMULATED, "adrp x5, -0x1000" },
	{ 0x14000002, EMULATED, "b +8" },
	{ 0x17ffffff, EMULATED, "b -4" },
	{ 0x94000004, EMULATED, "bl +16" },
	{ 0x97fffffc, EMULATED, "bl -16" },
	{ 0x54000040, EMULATED, "b.eq +8" },
	{ 0x54ffffe1, EMULATED, "b.ne -4" },
	{ 0x54000042, EMULATED, "b.cs +8" },
	{ 0x54000043, EMULATED, "b.cc +8" },
	{ 0x54000044, EMULATED, "b.mi +8" },
	{ 0x54000045, EMULATED, "b.pl +8" },
	{ 0x54000046, EMULATED, "b.vs +8" },
	{ 0x54000047, EMULATED, "b.vc +8" },
	{ 0x54000048, EMULATED, "b.hi +8" },
	{ 0x54000049, EMULATED, "b.ls +8" },
	{ 0x5400004a, EMULATED, "b.ge +8" },
	{ 0x5400004b, EMULATED, "b.lt +8" },
	{ 0x5400004c, EMULATED, "b.gt +8" },
	{ 0x5400004d, EMULATED, "b.le +8" },
	{ 0x5400004e, EMULATED, "b.al +8" },
	{ 0x5400004f, EMULATED, "b.nv +8" },
	{ 0xb4000046, EMULATED, "cbz x6, +8" },
	{ 0x34000047, EMULATED, "cbz w7, +8" },
	{ 0xb5ffffe8, EMULATED, "cbnz x8, -4" },
	{ 0x35000049, EMULATED, "cbnz w9, +8" },
	{ 0xb400005f, EMULATED, "cbz xzr, +8" },
	{ 0x3600004a, EMULATED, "tbz w10, #0, +8" },
	{ 0xb6f8004b, EMULATED, "tbz x11, #63, +8" },
	{ 0x3718ffec, EMULATED, "tbnz w12, #3, -4" },
	{ 0xb708004d, EMULATED, "tbnz x13, #33, +8" },
	{ 0x58000040, EMULATED, "ldr x0, +8" },
	{ 0x18ffffe1, EMULATED, "ldr w1, -4" },
	{ 0x98000042, EMULATED, "ldrsw x2, +8" },
	{ 0xd8000040, EMULATED, "prfm pldl1keep, +8" },
	{ 0x1c000043, COPIED, "ldr s3, +8" },
	{ 0x5c000044, COPIED, "ldr d4, +8" },
	{ 0x9c000045, COPIED, "ldr q5, +8" },
	{ 0xd61f01c0, EMULATED, "br x14" },
	{ 0xd63f01e0, EMULATED, "blr x15" },
	{ 0xd63f03c0, EMULATED, "blr x30" },
	{ 0xd65f03c0, EMULATED, "ret" },
	{ 0xa9bf7bfd, COPIED, "stp x29, x30, [sp, #-16]!" },
	{ 0x910003fd, EMULATED, "mov x29, sp" },
	{ 0xd10083ff, EMULATED, "sub sp, sp, #32" },
	{ 0x910043e2, EMULATED, "add x2, sp, #16" },
	{ 0x91401442, EMULATED, "add x2, x2, #5, lsl #12" },
	{ 0xd1025000, EMULATED, "sub x0, x0, #148" },
	{ 0x8b000020, EMULATED, "add x0, x1, x0" },
	{ 0x8b000c20, EMULATED, "add x0, x1, x0, lsl #3" },
	{ 0xcb050083, EMULATED, "sub x3, x4, x5" },
	{ 0xab000020, COPIED, "adds x0, x1, x0" },
	{ 0x0b000020, COPIED, "add w0, w1, w0" },
	{ 0x8b400020, COPIED, "add x0, x1, x0, lsr #0" },
	{ 0xaa1e03e9, COPIED, "mov x9, x30" },
	{ 0xd2800000, EMULATED, "mov x0, #0" },
	{ 0xd2a24681, EMULATED, "mov x1, #0x12340000" },
	{ 0xf2800500, EMULATED, "movk x0, #40" },
	{ 0xf2eacf06, EMULATED, "movk x6, #0x5678, lsl #48" },
	{ 0x92800000, COPIED, "mov x0, #-1" },
	{ 0x52800500, COPIED, "mov w0, #40" },
	{ 0xf9400001, EMULATED, "ldr x1, [x0]" },
	{ 0xf9407c01, EMULATED, "ldr x1, [x0, #248]" },
	{ 0xf94007e5, EMULATED, "ldr x5, [sp, #8]" },
	{ 0xb9400001, COPIED, "ldr w1, [x0]" },
	{ 0xd53bd040, EMULATED, "mrs x0, tpidr_el0" },
	{ 0x4ea01c01, COPIED, "mov v1.16b, v0.16b" },
	{ 0xd503233f, COPIED, "paciasp" },
	{ 0xd65f0bff, COPIED, "retaa" },
	{ 0xd4000001, REFUSED, "svc #0" },
	{ 0xd4200020, REFUSED, "brk #1" },
	{ 0xd73f0841, REFUSED, "blraa x2, x1" },
};

static struct insn decode(const struct form *form, taddr_t address)
{
	struct insn insn;

	ck_assert_msg(!arch_aarch64.insn_decode(address,
						(const uint8_t *)&form->word,
						sizeof(form->word), &insn),
		      "%s", form->text);
	return insn;
}

START_TEST(forms_are_told_apart)
{
	const struct form *form = &forms[_i];
	const struct insn insn = decode(form, CODE);

	ck_assert_uint_eq(insn.length, 4);
	ck_assert_msg(insn.emulable == (form->way == EMULATED), "%s",
		      form->text);
	ck_assert_msg((insn.way == INSN_STEP) == (form->way == REFUSED), "%s",
		      form->text);
}
END_TEST

START_TEST(no_instructions)
{
	const uint32_t udf = 0, unallocated = 0x02000000, nop = 0xd503201f;
	struct insn insn;

	ck_assert_int_eq(aarch64_insn_decode(CODE, (const uint8_t *)&udf, 4,
					     &insn),
			 -EILSEQ);
	ck_assert_int_eq(aarch64_insn_decode(CODE,
					     (const uint8_t *)&unallocated, 4,
					     &insn),
			 -EILSEQ);
	ck_assert_int_eq(aarch64_insn_decode(CODE, (const uint8_t *)&nop, 3,
					     &insn),
			 -EILSEQ);
	ck_assert_int_eq(aarch64_insn_decode(CODE + 2, (const uint8_t *)&nop, 4,
					     &insn),
			 -EILSEQ);
}
END_TEST

/* ---- the processor as the reference ---- */

static size_t own_read(struct memory *memory UNUSED, taddr_t address, void *ret,
		       size_t size)
{
	if (address < AREA || address + size > AREA + AREA_SIZE)
		return 0;
	memcpy(ret, (const void *)address, size);
	return size;
}

static int own_write(struct memory *memory UNUSED, taddr_t address,
		     const void *bytes, size_t size)
{
	memcpy((void *)address, bytes, size);
	return 0;
}

static const struct memory_ops own_ops = { own_read, own_write };
static struct memory own_memory = { &own_ops };

static pid_t child;
static struct regs start;

static uint64_t random64(void)
{
	static uint64_t seed = 88172645463325252ull;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1dull;
}

static void start_child(void)
{
	int status;

	ck_assert_ptr_eq(mmap((void *)AREA, AREA_SIZE,
			      PROT_READ | PROT_WRITE | PROT_EXEC,
			      MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			      -1, 0),
			 (void *)AREA);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(2);
		raise(SIGSTOP);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	if (!WIFSTOPPED(status))
		return; /* qemu-user has no ptrace */
	ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_EXITKILL);
	ck_assert_int_eq(arch_peek_regs(child, &start), 0);
}

static void stop_child(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap((void *)AREA, AREA_SIZE);
}

static int step(struct regs *regs)
{
	int status;

	ck_assert_int_eq(arch_poke_regs(child, regs), 0);
	ck_assert(!ptrace(PTRACE_SINGLESTEP, child, 0, 0));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(arch_peek_regs(child, regs), 0);
	return WSTOPSIG(status);
}

/* Small numbers and zeros are as likely as any; pointers lead into the area. */
static struct regs random_regs(void)
{
	struct regs regs = start;

	for (unsigned i = 0; i < 31; i++) {
		const uint64_t value = random64();

		switch (random64() >> 62) {
		case 0:
			regs.user.regs[i] = 0;
			break;
		case 1:
			regs.user.regs[i] = value >> 33 << 32;
			break;
		default:
			regs.user.regs[i] = value;
		}
	}
	regs.user.regs[0] = ELSEWHERE + 0x100;
	regs.user.regs[14] = ELSEWHERE;
	regs.user.regs[15] = ELSEWHERE + 4;
	regs.user.regs[30] = ELSEWHERE + 8;
	regs.user.sp = STACK;
	regs.user.pc = CODE;
	regs.user.pstate = (start.user.pstate & ~UINT64_C(0xf0000000)) |
			   (random64() & 0xf0000000);
	return regs;
}

static void put_code(taddr_t at, const void *bytes, size_t size)
{
	memcpy((void *)at, bytes, size);
	__builtin___clear_cache((char *)at, (char *)at + size);
}

static void compare(const struct form *form, const struct regs *ours,
		    const struct regs *native)
{
	for (unsigned i = 0; i < 31; i++)
		ck_assert_msg(ours->user.regs[i] == native->user.regs[i],
			      "%s: x%u is %#llx, not %#llx", form->text, i,
			      (unsigned long long)ours->user.regs[i],
			      (unsigned long long)native->user.regs[i]);
	ck_assert_msg(ours->user.pc == native->user.pc,
		      "%s: pc is %#llx, not %#llx", form->text,
		      (unsigned long long)ours->user.pc,
		      (unsigned long long)native->user.pc);
	ck_assert_msg(ours->user.sp == native->user.sp, "%s: sp", form->text);
	ck_assert_msg(!((ours->user.pstate ^ native->user.pstate) & 0xf0000000),
		      "%s: flags", form->text);
}

/* What is behind the instruction may be loaded. */
static void prepare(const struct form *form)
{
	uint32_t words[8];

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = (uint32_t)random64();
	memcpy((void *)(CODE - 4), words, sizeof(words));
	put_code(CODE, &form->word, sizeof(form->word));
}

#define ROUNDS 16

START_TEST(emulated_as_the_processor_does_it)
{
	const struct form *form = &forms[_i];
	const struct insn insn = decode(form, CODE);

	start_child();
	for (int i = 0; i < ROUNDS && start.user.pc && insn.emulable; i++) {
		struct regs native = random_regs(), ours = native;

		prepare(form);
		ck_assert_int_eq(step(&native), SIGTRAP);
		ck_assert_int_eq(aarch64_insn_emulate(&insn, &ours,
						      &own_memory),
				 0);
		compare(form, &ours, &native);
	}
	stop_child();
}
END_TEST

/* Until it has left the copy; each place on the way is known. */
static void run_copy(const struct form *form, const int8_t *resume, int size,
		     struct regs *regs)
{
	unsigned steps = 0;

	regs->user.pc = COPY;
	while (regs->user.pc - COPY < (taddr_t)size) {
		const int8_t at = resume[regs->user.pc - COPY];

		ck_assert_msg(at == 0 || at == 4, "%s: %d", form->text, at);
		ck_assert_msg(steps++ < 4, "%s: hangs", form->text);
		ck_assert_int_eq(step(regs), SIGTRAP);
	}
}

/* Signatures are made for a place of the stack: that is kept, too. */
START_TEST(copies_do_as_the_original)
{
	const struct form *form = &forms[_i];
	const struct insn insn = decode(form, CODE);
	int8_t resume[INSN_COPY_MAX];
	uint8_t bytes[INSN_COPY_MAX];
	int size = aarch64_insn_relocate(&insn, COPY, bytes, resume);
	uint8_t stacks[2][64];

	if (size < 0)
		ck_assert_msg(size == -EINVAL && form->way != COPIED, "%s: %d",
			      form->text, size);
	start_child();
	for (int i = 0; i < ROUNDS && start.user.pc && size > 0; i++) {
		struct regs native = random_regs(), copied = native;

		if (form->word == 0xd65f0bff)
			break; /* only a signed address would do */
		prepare(form);
		put_code(COPY, bytes, (size_t)size);
		memset((void *)(STACK - 64), 0, 64);
		ck_assert_int_eq(step(&native), SIGTRAP);
		memcpy(stacks[0], (void *)(STACK - 64), 64);
		memset((void *)(STACK - 64), 0, 64);
		run_copy(form, resume, size, &copied);
		memcpy(stacks[1], (void *)(STACK - 64), 64);
		compare(form, &copied, &native);
		ck_assert_mem_eq(stacks[0], stacks[1], 64);
	}
	stop_child();
}
END_TEST

START_TEST(copies_too_far_away)
{
	static const char *const reach[] = { "ldr q5, +8", "adr x0, +8", "b +8",
					     "nop" };
	int8_t resume[INSN_COPY_MAX];
	uint8_t bytes[INSN_COPY_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct insn insn = decode(&forms[i], CODE);

		for (size_t j = 0; j < ARRAY_SIZE(reach); j++)
			if (!strcmp(forms[i].text, reach[j]))
				ck_assert_int_eq(aarch64_insn_relocate(
							 &insn,
							 CODE + (1ul << 28),
							 bytes, resume),
						 -ERANGE);
	}
}
END_TEST

/* A landing pad that was emulated isn't where the task stands any more. */
START_TEST(landing_is_forgotten)
{
	const struct form bti = { 0xd503245f, EMULATED, "bti c" };
	const struct insn insn = decode(&bti, CODE);
	struct regs regs = { 0 };

	regs.user.pstate = AARCH64_BTYPE;
	ck_assert_int_eq(aarch64_insn_emulate(&insn, &regs, NULL), 0);
	ck_assert_uint_eq(regs.user.pstate, 0);
	ck_assert_uint_eq(regs.user.pc, CODE + 4);
}
END_TEST

/* ---- PLT stubs: as ld, lld and mold write them ---- */

#define NOP  0xd503201f
#define BTI  0xd503245f
#define PAGE 0xb0000010 /* adrp x16, +0x1000 */
#define LOAD 0xf9400a11 /* ldr x17, [x16, #16] */
#define ADD  0x91004210 /* add x16, x16, #16 */
#define AUTH 0xd503219f
#define BR   0xd61f0220

static const struct stub {
	uint32_t words[7];
	uint8_t at;
	int8_t start; /* -1: there is none */
	uint8_t size;
} stubs[] = {
	{ { PAGE, LOAD, ADD, BR }, 0, 0, 16 },
	{ { BTI, PAGE, LOAD, ADD, BR, NOP }, 0, 0, 20 },
	{ { BTI, PAGE, LOAD, ADD, BR, NOP }, 4, 0, 20 },
	{ { PAGE, LOAD, ADD, AUTH, BR, NOP }, 0, 0, 20 },
	{ { BTI, PAGE, LOAD, ADD, AUTH, BR }, 0, 0, 24 },
	{ { PAGE, LOAD, BR, NOP }, 0, 0, 12 },
	{ { PAGE, LOAD, ADD, BR }, 2, -1, 0 },
	{ { PAGE, LOAD, ADD, NOP }, 0, -1, 0 },
	{ { PAGE, ADD, LOAD, BR }, 0, -1, 0 },
	{ { BTI, NOP }, 0, -1, 0 },
};

START_TEST(stubs_are_known)
{
	const struct stub *stub = &stubs[_i];
	struct plt_stub found = { 0 };
	bool is = arch_aarch64.plt_stub((const uint8_t *)stub->words,
					sizeof(stub->words), stub->at, CODE, 0,
					&found);

	ck_assert_int_eq(is, stub->start >= 0);
	if (!is)
		return;
	ck_assert_uint_eq(found.start, CODE + (unsigned)stub->start);
	ck_assert_uint_eq(found.size, stub->size);
	ck_assert_uint_eq(found.slot, CODE + 0x1000 + 16);
	/* Where the code ends too early, it is none. */
	ck_assert(!arch_aarch64.plt_stub((const uint8_t *)stub->words,
					 stub->size - 1u, stub->at, CODE, 0,
					 &found));
}
END_TEST

START_TEST(jumps_through_slots)
{
	/* adrp x1; ldr x1, [x1, #16]; ldp x29, x30, [sp], #16; br x1 */
	const uint32_t words[] = { 0xb0000001, 0xf9400821, 0xa8c17bfd,
				   0xd61f0020 };
	const uint8_t *code = (const uint8_t *)words;
	taddr_t slot = 0;

	ck_assert(arch_aarch64.slot_jump(code, sizeof(words), 12, CODE, 0,
					 &slot));
	ck_assert_uint_eq(slot, CODE + 0x1000 + 16);
	ck_assert_uint_eq(code[12 + arch_aarch64.slot_jump_byte_at],
			  arch_aarch64.slot_jump_byte);
	ck_assert(!arch_aarch64.slot_jump(code, sizeof(words), 8, CODE, 0,
					  &slot));
	ck_assert(!arch_aarch64.slot_jump(code + 8, 8, 4, CODE, 0, &slot));
}
END_TEST

/* ---- return addresses, traps, frames ---- */

START_TEST(return_addresses_lose_their_signature)
{
	struct regs regs = { 0 };
	taddr_t address;
	uint64_t value = CODE;

	/* pacia1716: signs x17 for x16; a nop where nothing is signed */
	__asm__("mov x17, %0\n\tmov x16, #0\n\thint #8\n\tmov %0, x17"
		: "+r"(value)
		:
		: "x16", "x17");
	regs.user.regs[AARCH64_LINK] = value;
	ck_assert_int_eq(arch_aarch64.return_address(&regs, NULL, &address), 0);
	ck_assert_uint_eq(address, CODE);
	ck_assert_uint_eq(arch_aarch64.dwarf->unsigned_address(value), CODE);
}
END_TEST

START_TEST(traps_of_any_number)
{
	const uint32_t words[] = { 0xd4200000, 0xd43fffe0, 0xd4400000 };

	ck_assert_uint_eq(arch_aarch64.trap, words[0]);
	ck_assert_ptr_eq(mmap((void *)AREA, AREA_SIZE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			      -1, 0),
			 (void *)AREA);
	memcpy((void *)CODE, words, sizeof(words));
	ck_assert(arch_aarch64.is_behind_trap(&own_memory, CODE));
	ck_assert(arch_aarch64.is_behind_trap(&own_memory, CODE + 4));
	ck_assert(!arch_aarch64.is_behind_trap(&own_memory, CODE + 8));
	ck_assert(arch_aarch64.is_behind_trap(&own_memory, 8));
	munmap((void *)AREA, AREA_SIZE);
}
END_TEST

static bool ends_in_call(uint32_t word)
{
	return arch_aarch64.dwarf->ends_in_call((const uint8_t *)&word,
						sizeof(word));
}

START_TEST(calls_are_known)
{
	ck_assert(ends_in_call(0x94000004)); /* bl */
	ck_assert(ends_in_call(0xd63f01e0)); /* blr */
	ck_assert(ends_in_call(0xd73f0841)); /* blraa */
	ck_assert(ends_in_call(0xd63f085f)); /* blraaz x2 */
	ck_assert(!ends_in_call(0x14000004));
	ck_assert(!ends_in_call(0xd61f01c0));
	ck_assert(!ends_in_call(0xd65f03c0));
}
END_TEST

START_TEST(ports)
{
	struct regs regs = { 0 };

	ck_assert_ptr_eq(arch_of_elf(EM_AARCH64, ELFCLASS64), &arch_aarch64);
	ck_assert_ptr_null(arch_of_elf(EM_ARM, ELFCLASS32));
	ck_assert_ptr_eq(arch_of_regs(&regs), &arch_aarch64);
	regs.user.pstate = AARCH64_MODE32;
	ck_assert_ptr_null(arch_of_regs(&regs));
}
END_TEST

START_TEST(system_calls)
{
	ck_assert_str_eq(arch_aarch64.syscall_name(222), "mmap");
	ck_assert_str_eq(arch_aarch64.syscall_name(63), "read");
	ck_assert_ptr_null(arch_aarch64.syscall_name(244));
	ck_assert_ptr_null(arch_aarch64.syscall_name(UINT64_MAX));
	ck_assert_int_eq(arch_aarch64.child_call(220), CHILD_CALL_CLONE);
	ck_assert_int_eq(arch_aarch64.child_call(435), CHILD_CALL_CLONE3);
	ck_assert_int_eq(arch_aarch64.child_call(56), CHILD_CALL_NONE);
}
END_TEST

static size_t any_read(struct memory *memory UNUSED, taddr_t address, void *ret,
		       size_t size)
{
	memcpy(ret, (const void *)address, size);
	return size;
}

static const struct memory_ops any_ops = { any_read, own_write };
static struct memory any_memory = { &any_ops };

/* This C library's own, and where it is to go on: in this very frame. */
START_TEST(jumps_out_of_calls)
{
	taddr_t targets[JUMP_TARGETS_MAX], here;
	struct regs regs = { 0 };
	jmp_buf buffer;

	__asm__ volatile("mov %0, sp" : "=r"(here));
	if (setjmp(buffer))
		return;
	regs.user.regs[0] = (uintptr_t)buffer;
	ck_assert_uint_eq(arch_aarch64.jump_targets(&regs, &any_memory,
						    getauxval(AT_RANDOM),
						    targets),
			  2);
	ck_assert_uint_eq(targets[1], here);
	ck_assert_uint_eq(arch_aarch64.jump_targets(&regs, &any_memory, 0,
						    targets),
			  1);
	regs.user.regs[0] = 8;
	ck_assert_uint_eq(arch_aarch64.jump_targets(&regs, &own_memory, 0,
						    targets),
			  0);
}
END_TEST

static bool goes_on(uint64_t number, uint64_t operation, uint64_t timeout)
{
	struct regs regs = { 0 };

	regs.user.regs[1] = operation;
	regs.user.regs[3] = timeout;
	regs.user.regs[AARCH64_NUMBER] = number;
	return arch_syscall_maker.goes_on(&regs);
}

/* What waits for a length of time would begin that anew. */
START_TEST(calls_that_go_on)
{
	ck_assert(goes_on(SYS_read, 0, 0));
	ck_assert(goes_on(SYS_epoll_pwait, 0, 1));
	ck_assert(!goes_on(SYS_nanosleep, 0, 0));
	ck_assert(!goes_on(SYS_clock_nanosleep, 0, 0));
	ck_assert(!goes_on(SYS_restart_syscall, 0, 0));
	ck_assert(goes_on(SYS_futex, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0));
	ck_assert(!goes_on(SYS_futex, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 8));
	ck_assert(goes_on(SYS_futex, FUTEX_WAIT_BITSET, 8));
}
END_TEST

/* The kernel would make restart_syscall of them, which a filter may forbid. */
START_TEST(waits_made_from_their_start)
{
	enum { PC = 0x1000 };
	struct regs regs = { .user = { .pc = PC } }, before;
	uint64_t columns[DWARF_REGISTERS_MAX] = { 0 };

	regs.user.regs[AARCH64_NUMBER] = SYS_epoll_pwait;
	before = regs;
	ck_assert(!arch_aarch64.wait_from_start(&regs));
	ck_assert_mem_eq(&regs, &before, sizeof(regs));
	regs.user.regs[AARCH64_NUMBER] = SYS_futex;
	for (int stop = 0; stop < 2; stop++) {
		ck_assert(arch_aarch64.wait_from_start(&regs));
		ck_assert_uint_ne(regs.user.pc, PC);
		ck_assert_uint_eq(arch_aarch64.ip(&regs), PC);
		arch_aarch64.dwarf->registers(&regs, columns);
		ck_assert_uint_eq(columns[arch_aarch64.dwarf->ip], PC);
	}
}
END_TEST

/* At the end of a call that is watched. */
START_TEST(waits_made_from_their_end)
{
	struct regs regs = { .user = { .pc = 0x1004 },
			     .interrupted = true,
			     .restart = 1 };

	regs.user.regs[AARCH64_NUMBER] = SYS_clock_nanosleep;
	regs.user.regs[0] = (uint64_t)-EINTR;
	ck_assert(!arch_aarch64.wait_from_start(&regs));
	regs.user.regs[0] = (uint64_t)-516;
	ck_assert(!arch_aarch64.restart_wait(&regs));
	ck_assert(arch_aarch64.wait_from_start(&regs));
	ck_assert_uint_eq(regs.user.pc, 0x1000);
	ck_assert_uint_eq(regs.user.regs[0], 1);
}
END_TEST

START_TEST(calls_made_for_others)
{
	const uint64_t arguments[4] = { 1, 2, 3, 4 };
	struct regs regs = { 0 };

	ck_assert_uint_eq(arch_syscall_maker.size, 4);
	regs.user.pstate = AARCH64_BTYPE;
	regs.user.regs[4] = 5;
	arch_syscall_maker.prepare(&regs, CODE, SYS_clone, arguments);
	ck_assert_uint_eq(regs.user.pc, CODE);
	ck_assert_uint_eq(regs.user.pstate, 0);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_uint_eq(regs.user.regs[i], i + 1);
	ck_assert_uint_eq(arch_aarch64.syscall_number(&regs), SYS_clone);
}
END_TEST

/* ---- arguments: x0 is 100, x1 101 …; v0 is { 200, 200 }, v1 … ---- */

static struct regs entry;
static struct fp_regs vectors;
static struct argument_cursor cursor;

static void begin_call(void)
{
	for (unsigned i = 0; i < 31; i++)
		entry.user.regs[i] = 100 + i;
	for (unsigned i = 0; i < 32; i++)
		vectors.user.vregs[i] = (__uint128_t)(200 + i) << 64 |
					(200 + i);
	entry.user.sp = STACK;
	arch_aarch64.convention->begin(&entry, NULL, &cursor);
}

static struct passed pass(const struct flat_value *value)
{
	struct passed passed = { 0 };

	ck_assert_int_eq(arch_aarch64.convention->argument(&cursor, &entry,
							   &vectors,
							   &own_memory, value,
							   false, &passed),
			 0);
	return passed;
}

static uint64_t word_of(const struct passed *passed, unsigned index)
{
	uint64_t word;

	ck_assert(!passed->in_memory);
	memcpy(&word, passed->bytes + 8 * index, sizeof(word));
	return word;
}

static const struct scalar integers[] = { { 0, 8, SCALAR_INTEGER },
					  { 8, 8, SCALAR_INTEGER },
					  { 16, 8, SCALAR_INTEGER } };
static const struct scalar doubles[] = { { 0, 8, SCALAR_FLOAT },
					 { 8, 8, SCALAR_FLOAT },
					 { 16, 8, SCALAR_FLOAT },
					 { 24, 8, SCALAR_FLOAT } };
static const struct scalar quads[] = { { 0, 10, SCALAR_X87 },
				       { 16, 10, SCALAR_X87 } };
static const struct flat_value
	nothing = { 0, 1, true, false, false, 0, NULL },
	number = { 8, 8, false, false, false, 1, integers },
	wide = { 16, 16, false, false, false, 2, integers },
	pair = { 16, 8, true, false, false, 2, integers },
	large = { 24, 8, true, false, false, 3, integers },
	real = { 8, 8, false, false, false, 1, doubles },
	three = { 24, 8, true, false, false, 3, doubles },
	four = { 32, 8, true, false, false, 4, doubles },
	two_quads = { 32, 16, true, false, false, 2, quads };

START_TEST(arguments_by_register)
{
	struct passed passed;

	begin_call();
	passed = pass(&number);
	ck_assert_uint_eq(word_of(&passed, 0), 100);
	passed = pass(&wide); /* skips x1 */
	ck_assert_uint_eq(word_of(&passed, 0), 102);
	ck_assert_uint_eq(word_of(&passed, 1), 103);
	passed = pass(&pair);
	ck_assert_uint_eq(word_of(&passed, 0), 104);
	passed = pass(&large); /* a pointer to a copy, in x6 */
	ck_assert(passed.in_memory);
	ck_assert_uint_eq(passed.address, 106);
	passed = pass(&pair); /* one register isn't enough, and is lost */
	ck_assert(passed.in_memory);
	ck_assert_uint_eq(passed.address, STACK);
	passed = pass(&number);
	ck_assert_uint_eq(passed.address, STACK + 16);
	passed = pass(&wide);
	ck_assert_uint_eq(passed.address, STACK + 32);
}
END_TEST

/* GNU C's struct without members; C++'s has a size. */
START_TEST(nothing_takes_no_place)
{
	struct passed passed;

	begin_call();
	pass(&nothing);
	passed = pass(&number);
	ck_assert_uint_eq(word_of(&passed, 0), 100);
	for (unsigned i = 1; i < 8; i++)
		pass(&number);
	pass(&nothing);
	passed = pass(&number);
	ck_assert(passed.in_memory);
	ck_assert_uint_eq(passed.address, STACK);
}
END_TEST

START_TEST(homogeneous_aggregates)
{
	struct passed passed;

	begin_call();
	passed = pass(&three);
	ck_assert_uint_eq(word_of(&passed, 2), 202);
	passed = pass(&two_quads);
	ck_assert_uint_eq(word_of(&passed, 0), 203);
	ck_assert_uint_eq(word_of(&passed, 3), 204);
	passed = pass(&four); /* three are left, and are lost */
	ck_assert(passed.in_memory);
	ck_assert_uint_eq(passed.address, STACK);
	passed = pass(&real);
	ck_assert_uint_eq(passed.address, STACK + 32);
	passed = pass(&number);
	ck_assert_uint_eq(word_of(&passed, 0), 100);
	ck_assert(arch_aarch64.convention->needs_fp(&four, true));
	ck_assert(!arch_aarch64.convention->needs_fp(&pair, true));
}
END_TEST

static struct passed result_of(const struct flat_value *value)
{
	struct passed passed = { 0 };
	struct regs regs = { 0 };

	regs.user.regs[0] = 1;
	regs.user.regs[1] = 2;
	begin_call();
	ck_assert_int_eq(arch_aarch64.convention->result(&entry, &regs,
							 &vectors, &own_memory,
							 value, &passed),
			 0);
	return passed;
}

START_TEST(results)
{
	struct passed passed = result_of(&pair);

	ck_assert_uint_eq(word_of(&passed, 0), 1);
	ck_assert_uint_eq(word_of(&passed, 1), 2);
	passed = result_of(&four);
	ck_assert_uint_eq(word_of(&passed, 3), 203);
	/* Where x8 was at the entry. */
	passed = result_of(&large);
	ck_assert(passed.in_memory);
	ck_assert_uint_eq(passed.address, 108);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aarch64");
	TCase *tests = tcase_create("aarch64");

	tcase_add_loop_test(tests, forms_are_told_apart, 0, ARRAY_SIZE(forms));
	tcase_add_test(tests, no_instructions);
	tcase_add_loop_test(tests, emulated_as_the_processor_does_it, 0,
			    ARRAY_SIZE(forms));
	tcase_add_loop_test(tests, copies_do_as_the_original, 0,
			    ARRAY_SIZE(forms));
	tcase_add_test(tests, copies_too_far_away);
	tcase_add_test(tests, landing_is_forgotten);
	tcase_add_loop_test(tests, stubs_are_known, 0, ARRAY_SIZE(stubs));
	tcase_add_test(tests, jumps_through_slots);
	tcase_add_test(tests, return_addresses_lose_their_signature);
	tcase_add_test(tests, traps_of_any_number);
	tcase_add_test(tests, calls_are_known);
	tcase_add_test(tests, ports);
	tcase_add_test(tests, system_calls);
	tcase_add_test(tests, jumps_out_of_calls);
	tcase_add_test(tests, calls_that_go_on);
	tcase_add_test(tests, waits_made_from_their_start);
	tcase_add_test(tests, waits_made_from_their_end);
	tcase_add_test(tests, calls_made_for_others);
	tcase_add_test(tests, arguments_by_register);
	tcase_add_test(tests, nothing_takes_no_place);
	tcase_add_test(tests, homogeneous_aggregates);
	tcase_add_test(tests, results);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
