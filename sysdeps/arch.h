/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ARCH_H
#define CALLTRAP_ARCH_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/memory.h"
#include "base/types.h"
#include "sysdeps/convention.h"

/*
 * The general registers of a stopped task. A 64-bit tracer on x86 is given the
 * same layout for 32-bit tasks too (PTRACE_GETREGS; arch/x86/kernel/ptrace.c),
 * so one type serves both.
 */
struct regs {
	struct user_regs_struct user;
#ifdef __aarch64__
	uint64_t thread;  /* tpidr_el0 */
	bool interrupted; /* a system call has just ended with EINTR … */
	uint64_t restart; /* … and what x0 was before it */
#endif
};

/*
 * Where sys/user.h doesn't say: of kernels with larger pages, what is counted
 * in pages comes out too small, and nothing else depends on it.
 */
#ifndef PAGE_SIZE
#define PAGE_SIZE 4096
#endif

/* System calls that make children. */
enum child_call {
	CHILD_CALL_NONE,
	CHILD_CALL_FORK,
	CHILD_CALL_VFORK,
	CHILD_CALL_CLONE,
	CHILD_CALL_CLONE3,
};

/* How a task is brought past an instruction that a trap stands on. */
enum insn_way {
	INSN_EMULATE,  /* insn_emulate() can do it on the registers */
	INSN_RELOCATE, /* a copy elsewhere does the same: insn_relocate() */
	INSN_STEP,     /* only in its own place */
};

/*
 * One instruction, decoded when a trap is planted on it. Everything but the
 * first three members belongs to the architecture.
 */
struct insn {
	taddr_t address;
	uint8_t length;    /* in bytes, 1 to 15 */
	enum insn_way way; /* the cheapest that is right for it */
	uint8_t bytes[15];
	/*
	 * A copy must lie within 2 GiB of the original (a displacement
	 * relative to the instruction pointer is adjusted in it).
	 */
	bool near;
	bool emulable; /* insn_emulate() can do it, whatever way says */
	bool pushes_or_pops_return; /* a call or a return; see insn_emulate */
	struct {
		uint8_t kind;
		uint8_t condition;
		int8_t reg;
		int8_t base;
		int8_t index;
		uint8_t scale;
		uint8_t size;
		int8_t source;
		uint8_t source_size;
		uint8_t segment;
		uint8_t relative; /* where in bytes[] what near speaks of is */
		int64_t displacement;
		int64_t immediate;
	} op;
};

/* The longest that insn_relocate() writes: the copy and the way back. */
#define INSN_COPY_MAX 32

/* What a PLT stub turned out to be. */
struct plt_stub {
	taddr_t start; /* where callers enter it: an endbr64 included */
	taddr_t slot;  /* address of the GOT entry it jumps through */
	uint8_t size;  /* bytes to the end of the jump */
};

/* More than any architecture has in its unwind tables. */
#define DWARF_REGISTERS_MAX 36

/*
 * Registers as the unwind tables number them (the ABI's DWARF mapping), and as
 * libunwind does, which adds the ip where the tables have none.
 */
struct dwarf_arch {
	uint8_t count; /* of registers that matter */
	uint8_t sp;
	uint8_t fp; /* the frame pointer */
	uint8_t ip;
	/*
	 * The column of the return address: ip; or the register that a call
	 * leaves it in, where functions put it into a record of two words that
	 * fp points at, anywhere in their frames.
	 */
	uint8_t return_address;

	/* What a return address is that may be signed. NULL: as it is. */
	uint64_t (*unsigned_address)(uint64_t value);

	/*
	 * DW_CFA_AARCH64_negate_ra_state means something: it is a no-op to who
	 * does the above, and to libunwind 1.6 an error.
	 */
	bool signs_addresses;

	void (*registers)(const struct regs *regs,
			  uint64_t ret[DWARF_REGISTERS_MAX]);

	/*
	 * Whether a call instruction ends at the end of code, which holds the
	 * bytes before a return address: best CALL_MAX of them.
	 */
	bool (*ends_in_call)(const uint8_t *code, size_t size);

	/*
	 * Whether code is what signal handlers return to; size is at least
	 * TRAMPOLINE_MAX. If so, a task that stands at its beginning gets back
	 * the registers saved at offsets_ret from the stack pointer. (Most of
	 * such code has an entry in the unwind tables; musl's hasn't.)
	 */
	bool (*is_signal_return)(const uint8_t *code,
				 int32_t offsets_ret[DWARF_REGISTERS_MAX]);
};

#define CALL_MAX         8
#define JUMP_TARGETS_MAX 2
#define TRAMPOLINE_MAX   16

/* Addresses of GOT entries, high excluded; how many instructions may still be
   followed from what loads them: beyond that, nobody knows what it does; and where a
   call goes on that an exception leaves, by any address within it (0: nowhere; NULL:
   none does). */
#define LANDING_UNKNOWN UINT64_MAX

struct slot_range {
	taddr_t low, high;
	uint32_t *left;
	taddr_t (*landing)(const void *context, taddr_t call);
	const void *context;
};

/* What code does with what a GOT entry holds. */
struct slot_use {
	taddr_t slot;
	bool calls; /* … or jumps there; and nothing else, but ask whether it's 0 */
	bool asks; /* … whether it's 0 */
};

/*
 * One architecture. A port is a folder in sysdeps with this table, and its
 * arch_ports, arch_native, arch_of_regs() and arch_sample_registers (see
 * sysdeps/x86/ports.c and sample.c); configure.ac chooses the folders. Fill it
 * in this order: the registers (nothing works without), insn_* (traps),
 * plt_stub and slot_* (calls through the PLT), argument, result and the
 * conventions (printing), dwarf (stacks), syscall_* (-S), jump_targets and
 * goroutine (calls that are left or moved). The unit tests test_registers,
 * test_insn, test_relocate, test_plt and test_convention go through a table as
 * a whole; begin with theirs.
 *
 * A machine that calltrap itself runs on has, besides: the members of struct
 * regs and fp_regs, ARCH_SAMPLE_REGISTERS, arch_peek_regs() and its kin (see
 * sysdeps/x86/ptrace.c, sysdeps/aarch64/ptrace.c), arch_syscall_maker (of size
 * 0 to begin with: --freeze clone makes no copies then), and its libunwind
 * (stack/libunwind.h). Where no agent is written for it (HAVE_AGENT), there is
 * none. Prototype files are x86's but for those in etc/NAME, which go before
 * them: structs and flags as the kernel has them there, and whatever has the
 * machine in its name: glibc's dynamic linker, musl.
 * sysdeps/aarch64/ is one that is unlike x86 in nearly all of this; its test is
 * test_aarch64.
 *
 * What the rest of the source takes for granted:
 *
 * - Numbers are little-endian, and no page is smaller than 4096 bytes.
 * - A trap is at most as large as the smallest instruction that it is put on,
 *   has at most four bytes, and can be written at once while others run there.
 *   It covers a word, trap->original.
 * - A hit that leaves the ip on the trap is known by its SIGTRAP's code alone
 *   (trap_code), so that costs a system call more.
 * - Calls are paired by return_slot(), the word below what the stack pointer
 *   will be after the return. Where the return address isn't there, no two
 *   activations may have the same one but tail calls; and frames that were left
 *   by a jump that jump_targets() doesn't know stay until another call has
 *   their place (probe/pairing.c).
 * - A jump through the GOT has a byte to search for (image/jumps.c).
 * - Copies of instructions lie at multiples of 4 (tracee/scratch.c), and
 *   nothing is known there of pages that only some jumps may lead into: what
 *   set_ip() and insn_emulate() leave must be good anywhere.
 * - A stop that is asked for ends some waits with EINTR (signal(7)), which the
 *   program doesn't see if restart_wait() can tell from the registers what the
 *   call was. Where it can't, it must say so, not guess: the program then sees
 *   what it may see of any signal.
 * - The kernel steps (PTRACE_SINGLESTEP). Traps are passed so where no room for
 *   a copy is left, and --freeze clone makes its call so. Where it can't, as on
 *   riscv64, another way has to be made first.
 * - glibc's vector of thread-local blocks is found behind the thread pointer,
 *   and the blocks begin behind a head that isn't empty, or end at the pointer.
 *   riscv64's vector lies before the pointer, the head is empty there, and the
 *   offsets in the GOT are 0x800 less than the variables'.
 * - Slots of the GOT have relocations of their own (glob_dat), which nothing
 *   else has: who has one for all addresses (R_RISCV_64) needs another mark.
 * - The column of a frame's return address is among the first
 *   DWARF_REGISTERS_MAX, in signal frames too (riscv64 has number 64 there).
 * - insn.op has the operands of x86, which others use as they like.
 * - DWARF_REGISTERS_MAX is less than the 64 bits of a mask (stack/private.h,
 *   unknown), and than the marks of stack/learn.c.
 */
struct arch_ops {
	const char *name;
	uint16_t elf_machine; /* EM_X86_64, EM_386 */
	uint8_t elf_class;    /* ELFCLASS64, ELFCLASS32 */
	uint8_t word_size;    /* of a pointer, in bytes */
	uint32_t audit;       /* AUDIT_ARCH_…, in seccomp filters */

	/* Relocations that fill GOT slots with addresses of functions, … */
	uint32_t jump_slot, glob_dat, irelative;
	/* … and with the module and the place of a thread-local variable, … */
	uint32_t tls_module, tls_place;
	/* … or with a function, and what that finds it by; 0: none has these. */
	uint32_t tls_descriptor;

	/*
	 * The trap instruction: a word of trap_size bytes, the same for all of
	 * a port's (the guardian knows arch_native's only). A hit leaves the
	 * ip trap_behind bytes behind its beginning, and raises a SIGTRAP of
	 * code trap_code.
	 */
	uint32_t trap;
	uint8_t trap_size;
	uint8_t trap_behind;
	int trap_code;

	/*
	 * Whether a trap instruction, anybody's, is what a task has just run
	 * that has raised such a SIGTRAP and stands at ip. True, too, when
	 * that can't be read.
	 */
	bool (*is_behind_trap)(struct memory *memory, taddr_t ip);

	taddr_t (*ip)(const struct regs *regs);
	void (*set_ip)(struct regs *regs, taddr_t ip);
	taddr_t (*sp)(const struct regs *regs);

	/* Whether the program has asked for a SIGTRAP after each instruction. */
	bool (*steps_itself)(const struct regs *regs);

	/*
	 * Where the C library's data of the thread are: TLS hangs there, and
	 * glibc keeps the address of its vector of thread-local blocks
	 * thread_vector bytes behind it.
	 */
	taddr_t (*thread_pointer)(const struct regs *regs);
	uint8_t thread_vector;

	/*
	 * The program's own thread-local variables begin that many bytes behind
	 * the pointer, or more, as they are aligned (ELF Handling For
	 * Thread-Local Storage, variant I), and what a pthread_t points at ends
	 * at the pointer; 0: they end there, and it begins there (variant II).
	 */
	uint8_t thread_head;

	/*
	 * Whether the function of a descriptor finds the variable where the
	 * other word says, counted from the thread pointer. If not, that leads
	 * to the number of the module.
	 */
	bool (*tls_finds_place)(struct memory *memory, taddr_t function);

	/*
	 * At the entry of longjmp(): the stack pointers that its jmp_buf may
	 * stand for, one for each way in which C libraries keep it. Returns
	 * how many there are. random is where the kernel has put random bytes
	 * for the program (AT_RANDOM), which they mix it with; 0: not known.
	 */
	size_t (*jump_targets)(const struct regs *entry, struct memory *memory,
			       taddr_t random, taddr_t ret[JUMP_TARGETS_MAX]);

	/*
	 * In a function of Go's: where the goroutine's data are, which begin
	 * with the bounds of its stack. NULL: Go's stacks don't move here.
	 */
	uint64_t (*goroutine)(const struct regs *regs);

	/*
	 * Whether the frame pointer leads to the goroutine's stack where Go calls C's
	 * functions on another. There, not far above the stack pointer, lies how far
	 * below the end of its stack (which may be moved) it called, and right above
	 * that where the goroutine's data are.
	 */
	bool go_leaves_fp;

	/*
	 * If these are the registers of a task whose system call has just
	 * returned -EINTR, and the call has done nothing yet and may be made
	 * again: sets them to make it again. Else returns false.
	 */
	bool (*restart_wait)(struct regs *regs);

	/*
	 * If these are the registers of a task that the kernel is about to send
	 * back to its wait by restart_syscall(): sets them to make the call
	 * itself again, for all of its time. Else returns false. (True, too, of
	 * whoever may be one, if nothing comes of it for the others.)
	 */
	bool (*wait_from_start)(struct regs *regs);

	/*
	 * At a function's first instruction: the word below what the stack
	 * pointer will be when it has returned, which calls are paired by; its
	 * arguments on the stack are above it. The return address lies there,
	 * or in a register (returns_by_register).
	 */
	taddr_t (*return_slot)(const struct regs *regs);
	bool returns_by_register;
	/* … and that address, without a signature. */
	int (*return_address)(const struct regs *regs, struct memory *memory,
			      taddr_t *ret);

	/*
	 * Decodes the instruction at address out of n bytes of code.
	 * Returns -EILSEQ when they are none.
	 */
	int (*insn_decode)(taddr_t address, const uint8_t *code, size_t n,
			   struct insn *ret);

	/*
	 * Does what an emulable instruction does: registers (flags and ip
	 * included) and memory. Returns 0, or -EFAULT when memory could not
	 * be reached, or another error of the memory's; the registers are
	 * then unchanged, and running the instruction itself will raise the
	 * right fault. Return addresses are not pushed to or popped from a
	 * shadow stack: a task that has one must run calls and returns.
	 */
	int (*insn_emulate)(const struct insn *insn, struct regs *regs,
			    struct memory *memory);

	/*
	 * Writes to ret a copy, to be run at address to, that does the same
	 * and then jumps to where the original would go on; needs no step.
	 * Returns the size in bytes, -ERANGE when to is too far away, or
	 * -EINVAL for what can't be moved (never for INSN_RELOCATE).
	 * resume_ret[i] says for an ip at to + i which ip in the original
	 * code it stands for: 0 = the original instruction itself (it has not
	 * run yet), length = behind it (done), -1 = inside an instruction.
	 */
	int (*insn_relocate)(const struct insn *insn, taddr_t to,
			     uint8_t ret[INSN_COPY_MAX],
			     int8_t resume_ret[INSN_COPY_MAX]);

	/*
	 * Looks for a PLT stub whose jump through the GOT begins at
	 * code[at]. code holds size bytes that lie at address, best a whole
	 * segment (where one of mold's i386 stubs points is told by another);
	 * got is where the image's DT_PLTGOT points (i386 stubs are relative
	 * to it). All forms that linkers write are known: with and without
	 * endbr and bnd prefix, mold's with the index load before the jump.
	 * Returns false when the bytes there are no such jump.
	 */
	bool (*plt_stub)(const uint8_t *code, size_t size, size_t at,
			 taddr_t address, taddr_t got, struct plt_stub *ret);

	/*
	 * Whether a jump through the GOT is at code[at] (code holds size bytes,
	 * which lie at address), and its slot; got as above. slot_jump_byte is
	 * slot_jump_byte_at bytes behind its beginning (a prefix before that is
	 * no matter: behind it the trap works as well).
	 */
	uint8_t slot_jump_byte;
	uint8_t slot_jump_byte_at;
	bool (*slot_jump)(const uint8_t *code, size_t size, size_t at,
			  taddr_t address, taddr_t got, taddr_t *slot_ret);

	/*
	 * The next place where code may come to a slot of the range: from *at on
	 * (0 at first, then where it has stopped), by an instruction that begins
	 * before end. code holds size bytes, which lie at address. NULL: nobody
	 * knows of this machine.
	 */
	bool (*next_slot_use)(const uint8_t *code, size_t size, size_t *at,
			      size_t end, taddr_t address,
			      const struct slot_range *range,
			      struct slot_use *ret);

	/*
	 * The slot that the call before a return address went through, when
	 * it was a call through the GOT.
	 */
	bool (*slot_called)(struct memory *memory, taddr_t return_address,
			    taddr_t got, taddr_t *slot_ret);

	/*
	 * The index-th (from 0) integer or pointer argument of a call whose
	 * registers at the function's first instruction are given.
	 */
	int (*argument)(const struct regs *entry, struct memory *memory,
			unsigned index, uint64_t *ret);

	/* Changes it, in the registers or in memory. */
	int (*set_argument)(struct regs *entry, struct memory *memory,
			    unsigned index, uint64_t value);

	/* The integer or pointer result, when a call has returned. */
	uint64_t (*result)(const struct regs *regs);

	/* Where values of every kind lie: of functions, of system calls. */
	const struct convention *convention;
	const struct convention *syscall_convention;

	/* For unwinding. */
	const struct dwarf_arch *dwarf;

	/* At the entry of a system call, or after it. */
	uint64_t (*syscall_number)(const struct regs *regs);
	/* What the prototype file of system calls is called. */
	const char *syscalls;

	/* NULL when there is none of that number. */
	const char *(*syscall_name)(uint64_t number);

	/* Which of those that make children a number is. */
	enum child_call (*child_call)(uint64_t number);

	/* In our copy of the registers; the kernel hasn't stored it yet. */
	void (*syscall_set_result)(struct regs *regs, int64_t result);
};

/*
 * The port's way to the registers of a stopped task; 0 or a negative errno,
 * -ESRCH when it isn't stopped any more. arch_poke_ip() writes no others.
 */
int arch_peek_regs(pid_t tid, struct regs *ret);
int arch_poke_regs(pid_t tid, const struct regs *regs);
int arch_poke_ip(pid_t tid, taddr_t ip);
int arch_peek_fp_regs(pid_t tid, struct fp_regs *ret);

/* Where the memory is that a pointer of a program's leads to, tag or no tag. */
taddr_t arch_untagged(taddr_t pointer);

extern const struct arch_ops arch_x86_64;
extern const struct arch_ops arch_i386;
extern const struct arch_ops arch_aarch64;

/* The port's: all that it can trace, up to NULL; and what calltrap itself is,
   in whose layout the kernel gives registers. */
extern const struct arch_ops *const arch_ports[];
extern const struct arch_ops *const arch_native;

/*
 * Registers as the kernel puts them into samples: which ones (a mask for
 * sample_regs_user, perf_event_open(2)), how many that are, and what they are
 * of a task. No floating-point registers, no segments but cs.
 */
#ifdef __aarch64__
#define ARCH_SAMPLE_REGISTERS 33
#else
#define ARCH_SAMPLE_REGISTERS 19
#endif
extern const uint64_t arch_sample_registers;
void arch_regs_of_sample(const uint64_t values[ARCH_SAMPLE_REGISTERS],
			 struct regs *ret);

/* One of arch_ports; NULL when calltrap has no port to it. */
const struct arch_ops *arch_of_elf(unsigned machine, unsigned elf_class);

/* The port's: what a stopped task is running just now; NULL: not known. */
const struct arch_ops *arch_of_regs(const struct regs *regs);

#endif
