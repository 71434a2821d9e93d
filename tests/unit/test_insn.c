/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processor is the reference: a stopped child executes each instruction
 * in single step, from the same registers and memory.
 */
#include <Zydis/Zydis.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "sysdeps/arch.h"
#include "sysdeps/x86/insn.h"
#include "unit.h"

/* Low, so that both modes reach it; the same in parent and child. */
#define AREA 0x20000000ul
#define CODE AREA
#define COPY (AREA + 0x1000)
#define FIRST_DATA (AREA + 0x2000)
#define DATA_SIZE 0x8000ul
#define DATA (FIRST_DATA + DATA_SIZE / 2)
#define AREA_SIZE (0x2000 + DATA_SIZE)

/* Where a near jump back doesn't reach. */
#define FAR_COPY 0x300000000000ul

#define ARITHMETIC 0x8d5ul
#define ADJUST 0x10ul
#define DIRECTION 0x400ul

/* A child that only ever does what it is made to. */
struct machine {
	struct memory memory;
	pid_t pid;
	struct regs start; /* sane segments */
	uint64_t seed;
	uint8_t before[DATA_SIZE];
	uint8_t after[DATA_SIZE];
};

static uint64_t random64(struct machine *m)
{
	m->seed ^= m->seed << 13;
	m->seed ^= m->seed >> 7;
	m->seed ^= m->seed << 17;
	return m->seed * 0x2545f4914f6cdd1dull;
}

static unsigned random_below(struct machine *m, unsigned n)
{
	return (unsigned)(random64(m) >> 33) % n;
}

static size_t child_read(struct memory *memory, taddr_t address, void *ret,
			 size_t size)
{
	struct machine *m = (struct machine *)memory;
	struct iovec here = { ret, size };
	struct iovec there = { (void *)address, size };
	ssize_t n = process_vm_readv(m->pid, &here, 1, &there, 1, 0);

	return n < 0 ? 0 : (size_t)n;
}

static int child_write(struct memory *memory, taddr_t address,
		       const void *bytes, size_t size)
{
	struct machine *m = (struct machine *)memory;
	struct iovec here = { (void *)bytes, size };
	struct iovec there = { (void *)address, size };
	ssize_t n = process_vm_writev(m->pid, &here, 1, &there, 1, 0);

	return n == (ssize_t)size ? 0 : -EFAULT;
}

static const struct memory_ops child_memory = { child_read, child_write };

static void map_area(unsigned long address, size_t size)
{
	void *p = mmap((void *)address, size,
		       PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		       0);

	ck_assert_ptr_eq(p, (void *)address);
}

static void machine_start(struct machine *m)
{
	int status;

	memset(m, 0, sizeof(*m));
	m->memory.ops = &child_memory;
	m->seed = 88172645463325252ull;
	map_area(AREA, AREA_SIZE);
	map_area(FAR_COPY, 0x1000);
	m->pid = fork();
	ck_assert_int_ge(m->pid, 0);
	if (!m->pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(m->pid, &status, 0), m->pid);
	ck_assert(WIFSTOPPED(status));
	ck_assert(!ptrace(PTRACE_SETOPTIONS, m->pid, 0, PTRACE_O_EXITKILL));
	ck_assert(!ptrace(PTRACE_GETREGS, m->pid, 0, &m->start.user));
	m->start.user.orig_rax = ~0ull;
}

static void machine_stop(struct machine *m)
{
	kill(m->pid, SIGKILL);
	waitpid(m->pid, NULL, 0);
	munmap((void *)AREA, AREA_SIZE);
	munmap((void *)FAR_COPY, 0x1000);
}

/* Returns the signal that ended the step. */
static int machine_step(struct machine *m, struct regs *regs)
{
	int status;

	ck_assert(!ptrace(PTRACE_SETREGS, m->pid, 0, &regs->user));
	ck_assert(!ptrace(PTRACE_SINGLESTEP, m->pid, 0, 0));
	ck_assert_int_eq(waitpid(m->pid, &status, 0), m->pid);
	ck_assert(WIFSTOPPED(status));
	ck_assert(!ptrace(PTRACE_GETREGS, m->pid, 0, &regs->user));
	return WSTOPSIG(status);
}

static unsigned long long *general(struct regs *regs, int number)
{
	struct user_regs_struct *u = &regs->user;
	unsigned long long *const all[16] = {
		&u->rax, &u->rcx, &u->rdx, &u->rbx, &u->rsp, &u->rbp,
		&u->rsi, &u->rdi, &u->r8,  &u->r9,  &u->r10, &u->r11,
		&u->r12, &u->r13, &u->r14, &u->r15,
	};

	return all[number];
}

static uint64_t random_value(struct machine *m)
{
	static const uint64_t edges[] = {
		0,	0x7f,	    0x80,	0xff,	    0x7fff,
		0x8000, 0xffff,	    0x7fffffff, 0x80000000, 0xffffffff,
		1,	INT64_MAX,  1ull << 63, ~0ull,	    0x10,
	};

	switch (random_below(m, 4)) {
	case 0:
		return edges[random_below(m, ARRAY_SIZE(edges))];
	case 1:
		return COPY + random_below(m, 64);
	default:
		return random64(m);
	}
}

static void random_registers(struct machine *m, const struct arch_ops *arch,
			     struct regs *ret)
{
	*ret = m->start;
	for (int i = 0; i < 16; i++)
		*general(ret, i) = random_value(m);
	ret->user.rsp = DATA + 8 * random_below(m, 1024);
	ret->user.rbp = DATA + random_below(m, 8192);
	ret->user.eflags = 0x202 | (random64(m) & (ARITHMETIC | DIRECTION));
	ret->user.rip = CODE;
	if (arch->word_size == 8)
		return;
	/* By the kernel's rules a task may be sent into the other mode. */
	ret->user.cs = 0x23;
	ret->user.ds = ret->user.es = ret->user.ss = 0x2b;
	for (int i = 0; i < 16; i++)
		*general(ret, i) = (uint32_t)*general(ret, i);
}

/* Pointers in every place that is aligned, and otherwise noise. */
static void random_memory(struct machine *m, const struct arch_ops *arch)
{
	for (size_t i = 0; i < DATA_SIZE; i += arch->word_size) {
		uint64_t value = random_value(m);

		memcpy(m->before + i, &value, arch->word_size);
	}
	memcpy((void *)FIRST_DATA, m->before, DATA_SIZE);
}

/* Makes base + index * scale + displacement equal to address, about. */
static void aim(struct regs *regs, int base, int index, unsigned scale,
		int64_t displacement, uint64_t address)
{
	address -= (uint64_t)displacement;
	if (index >= 0 && index == base) {
		*general(regs, base) = address / (scale + 1);
	} else if (base >= 0) {
		if (index >= 0)
			address -= *general(regs, index) * scale;
		*general(regs, base) = address;
	} else if (index >= 0) {
		*general(regs, index) = address / scale;
	}
}

static uint64_t random_place(struct machine *m)
{
	uint64_t place = DATA + random_below(m, 4096);

	return random_below(m, 2) ? place & ~7ull : place;
}

static void truncate_registers(const struct arch_ops *arch, struct regs *regs)
{
	for (int i = 0; arch->word_size == 4 && i < 16; i++)
		*general(regs, i) = (uint32_t)*general(regs, i);
}

/* What the manual leaves open, or what only the step itself sets. */
static uint64_t defined_flags(const struct insn *insn)
{
	uint64_t flags = ARITHMETIC | DIRECTION;

	switch (insn->op.kind) {
	case X86_AND:
	case X86_OR:
	case X86_XOR:
	case X86_TEST:
		flags &= ~ADJUST;
	}
	return flags;
}

static const char *hex(const struct insn *insn)
{
	static char text[64];

	for (unsigned i = 0; i < insn->length; i++)
		sprintf(text + 3 * i, "%02x ", insn->bytes[i]);
	return text;
}

static void compare_registers(const struct insn *insn,
			      const struct arch_ops *arch, uint64_t flags,
			      struct regs *ours, struct regs *native)
{
	ck_assert_msg(ours->user.rip == native->user.rip,
		      "%s %s: ip %#llx, not %#llx", arch->name, hex(insn),
		      ours->user.rip, native->user.rip);
	for (int i = 0; i < 2 * arch->word_size; i++)
		ck_assert_msg(*general(ours, i) == *general(native, i),
			      "%s %s: register %d %#llx, not %#llx",
			      arch->name, hex(insn), i, *general(ours, i),
			      *general(native, i));
	ck_assert_msg(!((ours->user.eflags ^ native->user.eflags) & flags),
		      "%s %s: flags %#llx, not %#llx", arch->name, hex(insn),
		      ours->user.eflags & flags, native->user.eflags & flags);
}

static void compare_memory(struct machine *m, const struct arch_ops *arch,
			   const struct insn *insn)
{
	ck_assert_msg(!memcmp(m->after, (void *)FIRST_DATA, DATA_SIZE),
		      "%s %s: memory differs", arch->name, hex(insn));
}

/* Whether it was carried out (else both faulted alike). */
static bool check_emulation(struct machine *m, const struct arch_ops *arch,
			    const struct insn *insn, const struct regs *start)
{
	struct regs ours = *start, native = *start;
	int err, signal;

	memcpy((void *)CODE, insn->bytes, sizeof(insn->bytes));
	err = arch->insn_emulate(insn, &ours, &m->memory);
	memcpy(m->after, (void *)FIRST_DATA, DATA_SIZE);
	memcpy((void *)FIRST_DATA, m->before, DATA_SIZE);
	signal = machine_step(m, &native);
	if (!err) {
		ck_assert_msg(signal == SIGTRAP, "%s %s: signal %d",
			      arch->name, hex(insn), signal);
		compare_registers(insn, arch, defined_flags(insn), &ours,
				  &native);
		compare_memory(m, arch, insn);
		memcpy((void *)FIRST_DATA, m->before, DATA_SIZE);
		return true;
	}
	ck_assert_int_eq(err, -EFAULT);
	ck_assert_msg(!memcmp(&ours, start, sizeof(ours)),
		      "%s %s: registers changed", arch->name, hex(insn));
	ck_assert_msg(!memcmp(m->after, m->before, DATA_SIZE),
		      "%s %s: memory changed", arch->name, hex(insn));
	ck_assert_msg(signal != SIGTRAP || native.user.rip >> 47,
		      "%s %s: nothing wrong with it", arch->name, hex(insn));
	memcpy((void *)FIRST_DATA, m->before, DATA_SIZE);
	return false;
}

/* Opcodes of what can be emulated, and neighbours that can't. */
static const uint16_t opcodes[] = {
	0x00,  0x01,  0x02,  0x03,  0x04,  0x05,  0x08,	 0x09,	0x0a,  0x0b,
	0x0c,  0x0d,  0x20,  0x21,  0x22,  0x23,  0x24,	 0x25,	0x28,  0x29,
	0x2a,  0x2b,  0x2c,  0x2d,  0x30,  0x31,  0x32,	 0x33,	0x34,  0x35,
	0x38,  0x39,  0x3a,  0x3b,  0x3c,  0x3d,  0x50,	 0x53,	0x54,  0x55,
	0x58,  0x5b,  0x5c,  0x5d,  0x63,  0x68,  0x6a,	 0x80,	0x81,  0x83,
	0x84,  0x85,  0x88,  0x89,  0x8a,  0x8b,  0x8d,	 0x8f,	0x90,  0x98,
	0xa0,  0xa1,  0xa8,  0xa9,  0xb0,  0xb4,  0xb8,	 0xbc,	0xc2,  0xc3,
	0xc6,  0xc7,  0xc9,  0xe0,  0xe1,  0xe2,  0xe3,	 0xe8,	0xe9,  0xeb,
	0xf6,  0xf7,  0xff,  0xff,  0xff,  0x0f1f, 0x0f1e, 0x0fb6, 0x0fb7,
	0x0fbe, 0x0fbf, 0x70, 0x71, 0x72,  0x73,  0x74,	 0x75,	0x76,  0x77,
	0x78,  0x79,  0x7a,  0x7b,  0x7c,  0x7d,  0x7e,	 0x7f,	0x0f80, 0x0f81,
	0x0f82, 0x0f83, 0x0f84, 0x0f85, 0x0f86, 0x0f87, 0x0f88, 0x0f89, 0x0f8a,
	0x0f8b, 0x0f8c, 0x0f8d, 0x0f8e, 0x0f8f,
};

static size_t random_prefixes(struct machine *m, const struct arch_ops *arch,
			      uint8_t *code)
{
	static const uint8_t prefixes[] = { 0x66, 0x66, 0x67, 0x2e, 0x3e,
					    0xf2, 0xf3, 0xf0, 0x65, 0x66 };
	size_t n = 0;

	while (n < 3 && !random_below(m, 5))
		code[n++] = prefixes[random_below(m, ARRAY_SIZE(prefixes))];
	if (arch->word_size == 8 && random_below(m, 2))
		code[n++] = (uint8_t)(0x40 | random_below(m, 16));
	return n;
}

static void random_code(struct machine *m, const struct arch_ops *arch,
			uint8_t code[16])
{
	uint16_t opcode = opcodes[random_below(m, ARRAY_SIZE(opcodes))];
	size_t n = random_prefixes(m, arch, code);

	if (opcode >> 8)
		code[n++] = (uint8_t)(opcode >> 8);
	code[n++] = (uint8_t)opcode;
	for (; n < 16; n++)
		code[n] = (uint8_t)random64(m);
}

/* A displacement to what is there, in place of the random one. */
static void aim_relative(struct machine *m, const struct arch_ops *arch,
			 struct insn *insn)
{
	uint8_t code[15];
	int32_t displacement = (int32_t)(random_place(m) - insn->address -
					 insn->length);

	memcpy(code, insn->bytes, sizeof(code));
	memcpy(code + insn->op.relative, &displacement, sizeof(displacement));
	ck_assert(!arch->insn_decode(insn->address, code, insn->length,
				     insn));
}

enum { KINDS = X86_LOOP + 1 };

static void check_random_emulation(struct machine *m,
				   const struct arch_ops *arch,
				   unsigned done[KINDS])
{
	struct regs regs;
	struct insn insn;
	uint8_t code[16];

	random_code(m, arch, code);
	if (arch->insn_decode(CODE, code, sizeof(code), &insn) ||
	    !insn.emulable)
		return;
	if (insn.near)
		aim_relative(m, arch, &insn);
	for (int i = 0; i < 3; i++) {
		random_registers(m, arch, &regs);
		/* One in sixteen points anywhere. */
		if (random_below(m, 16))
			aim(&regs, insn.op.base, insn.op.index, insn.op.scale,
			    insn.op.displacement, random_place(m));
		truncate_registers(arch, &regs);
		done[insn.op.kind] += check_emulation(m, arch, &insn, &regs);
	}
}

static bool runs_32_bits(struct machine *m)
{
	struct regs regs;

	random_registers(m, &arch_i386, &regs);
	memset((void *)CODE, 0x90, 16);
	return machine_step(m, &regs) == SIGTRAP && regs.user.cs == 0x23;
}

static void emulate_at_random(const struct arch_ops *arch)
{
	static struct machine m;
	unsigned done[KINDS] = { 0 };

	machine_start(&m);
	if (arch->word_size == 8 || runs_32_bits(&m)) {
		random_memory(&m, arch);
		for (int i = 0; i < 40000; i++)
			check_random_emulation(&m, arch, done);
		for (int kind = X86_NOP; kind < KINDS; kind++)
			ck_assert_msg(done[kind] > 20, "%s: kind %d: %u",
				      arch->name, kind, done[kind]);
	} else {
		fprintf(stderr, "# no 32-bit code here: skipped\n");
	}
	machine_stop(&m);
}

START_TEST(emulation_is_what_the_processor_does_x86_64)
{
	emulate_at_random(&arch_x86_64);
}
END_TEST

START_TEST(emulation_is_what_the_processor_does_i386)
{
	emulate_at_random(&arch_i386);
}
END_TEST

static Suite *insn_suite(void)
{
	Suite *suite = suite_create("insn");
	TCase *emulation = tcase_create("emulation");

	tcase_set_timeout(emulation, 120);
	tcase_add_test(emulation,
		       emulation_is_what_the_processor_does_x86_64);
	tcase_add_test(emulation, emulation_is_what_the_processor_does_i386);
	suite_add_tcase(suite, emulation);
	return suite;
}

int main(void)
{
	return unit_run(insn_suite());
}
