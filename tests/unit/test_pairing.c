/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "base/xalloc.h"
#include "elf_builder.h"
#include "probe/private.h"
#include "unit.h"

/*
 * Entries and returns as a script. The test's own memory is that of the
 * tracee: two stacks that nothing runs on, and a module full of nops whose
 * return sites are trapped in earnest.
 */

#define PAGE          4096u
#define STACK_SIZE    (64 * PAGE)
#define MODULE_SIZE   (BUILT_DATA + PAGE - BUILT_TEXT)
#define LONGJMP       0xa00
#define UNWIND        0xa10
#define FORCED_UNWIND 0xa20
#define SITES         0xb00 /* and so on, every 8 bytes */
#define SLOT_OF_SP    6     /* in glibc's and musl's jmp_buf; i386: 4 */

struct record {
	enum event_kind kind;
	uint64_t id;
	pid_t tid;
	unsigned depth;
	const struct function *function;
	taddr_t result;
	enum call_end end;
};

struct script {
	struct sink sink;
	struct record *records;
	size_t count, room;
	struct filter *filters[3];
	struct prober *prober;
	struct tracer tracer;
	struct space *space;
	struct probe_space *own;
	struct tracee *tracee;
	struct task *task;
	struct module *module;
	bool flat; /* depths are not compared */
	uint8_t *code;
	uint8_t *memory;  /* both stacks, with gaps around them */
	taddr_t stack[2]; /* their upper ends */
	uint64_t clock;
	uint64_t jmp_buf[8];
	volatile sig_atomic_t wake;
};

static struct script s;

static const struct function f = { .name = "f" };
static const struct function g = { .name = "g" };
static const struct function h = { .name = "h" };
static const struct function outer = { .name = "outer", .group = 1 };
static const struct function inner = { .name = "inner", .group = 1 };
static const struct function other = { .name = "other", .group = 2 };
static const struct function brief = { .name = "brief",
				       .group = 1,
				       .entry_only = true };
static const struct function quit = { .name = "quit",
				      .returns = RETURNS_NEVER };

/* ---- what is seen ---- */

static int record_event(struct sink *sink UNUSED, const struct event *event)
{
	struct record record = { .kind = event->kind };

	if (event->kind > EVENT_ABANDON)
		return 0;
	record.id = event->call->id;
	record.tid = event->tid;
	record.depth = event->call->depth;
	record.function = event->call->function;
	record.end = event->end;
	if (event->kind == EVENT_RETURN)
		record.result = s.space->arch->result(event->regs);
	s.records = xgrow(s.records, s.count, &s.room, sizeof(*s.records));
	s.records[s.count++] = record;
	return 0;
}

static const struct sink_ops sink_ops = { .event = record_event };

static void print_record(struct strbuf *text, const struct record *r)
{
	static const char *const ends[] = {
		[CALL_RETURNED] = "returned",
		[CALL_LONGJMP] = "longjmp",
		[CALL_EXCEPTION] = "exception",
		[CALL_THREAD_EXITED] = "thread exited",
		[CALL_PROCESS_ENDED] = "process ended",
		[CALL_NEVER_RETURNS] = "never returns",
		[CALL_UNSEEN] = "unseen",
		[CALL_DETACHED] = "detached",
		[CALL_UNWATCHED] = "unwatched",
	};

	if (!s.flat)
		strbuf_pad(text, text->length + 2 * r->depth);
	strbuf_printf(text, "%s #%" PRIu64, r->function->name, r->id);
	if (r->kind == EVENT_RETURN)
		strbuf_printf(text, " = %" PRIu64, r->result);
	else if (r->kind == EVENT_ABANDON)
		strbuf_printf(text, " %s", ends[r->end]);
	strbuf_putc(text, '\n');
}

/* Compares all events since the last time, indented by their depth. */
static void expect(const char *expected)
{
	struct strbuf text = { 0 };

	for (size_t i = 0; i < s.count; i++)
		print_record(&text, &s.records[i]);
	ck_assert_str_eq(strbuf_text(&text), expected);
	strbuf_fini(&text);
	s.count = 0;
}

static size_t running(void)
{
	struct activation *activation, *next;
	size_t n = 0;

	HASH_ITER(hh, s.own->activations, activation, next)
		for (struct activation *a = activation; a; a = a->same_frame)
			n++;
	return n;
}

/* ---- the stage ---- */

static void build_module(void)
{
	static struct built b;
	struct image *image;

	memset(&b, 0, sizeof(b));
	b.word = 8;
	b.names = 1;
	built_header(&b, 3);
	b.at = 0x40;
	built_program(&b, PT_LOAD, PF_R | PF_X, 0, BUILT_TEXT, 0x1000);
	built_program(&b, PT_LOAD, PF_R | PF_W, AT_DYNAMIC, BUILT_DATA, 0x400);
	built_program(&b, PT_DYNAMIC, PF_R | PF_W, AT_DYNAMIC, BUILT_DATA,
		      0x200);
	b.at = AT_SYMBOLS;
	built_symbol(&b, 0, 0, 0, 0, 0, 0);
	built_symbol(&b, built_name(&b, "longjmp"), STB_GLOBAL, STT_FUNC, 1,
		     BUILT_TEXT + LONGJMP, 8);
	built_symbol(&b, built_name(&b, "_Unwind_RaiseException"), STB_GLOBAL,
		     STT_FUNC, 1, BUILT_TEXT + UNWIND, 8);
	built_symbol(&b, built_name(&b, "_Unwind_ForcedUnwind"), STB_GLOBAL,
		     STT_FUNC, 1, BUILT_TEXT + FORCED_UNWIND, 8);
	b.at = AT_HASH;
	built_put(&b, 1, 4);
	built_put(&b, 4, 4);
	built_tag(&b, DT_SYMTAB, BUILT_TEXT + AT_SYMBOLS);
	built_tag(&b, DT_STRTAB, BUILT_TEXT + AT_STRINGS);
	built_tag(&b, DT_STRSZ, b.names);
	built_tag(&b, DT_HASH, BUILT_TEXT + AT_HASH);
	built_tag(&b, DT_NULL, 0);
	ck_assert(!image_open_bytes(b.bytes, sizeof(b.bytes), "libbuilt.so",
				    &image));
	s.module = module_add(s.space, image, (uintptr_t)s.code - BUILT_TEXT,
			      "/lib/libbuilt.so");
}

/* Low, so that a 32-bit program could have it as well. */
static void *map(size_t size, int protection)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	memset(p, 0x90, size);
	ck_assert(!mprotect(p, size, protection));
	return p;
}

static void map_stacks(void)
{
	s.memory = map(2 * STACK_SIZE + 3 * PAGE, PROT_NONE);
	for (unsigned i = 0; i < 2; i++) {
		uint8_t *low = s.memory + PAGE + i * (STACK_SIZE + PAGE);

		ck_assert(!mprotect(low, STACK_SIZE, PROT_READ | PROT_WRITE));
		s.stack[i] = (uintptr_t)low + STACK_SIZE;
	}
}

static struct task *add_task(struct tracee *tracee, pid_t tid)
{
	return task_new(&s.tracer, tid, tracee);
}

static void setup(void)
{
	struct prober_config config = { 0 };

	memset(&s, 0, sizeof(s));
	s.sink.ops = &sink_ops;
	for (unsigned i = 0; i < ARRAY_SIZE(s.filters); i++)
		s.filters[i] = filter_new();
	config.calls = s.filters[0];
	config.libraries = s.filters[1];
	config.entries = s.filters[2];
	config.sinks = &s.sink;
	config.wake = &s.wake;
	s.prober = prober_new(&config);
	s.tracer.client = prober_client(s.prober);
	s.code = map(MODULE_SIZE, PROT_READ | PROT_EXEC);
	map_stacks();
	s.space = space_new(&s.tracer, getpid());
	s.own = probe_space_of(s.space);
	build_module();
	nonlocals_plant(s.own, s.module);
	s.tracee = tracee_new(&s.tracer, getpid(), s.space);
	s.task = add_task(s.tracee, 1);
}

/* With the sanitizers, what is not freed here is a failure. */
static void teardown(void)
{
	struct tracee *tracee, *next;

	HASH_ITER(hh, s.tracer.tracees, tracee, next) {
		while (tracee->tasks)
			task_free(&s.tracer, tracee->tasks);
		tracee_free(&s.tracer, tracee);
	}
	prober_free(s.prober);
	for (unsigned i = 0; i < ARRAY_SIZE(s.filters); i++)
		filter_free(s.filters[i]);
	free(s.records);
	munmap(s.code, MODULE_SIZE);
	munmap(s.memory, 2 * STACK_SIZE + 3 * PAGE);
}

/* ---- the script's words ---- */

static taddr_t site(unsigned i)
{
	return (uintptr_t)s.code + SITES + 8 * i;
}

/* The n-th word from the upper end of stack 0 or 1. */
static taddr_t slot_of(unsigned stack, unsigned n)
{
	return s.stack[stack] - (taddr_t)s.space->arch->word_size * n;
}

static taddr_t slot(unsigned n)
{
	return slot_of(0, n);
}

static void write_word(taddr_t at, uint64_t value)
{
	memcpy((void *)at, &value, s.space->arch->word_size);
}

/* A call pushes its return address; the function is trapped. */
static void enter_as(struct task *task, const struct function *function,
		     taddr_t at, taddr_t return_address)
{
	struct moment moment;

	write_word(at, return_address);
	task->regs.user.rsp = at;
	task->stop_time = ++s.clock;
	moment = moment_of_stop(task);
	pairing_enter_call(&moment, function, return_address, false);
}

static void enter(const struct function *function, unsigned n, unsigned to)
{
	enter_as(s.task, function, slot(n), site(to));
}

static void hit(struct task *task, taddr_t address, taddr_t sp)
{
	struct trap *trap = trap_find(s.space, address);
	struct trap_owner *owner, *next;

	task->regs.user.rsp = sp;
	task->regs.user.rip = address;
	task->stop_time = ++s.clock;
	for (owner = trap && trap->planted ? trap->owners : NULL; owner;
	     owner = next) {
		next = owner->next;
		owner->ops->hit(owner, task);
	}
}

/* The function whose return address is at a slot goes back there. */
static void leave_as(struct task *task, taddr_t at, unsigned to,
		     uint64_t result)
{
	task->regs.user.rax = result;
	task->regs.user.rdx = 0;
	hit(task, site(to), at + s.space->arch->word_size);
}

static void leave(unsigned n, unsigned to, uint64_t result)
{
	leave_as(s.task, slot(n), to, result);
}

/* longjmp() is called at a slot, with a stack pointer to go to. */
static void jump(unsigned n, taddr_t target)
{
	s.jmp_buf[SLOT_OF_SP] = target;
	s.task->regs.user.rdi = (uintptr_t)s.jmp_buf;
	s.task->regs.user.fs_base = (uintptr_t)s.jmp_buf;
	hit(s.task, (uintptr_t)s.code + LONGJMP, slot(n));
}

static void throw(unsigned n)
{
	hit(s.task, (uintptr_t)s.code + UNWIND, slot(n));
}

/* ---- calls and returns ---- */

START_TEST(nesting)
{
	enter(&f, 10, 0);
	enter(&g, 20, 1);
	enter(&h, 30, 2);
	leave(30, 2, 3);
	enter(&h, 30, 3);
	leave(30, 3, 4);
	leave(20, 1, 2);
	leave(10, 0, 1);
	expect("f #1\n"
	       "  g #2\n"
	       "    h #3\n"
	       "    h #3 = 3\n"
	       "    h #4\n"
	       "    h #4 = 4\n"
	       "  g #2 = 2\n"
	       "f #1 = 1\n");
	ck_assert_uint_eq(running(), 0);
	ck_assert_uint_eq(prober_counts(s.prober).calls, 4);
}
END_TEST

START_TEST(one_place_many_times)
{
	for (unsigned i = 1; i <= 3; i++) {
		enter(&f, 10, 0);
		leave(10, 0, i);
	}
	expect("f #1\nf #1 = 1\nf #2\nf #2 = 2\nf #3\nf #3 = 3\n");
}
END_TEST

START_TEST(recursion)
{
	enum { DEPTH = 10000 };

	for (unsigned i = 0; i < DEPTH; i++)
		enter(&f, 10 + 2 * i, 0);
	ck_assert_uint_eq(running(), DEPTH);
	for (unsigned i = DEPTH; i-- > 0;)
		leave(10 + 2 * i, 0, i);
	ck_assert_uint_eq(s.count, 2 * DEPTH);
	for (unsigned i = 0; i < DEPTH; i++) {
		const struct record *call = &s.records[i];
		const struct record *end = &s.records[2 * DEPTH - 1 - i];

		ck_assert(call->kind == EVENT_CALL);
		ck_assert(end->kind == EVENT_RETURN);
		ck_assert_uint_eq(call->id, i + 1);
		ck_assert_uint_eq(call->depth, i);
		ck_assert_uint_eq(end->id, call->id);
		ck_assert_uint_eq(end->depth, i);
		ck_assert_uint_eq(end->result, i);
	}
	ck_assert_uint_eq(running(), 0);
}
END_TEST

/* A caller that ends in a jump has no frame of its own left. */
START_TEST(groups)
{
	enter(&outer, 10, 0);
	enter(&inner, 20, 1); /* called by it */
	enter(&inner, 10, 0); /* or in its place */
	enter(&other, 30, 2);
	enter(&brief, 40, 3);
	leave(30, 2, 1);
	leave(10, 0, 7);
	enter(&inner, 10, 0);
	leave(10, 0, 8);
	expect("outer #1\n"
	       "  other #2\n"
	       "  other #2 = 1\n"
	       "outer #1 = 7\n"
	       "inner #3\n"
	       "inner #3 = 8\n");
	ck_assert_uint_eq(running(), 0);
}
END_TEST

START_TEST(entry_only)
{
	enter(&brief, 10, 0);
	enter(&brief, 10, 0);
	expect("brief #1\n"
	       "brief #1 unwatched\n"
	       "brief #2\n"
	       "brief #2 unwatched\n");
	ck_assert_uint_eq(running(), 0);
}
END_TEST

START_TEST(tail_calls)
{
	enter(&f, 10, 0);
	enter(&g, 10, 0);
	enter(&h, 10, 0);
	enter(&quit, 30, 1);
	leave(10, 0, 7);
	expect("f #1\n"
	       "  g #2\n"
	       "    h #3\n"
	       "      quit #4\n"
	       "      quit #4 never returns\n"
	       "    h #3 = 7\n"
	       "  g #2 = 7\n"
	       "f #1 = 7\n");
}
END_TEST

START_TEST(never_returning)
{
	enter(&quit, 10, 0);
	expect("quit #1\nquit #1 never returns\n");
	ck_assert_uint_eq(running(), 0);
	ck_assert_ptr_null(s.own->sites);
}
END_TEST

/* What lies on top of the stack at _start is no return address. */
START_TEST(return_address_that_is_none)
{
	uint8_t before = *(uint8_t *)slot(100);

	enter_as(s.task, &f, slot(10), slot(100));
	enter_as(s.task, &g, slot(10), 1);
	expect("f #1\nf #1 never returns\ng #2\ng #2 never returns\n");
	ck_assert_uint_eq(*(uint8_t *)slot(100), before);
	ck_assert_uint_eq(prober_counts(s.prober).failed_returns, 0);
}
END_TEST

/* An int3 is there already that isn't ours. */
START_TEST(return_that_cannot_be_trapped)
{
	ck_assert(!mprotect(s.code, PAGE, PROT_READ | PROT_WRITE));
	*(uint8_t *)site(0) = 0xcc;
	ck_assert(!mprotect(s.code, PAGE, PROT_READ | PROT_EXEC));
	enter(&f, 10, 0);
	expect("f #1\nf #1 unseen\n");
	ck_assert_uint_eq(prober_counts(s.prober).failed_returns, 1);
}
END_TEST

/* Code runs over a return site without a call; the last one takes it away. */
START_TEST(site_hit_for_nothing)
{
	enter(&f, 10, 0);
	ck_assert_uint_eq(*(uint8_t *)site(0), 0xcc);
	leave(20, 0, 0);
	leave(9, 0, 0);
	expect("f #1\n");
	leave(10, 0, 5);
	expect("f #1 = 5\n");
	ck_assert_uint_eq(*(uint8_t *)site(0), 0xcc);
	leave(10, 0, 0);
	expect("");
	ck_assert_uint_eq(*(uint8_t *)site(0), 0x90);
	enter(&f, 10, 0);
	leave(10, 0, 6);
	expect("f #2\nf #2 = 6\n");
}
END_TEST

/* The right frame, but another way back: that was another call. */
START_TEST(other_return_address)
{
	enter(&f, 10, 0);
	enter(&g, 20, 1);
	leave(10, 1, 0);
	expect("f #1\n  g #2\n");
	leave(20, 1, 2);
	leave(10, 0, 1);
	expect("  g #2 = 2\nf #1 = 1\n");
}
END_TEST

/* The module that would be returned to was unloaded, by dlclose. */
START_TEST(site_that_vanished)
{
	enter(&f, 10, 0);
	enter(&g, 20, 1);
	engines_forget_range(s.own, site(1), site(2));
	trap_forget_range(s.space, site(1), site(2));
	leave(20, 1, 0);
	expect("f #1\n  g #2\n");
	leave(10, 0, 1);
	expect("f #1 = 1\n");
	task_free(&s.tracer, s.task);
	expect("  g #2 process ended\n");
}
END_TEST

START_TEST(end_of_thread)
{
	struct task *other = add_task(s.tracee, getpid());

	enter(&f, 10, 0);
	enter_as(other, &h, slot_of(1, 10), site(0));
	enter(&g, 20, 1);
	task_free(&s.tracer, s.task);
	expect("f #1\nh #2\n  g #3\n"
	       "  g #3 thread exited\nf #1 thread exited\n");
	leave_as(other, slot_of(1, 10), 0, 8);
	expect("h #2 = 8\n");
}
END_TEST

START_TEST(end_of_process)
{
	(void)add_task(s.tracee, getpid());
	enter(&f, 10, 0);
	s.task->end_status = SIGKILL;
	task_free(&s.tracer, s.task);
	expect("f #1\nf #1 process ended\n");
}
END_TEST

/* The other thread is gone, too. */
START_TEST(end_of_process_by_exit)
{
	(void)add_task(s.tracee, INT_MAX);
	enter(&f, 10, 0);
	task_free(&s.tracer, s.task);
	expect("f #1\nf #1 process ended\n");
}
END_TEST

START_TEST(detached)
{
	enter(&f, 10, 0);
	enter(&g, 10, 0);
	prober_abandon_all(s.prober, &s.tracer);
	expect("f #1\n  g #2\n  g #2 detached\nf #1 detached\n");
	ck_assert_uint_eq(running(), 0);
}
END_TEST

/* ---- longjmp and exceptions ---- */

START_TEST(longjmp_seen)
{
	enter(&f, 10, 0);
	enter(&g, 20, 1);
	enter(&h, 30, 2);
	expect("f #1\n  g #2\n    h #3\n");
	jump(40, slot(15));
	expect("    h #3 longjmp\n  g #2 longjmp\n");
	enter(&g, 20, 1);
	leave(20, 1, 5);
	leave(10, 0, 4);
	expect("  g #4\n  g #4 = 5\nf #1 = 4\n");
}
END_TEST

/* glibc's form: rotated, and mixed with a word of the thread's. */
START_TEST(longjmp_mangled)
{
	uint64_t guard = 0x1badc0dedeadbeef, target = slot(15) ^ guard;

	s.jmp_buf[SLOT_OF_SP] = 0;
	enter(&f, 10, 0);
	enter(&g, 20, 1);
	s.task->regs.user.rdi = (uintptr_t)s.jmp_buf;
	s.jmp_buf[SLOT_OF_SP] = target << 17 | target >> 47;
	write_word(slot(1), guard);
	s.task->regs.user.fs_base = slot(1) - 0x30;
	hit(s.task, (uintptr_t)s.code + LONGJMP, slot(40));
	expect("f #1\n  g #2\n  g #2 longjmp\n");
	leave(10, 0, 1);
	expect("f #1 = 1\n");
}
END_TEST

/* Its return address still lies there; what is called from above it isn't within it. */
START_TEST(group_left_unseen)
{
	enter(&f, 5, 0);
	enter(&outer, 20, 1);
	enter(&inner, 30, 2);
	enter(&inner, 10, 3);
	leave(10, 3, 1);
	enter(&inner, 30, 2);
	leave(30, 2, 2);
	enter(&outer, 15, 3);
	enter(&inner, 30, 2);
	leave(15, 3, 3);
	leave(5, 0, 4);
	expect("f #1\n  outer #2\n    inner #3\n    inner #3 = 1\n"
	       "    inner #4\n    inner #4 = 2\n    outer #5\n"
	       "    outer #5 = 3\nf #1 = 4\n");
}
END_TEST

/* Handlers and coroutines may be above it elsewhere. */
START_TEST(group_on_two_stacks)
{
	enter_as(s.task, &outer, slot_of(0, 20), site(1));
	enter_as(s.task, &inner, slot_of(1, 10), site(2));
	enter_as(s.task, &inner, slot_of(0, 30), site(2));
	leave_as(s.task, slot_of(0, 20), 1, 1);
	expect("outer #1\nouter #1 = 1\n");
}
END_TEST

/* To a coroutine: nothing is thrown away here, or there. */
START_TEST(longjmp_to_another_stack)
{
	enter(&f, 10, 0);
	enter_as(s.task, &g, slot_of(1, 10), site(1));
	jump(40, slot_of(1, 5));
	expect("f #1\n  g #2\n");
	leave_as(s.task, slot_of(1, 10), 1, 2);
	leave(10, 0, 1);
	expect("  g #2 = 2\nf #1 = 1\n");
}
END_TEST

/* Without a word (swapcontext, a longjmp in assembler): by what is left. */
START_TEST(frame_entered_again)
{
	enter(&f, 10, 0);
	enter(&g, 20, 1);
	enter(&h, 20, 2);
	expect("f #1\n  g #2\n  g #2 longjmp\n  h #3\n");
	leave(20, 2, 3);
	leave(10, 0, 1);
	expect("  h #3 = 3\nf #1 = 1\n");
}
END_TEST

START_TEST(frame_overwritten)
{
	enter(&f, 10, 0);
	enter(&g, 30, 1);
	enter(&h, 40, 2);
	write_word(slot(30), 0);
	write_word(slot(40), 0);
	enter(&h, 20, 3);
	expect("f #1\n  g #2\n    h #3\n"
	       "    h #3 longjmp\n  g #2 longjmp\n  h #4\n");
	write_word(slot(30), 0);
	leave(20, 3, 4);
	leave(10, 0, 1);
	expect("  h #4 = 4\nf #1 = 1\n");
}
END_TEST

/* The caller returns, and those that it called never did. */
START_TEST(frames_below_a_return)
{
	enter(&f, 10, 0);
	enter(&g, 20, 1);
	enter(&h, 30, 2);
	write_word(slot(20), 0);
	write_word(slot(30), 0);
	leave(10, 0, 1);
	expect("f #1\n  g #2\n    h #3\n"
	       "    h #3 longjmp\n  g #2 longjmp\nf #1 = 1\n");
	ck_assert_uint_eq(running(), 0);
}
END_TEST

/* vfork, for one, takes its return address off the stack while it runs. */
START_TEST(frame_above_overwritten)
{
	enter(&f, 10, 0);
	write_word(slot(10), 0);
	enter(&g, 20, 1);
	leave(20, 1, 2);
	write_word(slot(10), site(0));
	leave(10, 0, 1);
	expect("f #1\n  g #2\n  g #2 = 2\nf #1 = 1\n");
}
END_TEST

/* The same call from the same place: was thrown away, is no tail call. */
START_TEST(retried_after_longjmp)
{
	enter(&f, 10, 0);
	for (unsigned i = 0; i < 2; i++) {
		enter(&g, 20, 1);
		jump(40, slot(15));
	}
	enter(&g, 20, 1);
	leave(20, 1, 2);
	leave(10, 0, 1);
	expect("f #1\n  g #2\n  g #2 longjmp\n  g #3\n  g #3 longjmp\n"
	       "  g #4\n  g #4 = 2\nf #1 = 1\n");
}
END_TEST

START_TEST(exception_with_destructors)
{
	enter(&f, 10, 0);
	enter(&g, 20, 1);
	enter(&h, 30, 2);
	throw(40);
	expect("f #1\n  g #2\n    h #3\n");
	/* A destructor runs below, and throws and catches on its own. */
	enter(&h, 50, 3);
	leave(50, 3, 9);
	expect("      h #4\n      h #4 = 9\n");
	/* f's handler. */
	enter(&h, 16, 4);
	expect("    h #3 exception\n  g #2 exception\n  h #5\n");
	leave(16, 4, 6);
	leave(10, 0, 1);
	expect("  h #5 = 6\nf #1 = 1\n");
}
END_TEST

/* Its memory is read by whoever stood last; what a thread has recorded is told of
   without a stop of anybody. */
START_TEST(stack_is_one_when_who_stood_last_has_ended)
{
	const pid_t old = s.space->memory.pid, ended = fork();
	const struct moment moment = {
		.space = s.own,
		.pid = getpid(),
		.tid = getpid(),
		.past = true,
	};

	if (!ended)
		_exit(0);
	ck_assert_int_eq(waitpid(ended, NULL, 0), ended);
	s.own->mapping_low = s.own->mapping_high = 0;
	space_use_task(s.space, ended);
	ck_assert(mapping_is_one(&moment, s.stack[0] - 64, s.stack[0] - 8));
	ck_assert(!mapping_is_one(&moment, s.stack[0] - 64, s.stack[1] - 8));
	space_use_task(s.space, old);
}
END_TEST

/* The catcher is in the midst of a call: that one has not been thrown away. */
START_TEST(exception_caught_inside)
{
	enter(&f, 10, 0);
	enter(&g, 20, 1);
	enter(&h, 30, 2);
	throw(40);
	leave(20, 1, 2);
	expect("f #1\n  g #2\n    h #3\n    h #3 exception\n  g #2 = 2\n");
	/* Over: who is abandoned from now on was not by the exception. */
	enter(&g, 20, 1);
	write_word(slot(20), 0);
	leave(10, 0, 1);
	expect("  g #4\n  g #4 longjmp\nf #1 = 1\n");
}
END_TEST

/* A call in a try block of a loop. */
START_TEST(retried_after_exception)
{
	enter(&f, 10, 0);
	for (unsigned i = 0; i < 2; i++) {
		enter(&g, 20, 1);
		throw(40);
	}
	enter(&g, 20, 1);
	leave(20, 1, 2);
	leave(10, 0, 1);
	expect("f #1\n  g #2\n  g #2 exception\n  g #3\n  g #3 exception\n"
	       "  g #4\n  g #4 = 2\nf #1 = 1\n");
}
END_TEST

START_TEST(end_of_thread_by_unwinding)
{
	enter(&f, 10, 0);
	enter(&g, 20, 1);
	hit(s.task, (uintptr_t)s.code + FORCED_UNWIND, slot(40));
	enter(&h, 5, 2);
	expect("f #1\n  g #2\n"
	       "  g #2 thread exited\nf #1 thread exited\nh #3\n");
	leave(5, 2, 3);
	expect("h #3 = 3\n");
}
END_TEST

/* An exception on one stack is no end for the calls of another. */
START_TEST(exception_on_another_stack)
{
	enter(&f, 10, 0);
	throw(40);
	enter_as(s.task, &g, slot_of(1, 10), site(1));
	leave_as(s.task, slot_of(1, 10), 1, 2);
	leave(10, 0, 1);
	expect("f #1\n  g #2\n  g #2 = 2\nf #1 = 1\n");
}
END_TEST

/* ---- more than one stack, task, process ---- */

static void run_coroutines(unsigned a, unsigned b)
{
	enter_as(s.task, &f, slot_of(a, 10), site(0));
	enter_as(s.task, &g, slot_of(b, 10), site(1));
	enter_as(s.task, &h, slot_of(a, 20), site(2));
	enter_as(s.task, &h, slot_of(b, 20), site(2));
	leave_as(s.task, slot_of(a, 20), 2, 3);
	leave_as(s.task, slot_of(a, 10), 0, 1);
	leave_as(s.task, slot_of(b, 20), 2, 4);
	leave_as(s.task, slot_of(b, 10), 1, 2);
	expect("f #1\n  g #2\n    h #3\n      h #4\n"
	       "    h #3 = 3\nf #1 = 1\n      h #4 = 4\n  g #2 = 2\n");
	ck_assert_uint_eq(task_calls_of(s.task)->stack.depth, 0);
}

START_TEST(coroutines_on_a_higher_stack)
{
	run_coroutines(0, 1);
}
END_TEST

START_TEST(coroutines_on_a_lower_stack)
{
	run_coroutines(1, 0);
}
END_TEST

START_TEST(coroutine_returns_on_another_task)
{
	struct task *other = add_task(s.tracee, 2);

	enter(&f, 10, 0);
	enter_as(other, &g, slot_of(1, 10), site(0));
	leave_as(other, slot(10), 0, 1);
	ck_assert_int_eq(s.records[0].tid, 1);
	ck_assert_int_eq(s.records[2].tid, 2);
	leave_as(s.task, slot_of(1, 10), 0, 2);
	ck_assert_int_eq(s.records[3].tid, 1);
	expect("f #1\ng #2\nf #1 = 1\ng #2 = 2\n");
	ck_assert_uint_eq(task_calls_of(s.task)->stack.depth, 0);
	ck_assert_uint_eq(task_calls_of(other)->stack.depth, 0);
	/* Its caller may end before it does. */
	enter(&f, 10, 0);
	task_free(&s.tracer, other);
	leave(10, 0, 3);
	expect("f #3\nf #3 = 3\n");
}
END_TEST

static struct task *add_vfork_child(void)
{
	struct tracee *child =
		tracee_new(&s.tracer, getpid() + 1, space_get(s.space));

	return add_task(child, 2);
}

/* Both come back from vfork, in one frame: the child's return isn't it. */
START_TEST(vfork_child)
{
	struct task *child = add_vfork_child();

	enter(&f, 10, 0);
	leave_as(child, slot(10), 0, 0);
	expect("f #1\n");
	enter_as(child, &g, slot(20), site(1));
	leave_as(child, slot(20), 1, 5);
	expect("g #2\ng #2 = 5\n");
	leave(10, 0, 77);
	expect("f #1 = 77\n");
}
END_TEST

/* It calls on from the very frame, and is done before its parent goes on. */
START_TEST(vfork_child_in_the_same_frame)
{
	struct task *child = add_vfork_child();

	enter(&f, 10, 0);
	leave_as(child, slot(10), 0, 0);
	enter_as(child, &g, slot(10), site(1));
	leave_as(child, slot(10), 1, 5);
	enter_as(child, &quit, slot(10), site(2));
	expect("f #1\ng #2\ng #2 = 5\nquit #3\nquit #3 never returns\n");
	/* The parent has kept its return address in a register. */
	write_word(slot(10), site(0));
	leave(10, 0, 77);
	expect("f #1 = 77\n");
}
END_TEST

/* ---- i386 ---- */

static void to_i386(void)
{
	s.space->arch = &arch_i386;
}

/* ret N takes the caller's arguments with it. */
START_TEST(i386_popped_arguments)
{
	static const unsigned popped[] = { 0, 4, 8, 12, 32, 64 };

	to_i386();
	enter(&f, 10, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(popped); i++) {
		enter(&g, 50, 1);
		leave_as(s.task, slot(50) + popped[i], 1, popped[i]);
	}
	leave(10, 0, 1);
	expect("f #1\n"
	       "  g #2\n  g #2 = 0\n"
	       "  g #3\n  g #3 = 4\n"
	       "  g #4\n  g #4 = 8\n"
	       "  g #5\n  g #5 = 12\n"
	       "  g #6\n  g #6 = 32\n"
	       "  g #7\n  g #7 = 64\n"
	       "f #1 = 1\n");
}
END_TEST

/* The innermost frame that it can be. */
START_TEST(i386_recursion_with_popped_arguments)
{
	to_i386();
	enter(&f, 10, 0);
	enter(&f, 13, 0);
	enter(&f, 16, 0);
	leave_as(s.task, slot(16) + 4, 0, 3);
	leave_as(s.task, slot(13) + 4, 0, 2);
	leave_as(s.task, slot(10) + 4, 0, 1);
	expect("f #1\n  f #2\n    f #3\n"
	       "    f #3 = 3\n  f #2 = 2\nf #1 = 1\n");
}
END_TEST

START_TEST(x86_64_pops_nothing)
{
	enter(&f, 10, 0);
	leave_as(s.task, slot(10) + 8, 0, 1);
	leave_as(s.task, slot(10) + 64, 0, 1);
	expect("f #1\n");
	leave(10, 0, 1);
	expect("f #1 = 1\n");
}
END_TEST

/* ---- stacks that are moved ---- */

struct goroutine {
	uint64_t low, high, others[4];
	uintptr_t thread; /* its data begin with the goroutine that starts others */
};

static const void *another;

static void go_on(struct goroutine *goroutine, unsigned stack)
{
	goroutine->thread = (uintptr_t)&another;
	s.own->is_go = s.flat = true;
	goroutine->low = s.stack[stack] - STACK_SIZE;
	goroutine->high = s.stack[stack];
	s.task->regs.user.r14 = (uintptr_t)goroutine;
}

START_TEST(moved_stack)
{
	struct goroutine goroutine;

	go_on(&goroutine, 0);
	enter(&f, 10, 0);
	enter(&g, 20, 1);
	/* runtime.newstack copies it, and g's prologue runs once more. */
	memcpy((void *)slot_of(1, 30), (void *)slot(30), 30 * 8);
	go_on(&goroutine, 1);
	enter_as(s.task, &g, slot_of(1, 20), site(1));
	expect("f #1\ng #2\n");
	leave_as(s.task, slot_of(1, 20), 1, 2);
	leave_as(s.task, slot_of(1, 10), 0, 1);
	expect("g #2 = 2\nf #1 = 1\n");
	ck_assert_uint_eq(running(), 0);
}
END_TEST

/* What another goroutine has at the same distance is another frame. */
START_TEST(two_goroutines)
{
	struct goroutine a, b;

	go_on(&a, 0);
	enter(&f, 10, 0);
	go_on(&b, 1);
	enter_as(s.task, &g, slot_of(1, 10), site(0));
	go_on(&a, 0);
	leave(10, 0, 1);
	go_on(&b, 1);
	leave_as(s.task, slot_of(1, 10), 0, 2);
	expect("f #1\ng #2\nf #1 = 1\ng #2 = 2\n");
}
END_TEST

/* On the system stack r14 may hold anything: the slot itself is the key. */
START_TEST(not_on_a_goroutine)
{
	struct goroutine goroutine;

	go_on(&goroutine, 1);
	enter(&f, 10, 0);
	s.task->regs.user.r14 = 1;
	leave(10, 0, 1);
	expect("f #1\nf #1 = 1\n");
}
END_TEST

/* C's functions are called there, and what the agent tells of has no registers. */
START_TEST(on_a_thread_s_own_stack)
{
	struct goroutine goroutine;
	const void *first = &goroutine;

	go_on(&goroutine, 0);
	goroutine.thread = (uintptr_t)&first;
	enter(&f, 10, 0);
	s.task->regs.user.r14 = 1;
	leave(10, 0, 1);
	expect("f #1\nf #1 = 1\n");
}
END_TEST

/* ---- at random, against a model ---- */

struct fake_frame {
	uint64_t id;
	taddr_t at;
	unsigned to;
};

struct fiber {
	struct fake_frame frames[64];
	unsigned depth;
};

static uint64_t seed = 88172645463325252ull;

static unsigned random_below(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % n;
}

static taddr_t top_of(const struct fiber *fiber, unsigned stack)
{
	return fiber->depth ? fiber->frames[fiber->depth - 1].at :
			      slot_of(stack, 1);
}

static void model_enter(struct fiber *fiber, unsigned stack, struct task *task)
{
	static const struct function *const all[] = { &f, &g, &h };
	struct fake_frame *frame = &fiber->frames[fiber->depth];

	frame->at = top_of(fiber, stack) - 8 * (2 + random_below(9));
	frame->to = random_below(16);
	fiber->depth++;
	enter_as(task, all[random_below(3)], frame->at, site(frame->to));
	frame->id = s.prober->last_call_id;
}

static void model_leave(struct fiber *fiber, struct task *task)
{
	const struct fake_frame *frame = &fiber->frames[--fiber->depth];
	size_t last;

	leave_as(task, frame->at, frame->to, frame->id * 3);
	ck_assert_uint_gt(s.count, 0);
	last = s.count - 1;
	ck_assert(s.records[last].kind == EVENT_RETURN);
	ck_assert_uint_eq(s.records[last].id, frame->id);
	ck_assert_uint_eq(s.records[last].result, frame->id * 3);
}

static bool is_on(const struct fiber *fiber, uint64_t id)
{
	for (unsigned i = 0; i < fiber->depth; i++)
		if (fiber->frames[i].id == id)
			return true;
	return false;
}

/* Whatever ended just now is on no stack of the model any more. */
static void check_ends(const struct fiber *fibers)
{
	for (size_t i = 0; i < s.count; i++) {
		if (s.records[i].kind != EVENT_CALL)
			ck_assert(!is_on(&fibers[0], s.records[i].id) &&
				  !is_on(&fibers[1], s.records[i].id));
	}
	s.count = 0;
}

static void model_jump(struct fiber *fiber)
{
	unsigned to = random_below(fiber->depth);
	struct task *task = s.task;

	s.jmp_buf[SLOT_OF_SP] = fiber->frames[to].at - 8;
	task->regs.user.rdi = (uintptr_t)s.jmp_buf;
	task->regs.user.fs_base = (uintptr_t)s.jmp_buf;
	hit(task, (uintptr_t)s.code + LONGJMP,
	    fiber->frames[fiber->depth - 1].at - 64);
	fiber->depth = to + 1;
}

/* Two coroutines that are run by two tasks in turn. */
START_TEST(random_walk)
{
	struct fiber fibers[2] = { 0 };
	struct task *tasks[2] = { s.task, add_task(s.tracee, 2) };

	for (unsigned i = 0; i < 100000; i++) {
		unsigned on = random_below(2), what = random_below(16);
		struct fiber *fiber = &fibers[on];
		struct task *task = tasks[random_below(2)];

		if (what < 8 && fiber->depth < ARRAY_SIZE(fiber->frames))
			model_enter(fiber, on, task);
		else if (fiber->depth)
			model_leave(fiber, task);
		check_ends(fibers);
	}
	while (fibers[0].depth)
		model_leave(&fibers[0], tasks[1]);
	while (fibers[1].depth)
		model_leave(&fibers[1], tasks[0]);
	ck_assert_uint_eq(running(), 0);
}
END_TEST

/* One task, one stack, and longjmp: every call ends once. */
START_TEST(random_jumps)
{
	struct fiber fibers[2] = { 0 };
	struct fiber *fiber = &fibers[0];

	for (unsigned i = 0; i < 100000; i++) {
		unsigned what = random_below(16);

		if (what < 9 && fiber->depth < ARRAY_SIZE(fiber->frames))
			model_enter(fiber, 0, s.task);
		else if (what == 9 && fiber->depth)
			model_jump(fiber);
		else if (fiber->depth)
			model_leave(fiber, s.task);
		check_ends(fibers);
		ck_assert_uint_eq(running(), fiber->depth);
		ck_assert_uint_eq(task_calls_of(s.task)->stack.depth,
				  fiber->depth);
	}
}
END_TEST

static TCase *own_tcase(Suite *suite, const char *name)
{
	TCase *tcase = tcase_create(name);

	tcase_add_checked_fixture(tcase, setup, teardown);
	suite_add_tcase(suite, tcase);
	return tcase;
}

static void add_calls(Suite *suite)
{
	TCase *tcase = own_tcase(suite, "calls");

	tcase_add_test(tcase, nesting);
	tcase_add_test(tcase, one_place_many_times);
	tcase_add_test(tcase, recursion);
	tcase_add_test(tcase, tail_calls);
	tcase_add_test(tcase, groups);
	tcase_add_test(tcase, entry_only);
	tcase_add_test(tcase, never_returning);
	tcase_add_test(tcase, return_address_that_is_none);
	tcase_add_test(tcase, return_that_cannot_be_trapped);
	tcase_add_test(tcase, site_hit_for_nothing);
	tcase_add_test(tcase, other_return_address);
	tcase_add_test(tcase, site_that_vanished);
	tcase_add_test(tcase, end_of_thread);
	tcase_add_test(tcase, end_of_process);
	tcase_add_test(tcase, end_of_process_by_exit);
	tcase_add_test(tcase, detached);
}

static void add_nonlocal_exits(Suite *suite)
{
	TCase *tcase = own_tcase(suite, "nonlocal exits");

	tcase_add_test(tcase, longjmp_seen);
	tcase_add_test(tcase, longjmp_mangled);
	tcase_add_test(tcase, group_left_unseen);
	tcase_add_test(tcase, group_on_two_stacks);
	tcase_add_test(tcase, longjmp_to_another_stack);
	tcase_add_test(tcase, frame_entered_again);
	tcase_add_test(tcase, frame_overwritten);
	tcase_add_test(tcase, frame_above_overwritten);
	tcase_add_test(tcase, frames_below_a_return);
	tcase_add_test(tcase, retried_after_longjmp);
	tcase_add_test(tcase, exception_with_destructors);
	tcase_add_test(tcase, stack_is_one_when_who_stood_last_has_ended);
	tcase_add_test(tcase, exception_caught_inside);
	tcase_add_test(tcase, retried_after_exception);
	tcase_add_test(tcase, end_of_thread_by_unwinding);
	tcase_add_test(tcase, exception_on_another_stack);
}

static void add_stacks(Suite *suite)
{
	TCase *tcase = own_tcase(suite, "stacks and processes");

	tcase_add_test(tcase, coroutines_on_a_higher_stack);
	tcase_add_test(tcase, coroutines_on_a_lower_stack);
	tcase_add_test(tcase, coroutine_returns_on_another_task);
	tcase_add_test(tcase, vfork_child);
	tcase_add_test(tcase, vfork_child_in_the_same_frame);
	tcase_add_test(tcase, i386_popped_arguments);
	tcase_add_test(tcase, i386_recursion_with_popped_arguments);
	tcase_add_test(tcase, x86_64_pops_nothing);
	tcase_add_test(tcase, moved_stack);
	tcase_add_test(tcase, two_goroutines);
	tcase_add_test(tcase, not_on_a_goroutine);
	tcase_add_test(tcase, on_a_thread_s_own_stack);
}

static void add_random_tests(Suite *suite)
{
	TCase *tcase = own_tcase(suite, "at random");

	tcase_add_test(tcase, random_walk);
	tcase_add_test(tcase, random_jumps);
}

static Suite *pairing_suite(void)
{
	Suite *suite = suite_create("pairing");

	add_calls(suite);
	add_nonlocal_exits(suite);
	add_stacks(suite);
	add_random_tests(suite);
	return suite;
}

int main(void)
{
	return unit_run(pairing_suite());
}
