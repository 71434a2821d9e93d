/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack/unwind.h"

#include <alloca.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/tracer.h"
#include "unit.h"

#define FRAMES_MAX 400

/* What the child knows of its own stack, by the C library's unwinder. */
struct truth {
	void *frames[FRAMES_MAX];
	int count;
};

static struct truth *truth;
static pid_t child;
static struct tracer tracer;
static struct space space;
static struct stacks *stacks;
static struct unwinder *unwinder;
static struct regs regs;

/* ---- the child ---- */

static __attribute__((noinline)) void at_the_bottom(void)
{
	truth->count = backtrace(truth->frames, FRAMES_MAX);
	raise(SIGSTOP);
}

static void go_deeper(int depth);

static int through_bsearch(const void *key, const void *element)
{
	go_deeper(*(const int *)key);
	return element == NULL;
}

/* Frames of every size, every third one through the C library. */
static __attribute__((noinline)) void go_deeper(int depth)
{
	volatile char *room = alloca(rand() % 3000 + 1);
	int key = depth - 1, element = 0;

	room[0] = 1;
	if (depth == 0)
		at_the_bottom();
	else if (depth % 3)
		go_deeper(depth - 1);
	else
		(void)bsearch(&key, &element, 1, sizeof(int), through_bsearch);
	room[0]++;
}

static void on_signal(int number UNUSED)
{
	go_deeper(5);
}

/* ---- the tracer ---- */

static void add_modules(void)
{
	struct procfs_mapping *mapping = xmalloc(sizeof(*mapping));
	FILE *maps = procfs_maps_open(child);

	ck_assert_ptr_nonnull(maps);
	while (procfs_maps_next(maps, mapping)) {
		struct image *image;
		int fd;

		if (mapping->offset || *mapping->path != '/')
			continue;
		fd = open(mapping->path, O_RDONLY);
		if (fd >= 0 && !image_open(fd, mapping->path, &image))
			module_add(&space, image,
				   mapping->start - image_low(image),
				   mapping->path);
		close(fd);
	}
	fclose(maps);
	free(mapping);
}

static void start(void (*run)(void))
{
	int status;

	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		run();
		_exit(0);
	}
	do {
		ck_assert_int_eq(waitpid(child, &status, __WALL), child);
		ck_assert(WIFSTOPPED(status));
		if (WSTOPSIG(status) != SIGSTOP)
			ptrace(PTRACE_CONT, child, NULL, WSTOPSIG(status));
	} while (WSTOPSIG(status) != SIGSTOP);
	tracer = (struct tracer){ 0 };
	space = (struct space){ .tracer = &tracer, .arch = &arch_x86_64 };
	procmem_init(&space.memory, child);
	add_modules();
	stacks = stacks_new();
	unwinder = unwinder_new(stacks);
	ck_assert_int_eq(ptrace_get_regs(child, &regs), 0);
}

static void teardown(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, __WALL);
	unwinder_forget(unwinder, &space);
	unwinder_free(unwinder);
	stacks_free(stacks);
	module_free_all(&space);
	scratch_free(&space);
	procmem_fini(&space.memory);
}

static uint64_t address_of(const struct frame *frame)
{
	const struct module *module;

	for (module = space.modules; module; module = module->next)
		if (module->image == frame->code->image)
			return frame->address + module->bias;
	return frame->address;
}

static size_t find_frame(const struct frame *frames, size_t count,
			 const void *address)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (address_of(&frames[i]) == (uintptr_t)address)
			break;
	return i;
}

/*
 * Below at_the_bottom() they are in different functions (of which sanitizers
 * add one), and in it at different places.
 */
static void check_like_backtrace(unsigned depth)
{
	struct frame frames[FRAMES_MAX];
	stack_id stack = unwind(unwinder, &space, &space.memory.memory, child,
				&regs, depth, false);
	size_t count = stacks_frames(stacks, stack, frames, FRAMES_MAX);
	size_t first = count, i, skipped = 0;

	ck_assert_int_gt(truth->count, 5);
	ck_assert_int_lt(truth->count, FRAMES_MAX);
	ck_assert_int_eq(stacks_end(stacks, stack), STACK_COMPLETE);
	while (first == count && ++skipped < 3)
		first = find_frame(frames, count, truth->frames[skipped]);
	ck_assert_uint_eq(count - first, truth->count - skipped);
	for (i = first; i < count; i++)
		ck_assert_uint_eq(address_of(&frames[i]),
				  (uintptr_t)truth->frames[skipped + i - first]);
}

static void run_deep(void)
{
	srand(1);
	go_deeper(150);
}

START_TEST(deep_and_wide)
{
	start(run_deep);
	check_like_backtrace(FRAMES_MAX);
	/* From what was learned the first time. */
	check_like_backtrace(FRAMES_MAX);
	unwinder_flush(unwinder, &space);
	check_like_backtrace(FRAMES_MAX);
}
END_TEST

static void run_signal(void)
{
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
}

START_TEST(through_a_signal)
{
	start(run_signal);
	check_like_backtrace(FRAMES_MAX);
	ck_assert_uint_eq(unwind_counts(unwinder).frames[FRAME_HANDLED], 1);
	ck_assert_uint_eq(unwind_counts(unwinder).frames[FRAME_SIGNAL], 1);
}
END_TEST

static void run_shallow(void)
{
	go_deeper(9);
}

START_TEST(depth_cuts)
{
	stack_id stack;
	unsigned depth;

	start(run_shallow);
	for (depth = 1; depth < 10; depth++) {
		stack = unwind(unwinder, &space, &space.memory.memory, child,
			       &regs, depth, false);
		ck_assert_uint_eq(stacks_depth(stacks, stack), depth);
		ck_assert_int_eq(stacks_end(stacks, stack), STACK_CUT);
	}
	ck_assert_uint_eq(unwind_counts(unwinder).cut, 9);
	ck_assert_uint_eq(unwind_counts(unwinder).stacks, 9);
	ck_assert_uint_eq(unwind_counts(unwinder).broken, 0);
}
END_TEST

/*
 * As OpenSSL's assembler has it: the frame's address lies in memory, at the
 * stack pointer + 8 + 8 * r9, and 8 is to be added. No row says that. It
 * stops itself: kill(getpid(), SIGSTOP).
 */
void stop_in_strange_frame(void);
__asm__(".pushsection .text\n"
	".globl stop_in_strange_frame\n"
	"stop_in_strange_frame:\n"
	"	.cfi_startproc\n"
	"	mov	%rsp, %rax\n"
	"	.cfi_def_cfa_register %rax\n"
	"	push	%rbx\n"
	"	.cfi_offset %rbx, -16\n"
	"	sub	$256, %rsp\n"
	"	and	$-64, %rsp\n"
	"	mov	$5, %r9\n"
	"	mov	%rax, 8(%rsp,%r9,8)\n"
	/* breg7 8, breg9 0, lit8, mul, plus, deref, plus_uconst 8 */
	"	.cfi_escape 0x0f, 10, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22\n"
	"	.cfi_escape 0x06, 0x23, 8\n"
	"	xor	%ebx, %ebx\n"
	"	mov	$39, %eax\n"
	"	syscall\n"
	"	mov	%eax, %edi\n"
	"	mov	$19, %esi\n"
	"	mov	$62, %eax\n"
	"	syscall\n"
	"	mov	8(%rsp,%r9,8), %rax\n"
	"	.cfi_def_cfa %rax, 8\n"
	"	mov	-8(%rax), %rbx\n"
	"	mov	%rax, %rsp\n"
	"	.cfi_def_cfa_register %rsp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".popsection\n");

static void run_strange(void)
{
	truth->count = backtrace(truth->frames, FRAMES_MAX);
	stop_in_strange_frame();
	truth->count = 0;
}

START_TEST(through_a_frame_without_a_row)
{
	struct frame frames[FRAMES_MAX];
	stack_id stack;
	size_t count, i;

	start(run_strange);
	stack = unwind(unwinder, &space, &space.memory.memory, child, &regs,
		       FRAMES_MAX, false);
	count = stacks_frames(stacks, stack, frames, FRAMES_MAX);
	ck_assert_int_eq(stacks_end(stacks, stack), STACK_COMPLETE);
	ck_assert_uint_ge(count, 3);
	ck_assert_uint_le(count, truth->count + 1);
	ck_assert_int_eq(frames[1].method, FRAME_CFI);
	/* Its own frame; then run_strange(), another place of it. */
	for (i = 2; i < count; i++)
		ck_assert_uint_eq(
			address_of(&frames[i]),
			(uintptr_t)truth->frames[truth->count - (count - i)]);
}
END_TEST

/* As it is right behind a call: the return address on top of the stack. */
START_TEST(at_an_entry)
{
	struct frame frames[FRAMES_MAX];
	uint64_t return_address;
	stack_id stack;

	start(run_shallow);
	return_address = (uintptr_t)truth->frames[1];
	regs.user.rsp = 0x100;
	stack = unwind(unwinder, &space, &space.memory.memory, child, &regs, 20,
		       true);
	/* There is no stack: the function itself, and the truth about it. */
	ck_assert_uint_eq(stacks_depth(stacks, stack), 1);
	ck_assert_int_eq(stacks_end(stacks, stack), STACK_BROKEN);

	regs.user.rsp = (uintptr_t)&truth->frames[1];
	stack = unwind(unwinder, &space, &space.memory.memory, child, &regs, 2,
		       true);
	ck_assert_uint_eq(stacks_frames(stacks, stack, frames, 2), 2);
	ck_assert_uint_eq(address_of(&frames[1]), return_address);
	ck_assert_int_eq(frames[1].method, FRAME_ENTRY);
	ck_assert_int_eq(frames[0].method, FRAME_INNERMOST);
}
END_TEST

/* Whatever registers hold, a walk ends, and within the depth. */
START_TEST(garbage_ends)
{
	struct regs real;
	int i;

	start(run_deep);
	real = regs;
	srand(7);
	for (i = 0; i < 20000; i++) {
		uint64_t *words = (uint64_t *)&regs.user;
		size_t count = sizeof(regs.user) / sizeof(*words);
		stack_id stack;

		regs = real;
		regs.user.rsp += rand() % 20000;
		regs.user.rip = (uintptr_t)truth->frames[rand() % truth->count];
		words[rand() % count] = regs.user.rsp + rand() % 4096;
		words[rand() % count] ^= UINT64_C(1) << rand() % 64;
		stack = unwind(unwinder, &space, &space.memory.memory, child,
			       &regs, 200, rand() % 2);
		ck_assert_uint_le(stacks_depth(stacks, stack), 200);
	}
	ck_assert_uint_gt(unwind_counts(unwinder).broken, 1000);
}
END_TEST

/* One in 32 is no code. */
static taddr_t some_address(void)
{
	return rand() % 32 ?
		       (taddr_t)(uintptr_t)
			       truth->frames[1 + rand() % (truth->count - 1)] :
		       16;
}

/* As most: the outer frames of the one before, and other inner ones. */
static unsigned next_stack(taddr_t *addresses, unsigned count)
{
	const unsigned kept = count ? (unsigned)rand() % (count + 1) : 0;
	const unsigned inner = 1 + rand() % 8;

	if (kept + inner > FRAMES_MAX)
		return 0;
	memmove(addresses + inner, addresses + count - kept,
		kept * sizeof(*addresses));
	for (unsigned i = 0; i < inner; i++)
		addresses[i] = some_address();
	return inner + kept;
}

static void check_as_by_itself(const taddr_t *addresses, unsigned count,
			       bool complete)
{
	struct unwinder *other = unwinder_new(stacks);
	const struct unwind_counts before = unwind_counts(unwinder);
	const struct unwind_seen found =
		unwind_addresses(unwinder, &space, addresses, count, complete);
	const struct unwind_seen alone =
		unwind_addresses(other, &space, addresses, count, complete);
	const struct unwind_counts after = unwind_counts(unwinder),
				   counts = unwind_counts(other);

	ck_assert_uint_eq(found.stack, alone.stack);
	ck_assert_uint_eq(found.depth, alone.depth);
	ck_assert_uint_eq(found.depth, stacks_depth(stacks, found.stack));
	ck_assert_uint_eq(found.by_pointer, alone.by_pointer);
	ck_assert_int_eq(found.end, alone.end);
	ck_assert_int_eq(found.end, stacks_end(stacks, found.stack));
	ck_assert_uint_eq(after.broken - before.broken, counts.broken);
	for (unsigned i = 0; i < ARRAY_SIZE(counts.frames); i++)
		ck_assert_uint_eq(after.frames[i] - before.frames[i],
				  counts.frames[i]);
	unwinder_free(other);
}

START_TEST(outer_frames_of_the_last_stack)
{
	taddr_t addresses[FRAMES_MAX];
	unsigned count = 0;

	srand(7);
	start(run_deep);
	for (unsigned round = 0; round < 500; round++) {
		count = next_stack(addresses, count);
		if (count)
			check_as_by_itself(addresses, count, rand() % 4);
	}
}
END_TEST

START_TEST(nothing_at_all)
{
	stack_id stack;

	start(run_shallow);
	memset(&regs, 0, sizeof(regs));
	stack = unwind(unwinder, &space, &space.memory.memory, child, &regs, 10,
		       false);
	ck_assert_uint_eq(stack, STACK_NONE);
	ck_assert_uint_eq(unwind_counts(unwinder).broken, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind");
	TCase *tcase = tcase_create("unwind");

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_add_test(tcase, deep_and_wide);
	tcase_add_test(tcase, through_a_signal);
	tcase_add_test(tcase, through_a_frame_without_a_row);
	tcase_add_test(tcase, depth_cuts);
	tcase_add_test(tcase, at_an_entry);
	tcase_add_test(tcase, garbage_ends);
	tcase_add_test(tcase, outer_frames_of_the_last_stack);
	tcase_add_test(tcase, nothing_at_all);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
