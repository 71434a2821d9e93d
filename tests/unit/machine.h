/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TEST_MACHINE_H
#define CALLTRAP_TEST_MACHINE_H

/*
 * The processor as the reference: a stopped child executes instructions in
 * single step, from registers and memory that the test chooses. For x86_64
 * and i386 alike: by the kernel's rules the child may be sent into either.
 */
#include <asm/ldt.h>
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "sysdeps/arch.h"

/* Low, so that both modes reach it; the same in parent and child. */
#define AREA       0x20000000ul
#define CODE       AREA
#define COPY       (AREA + 0x1000)
#define FIRST_DATA (AREA + 0x2000)
#define DATA_SIZE  0x8000ul
#define DATA       (FIRST_DATA + DATA_SIZE / 2)
#define AREA_SIZE  (0x2000 + DATA_SIZE)

/*
 * Where a near jump back doesn't reach, and where it must wrap around (unless
 * the address sanitizer lives there).
 */
#define FAR_COPY 0x300000000000ul
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define HIGH_COPY 0x70000000ul
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HIGH_COPY 0x70000000ul
#endif
#ifndef HIGH_COPY
#define HIGH_COPY 0xe0000000ul
#endif

#define ARITHMETIC 0x8d5ul
#define ADJUST     0x10ul
#define DIRECTION  0x400ul

/* A child that only ever does what it is made to. */
struct machine {
	struct memory memory;
	pid_t pid;
	struct regs start; /* sane segments */
	uint64_t seed;
	uint8_t before[DATA_SIZE];
	uint8_t after[DATA_SIZE];
};

static inline uint64_t random64(struct machine *m)
{
	m->seed ^= m->seed << 13;
	m->seed ^= m->seed >> 7;
	m->seed ^= m->seed << 17;
	return m->seed * 0x2545f4914f6cdd1dull;
}

static inline unsigned random_below(struct machine *m, unsigned n)
{
	return (unsigned)(random64(m) >> 33) % n;
}

static inline size_t child_read(struct memory *memory, taddr_t address,
				void *ret, size_t size)
{
	struct machine *m = (struct machine *)memory;
	struct iovec here = { ret, size };
	struct iovec there = { (void *)address, size };
	ssize_t n = process_vm_readv(m->pid, &here, 1, &there, 1, 0);

	return n < 0 ? 0 : (size_t)n;
}

static inline int child_write(struct memory *memory, taddr_t address,
			      const void *bytes, size_t size)
{
	struct machine *m = (struct machine *)memory;
	struct iovec here = { (void *)bytes, size };
	struct iovec there = { (void *)address, size };
	ssize_t n = process_vm_writev(m->pid, &here, 1, &there, 1, 0);

	return n == (ssize_t)size ? 0 : -EFAULT;
}

static const struct memory_ops child_memory = { child_read, child_write };

static inline void map_area(unsigned long address, size_t size)
{
	void *p = mmap((void *)address, size,
		       PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	ck_assert_ptr_eq(p, (void *)address);
}

/* What is aimed at through gs isn't where it is without. */
#define GS_BASE         0x48
#define TLS_ENTRY       12 /* GDT_ENTRY_TLS_MIN, arch/x86/include/asm/segment.h */
#define SET_THREAD_AREA 26 /* asm/ptrace-abi.h, which sys/ptrace.h excludes */

static inline void give_segment(struct machine *m)
{
	struct user_desc segment = {
		.entry_number = TLS_ENTRY,
		.base_addr = GS_BASE,
		.limit = 0xfffff,
		.seg_32bit = 1,
		.limit_in_pages = 1,
		.useable = 1,
	};

	ck_assert(!ptrace(SET_THREAD_AREA, m->pid, TLS_ENTRY, &segment));
	m->start.user.gs = TLS_ENTRY * 8 + 3;
	m->start.user.gs_base = GS_BASE;
}

static inline void machine_start(struct machine *m)
{
	int status;

	memset(m, 0, sizeof(*m));
	m->memory.ops = &child_memory;
	m->seed = 88172645463325252ull;
	map_area(AREA, AREA_SIZE);
	map_area(FAR_COPY, 0x1000);
	map_area(HIGH_COPY, 0x1000);
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
	give_segment(m);
}

static inline void machine_stop(struct machine *m)
{
	kill(m->pid, SIGKILL);
	waitpid(m->pid, NULL, 0);
	munmap((void *)AREA, AREA_SIZE);
	munmap((void *)FAR_COPY, 0x1000);
	munmap((void *)HIGH_COPY, 0x1000);
}

/* Returns the signal that ended the step. */
static inline int machine_step(struct machine *m, struct regs *regs)
{
	int status;

	ck_assert(!ptrace(PTRACE_SETREGS, m->pid, 0, &regs->user));
	ck_assert(!ptrace(PTRACE_SINGLESTEP, m->pid, 0, 0));
	ck_assert_int_eq(waitpid(m->pid, &status, 0), m->pid);
	ck_assert(WIFSTOPPED(status));
	ck_assert(!ptrace(PTRACE_GETREGS, m->pid, 0, &regs->user));
	return WSTOPSIG(status);
}

static inline unsigned long long *general(struct regs *regs, int number)
{
	struct user_regs_struct *u = &regs->user;
	unsigned long long *const all[16] = {
		&u->rax, &u->rcx, &u->rdx, &u->rbx, &u->rsp, &u->rbp,
		&u->rsi, &u->rdi, &u->r8,  &u->r9,  &u->r10, &u->r11,
		&u->r12, &u->r13, &u->r14, &u->r15,
	};

	return all[number];
}

static inline uint64_t random_value(struct machine *m)
{
	static const uint64_t edges[] = {
		0,      0x7f,      0x80,       0xff,       0x7fff,
		0x8000, 0xffff,    0x7fffffff, 0x80000000, 0xffffffff,
		1,      INT64_MAX, 1ull << 63, ~0ull,      0x10,
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

static inline void random_registers(struct machine *m,
				    const struct arch_ops *arch,
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
	ret->user.cs = 0x23;
	ret->user.ds = ret->user.es = ret->user.ss = 0x2b;
	if (!random_below(m, 4))
		ret->user.gs = 0;
	for (int i = 0; i < 16; i++)
		*general(ret, i) = (uint32_t)*general(ret, i);
}

/* Pointers in every place that is aligned, and otherwise noise. */
static inline void random_memory(struct machine *m, const struct arch_ops *arch)
{
	for (size_t i = 0; i < DATA_SIZE; i += arch->word_size) {
		uint64_t value = random_value(m);

		memcpy(m->before + i, &value, arch->word_size);
	}
	memcpy((void *)FIRST_DATA, m->before, DATA_SIZE);
}

/* Makes base + index * scale + displacement equal to address, about. */
static inline void aim(struct regs *regs, int base, int index, unsigned scale,
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

static inline uint64_t random_place(struct machine *m)
{
	uint64_t place = DATA + random_below(m, 4096);

	return random_below(m, 2) ? place & ~7ull : place;
}

static inline void truncate_registers(const struct arch_ops *arch,
				      struct regs *regs)
{
	for (int i = 0; arch->word_size == 4 && i < 16; i++)
		*general(regs, i) = (uint32_t)*general(regs, i);
}

static inline const char *hex(const struct insn *insn)
{
	static char text[64];

	for (unsigned i = 0; i < insn->length; i++)
		sprintf(text + 3 * i, "%02x ", insn->bytes[i]);
	return text;
}

static inline void compare_registers(const struct insn *insn,
				     const struct arch_ops *arch,
				     uint64_t flags, struct regs *ours,
				     struct regs *native)
{
	ck_assert_msg(ours->user.rip == native->user.rip,
		      "%s %s: ip %#llx, not %#llx", arch->name, hex(insn),
		      ours->user.rip, native->user.rip);
	for (int i = 0; i < 2 * arch->word_size; i++)
		ck_assert_msg(*general(ours, i) == *general(native, i),
			      "%s %s: register %d %#llx, not %#llx", arch->name,
			      hex(insn), i, *general(ours, i),
			      *general(native, i));
	ck_assert_msg(!((ours->user.eflags ^ native->user.eflags) & flags),
		      "%s %s: flags %#llx, not %#llx", arch->name, hex(insn),
		      ours->user.eflags & flags, native->user.eflags & flags);
}

static inline bool runs_32_bits(struct machine *m)
{
	struct regs regs;

	random_registers(m, &arch_i386, &regs);
	memset((void *)CODE, 0x90, 16);
	return machine_step(m, &regs) == SIGTRAP && regs.user.cs == 0x23;
}

#endif
