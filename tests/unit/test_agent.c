/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "agent/callable.h"
#include "agent/capture.h"
#include "agent/private.h"
#include "agent/remains.h"
#include "agent/replaceable.h"
#include "agent/returns.h"
#include "agent/ring.h"
#include "agent/room.h"
#include "agent/shared.h"
#include "agent/stub.h"
#include "agent/ticks.h"
#include "base/clock.h"
#include "probe/agent_private.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/x86_64/agent/image.h"
#include "sysdeps/x86_64/agent/marks.h"
#include "tracee/space.h"
#include "tracee/syscall.h"
#include "unit.h"

/*
 * The agent in the test's own process, mapped as it is in others, called
 * through a pointer that stands for a slot.
 */

static char *base;
static struct agent_gate *gate;
static struct shared shared;

typedef long function(long, long, long, long, long, long);
static function *volatile slot;

static long volatile calls_of_original;

static __attribute__((noinline)) long original(long a, long b, long c, long d,
					       long e, long f)
{
	__atomic_fetch_add(&calls_of_original, 1, __ATOMIC_RELAXED);
	/* Some of them are whatever a register had: without overflow. */
	return (unsigned long)a + 10UL * b + 100UL * c + 1000UL * d +
	       10000UL * e + 100000UL * f;
}

/* Where boot goes on, called like a function. */
__asm__(".text\nreturns:\n\tret\n");
extern char returns[];

static void write_code(void *to, const void *bytes, size_t size)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	ck_assert_int_eq(pwrite(fd, bytes, size, (off_t)(uintptr_t)to),
			 (ssize_t)size);
	close(fd);
}

static char *boot_of(uint64_t turn)
{
	return base + ((struct agent_header *)base)->boot +
	       turn * AGENT_BOOT_SIZE;
}

static void write_way(uint64_t turn, const struct agent_saved *saved,
		      const void *place)
{
	const struct agent_way way = {
		.saved = *saved,
		.place = (uintptr_t)place,
		.exit = (uintptr_t)boot_of(turn) + AGENT_BOOT_EXIT,
	};

	write_code(base + AGENT_BOOTS_OFFSET +
			   turn * sizeof(struct agent_boot_room) +
			   offsetof(struct agent_boot_room, way),
		   &way, sizeof(way));
}

static void boot(uint64_t what)
{
	const struct agent_saved any = { 0 };

	struct agent_header header = *(struct agent_header *)base;
	struct stat file = { 0 };

	if (what == AGENT_BOOT_CLOSE)
		ck_assert_int_eq(fstat(shared.fd, &file), 0);
	header.boot_what = what;
	header.shared_size = shared_size();
	header.boot_fd = (uint64_t)gate->boot_result;
	header.boot_device = file.st_dev;
	header.boot_inode = file.st_ino;
	header.boot_turn = (header.boot_turn + 1) % AGENT_BOOTS;
	write_way(header.boot_turn, &any, returns);
	write_code(base, &header, sizeof(header));
	((void (*)(void))boot_of(header.boot_turn))();
}

static void map_agent(void)
{
	const size_t size = AGENT_SHARED_OFFSET + shared_size();

	base = mmap(NULL, size, PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(base, MAP_FAILED);
	gate = (void *)(base + AGENT_GATE_OFFSET);
	write_code(base, agent_image, agent_image_size);
	boot(AGENT_BOOT_MAP);
	ck_assert_uint_eq(gate->booted, AGENT_BOOT_MAP);
	ck_assert_int_ge(gate->boot_result, 0);
}

/* Where the C library keeps a thread's number; 0: not where glibc does. */
static int64_t tid_offset(void)
{
	const char *thread;
	pid_t tid;

	__asm__("mov %%fs:0, %0" : "=r"(thread));
	memcpy(&tid, thread + 720, sizeof(tid));
	return tid == (pid_t)syscall(SYS_gettid) ? 720 : 0;
}

static void open_gate(uint64_t mode)
{
	struct ticks ticks;

	ticks_begin(&ticks);
	ticks_gauge(&ticks);
	gate->mode = mode;
	gate->patience = ticks_in(&ticks, 60000000000ull);
	gate->blocks = shared_blocks_offset();
	gate->block_size = shared_block_size();
	gate->ring_words = SHARED_RING_WORDS;
	gate->tid_offset = tid_offset();
	shared_beat(&shared);
	gate->on = 1;
}

static void hook(unsigned index, void *function_to_hook, unsigned arguments,
		 unsigned failure)
{
	struct stub_config config = {
		.base = (uintptr_t)base,
		.index = index,
		.function = (uintptr_t)function_to_hook,
		.arguments = arguments,
		.failure = failure,
	};
	struct agent_stub stub;

	ck_assert_int_eq(stub_make(&config, &stub), 0);
	write_code(base + AGENT_STUBS_OFFSET + index * AGENT_STUB_SIZE, &stub,
		   sizeof(stub));
	slot = (function *)stub_address(config.base, index);
}

static void set_up(uint64_t mode)
{
	calls_of_original = 0;
	map_agent();
	ck_assert_int_eq(shared_open(&shared, dup(gate->boot_result), mode), 0);
	boot(AGENT_BOOT_CLOSE);
	ck_assert_int_eq(fcntl(gate->boot_result, F_GETFD), -1);
	ck_assert_int_eq(shared_prepare(&shared, 2), 0);
	hook(0, original, 6, AGENT_FAILS_NEVER);
	open_gate(mode);
}

/* Its number is another file's by now. */
START_TEST(what_the_program_has_opened_stays_open)
{
	int fd, other[2];

	map_agent();
	fd = (int)gate->boot_result;
	ck_assert_int_eq(shared_open(&shared, dup(fd), AGENT_COUNTS), 0);
	ck_assert_int_eq(pipe(other), 0);
	ck_assert_int_eq(dup2(other[0], fd), fd);
	boot(AGENT_BOOT_CLOSE);
	ck_assert_uint_eq(gate->booted, AGENT_BOOT_CLOSE);
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
	close(fd);
	close(other[0]);
	close(other[1]);
	shared_close(&shared);
	munmap(base, AGENT_SHARED_OFFSET + shared_size());
}
END_TEST

static bool is_open(void)
{
	char path[64], link[64] = "";
	bool found = false;
	int fd;

	for (fd = 0; fd < 64 && !found; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, link, sizeof(link) - 1) > 0)
			found = strstr(link, "calltrap-agent");
	}
	return found;
}

/* Nobody has to come a second time, be it to a new one or one that was left. */
START_TEST(what_is_mapped_at_once_is_closed_at_once)
{
	const size_t size = AGENT_SHARED_OFFSET + shared_size();

	map_agent();
	ck_assert(is_open());
	close((int)gate->boot_result);
	gate->booted = 0;
	boot(AGENT_BOOT_SHARE | AGENT_BOOT_AT_ONCE);
	ck_assert_uint_eq(gate->booted, AGENT_BOOT_SHARE);
	ck_assert_int_ge(gate->boot_result, 0);
	ck_assert(!is_open());
	gate->booted = 0;
	boot(AGENT_BOOT_MAP | AGENT_BOOT_AT_ONCE);
	ck_assert_uint_eq(gate->booted, AGENT_BOOT_MAP);
	ck_assert(!is_open());
	munmap(base, size);
}
END_TEST

/* A trap, for now. */
__asm__(".text\ntrapped:\n\tint3\n\tmov %rdi, %rax\n\tret\n");
long trapped(long x);

static void *lift_later(void *argument)
{
	usleep(20000);
	write_code((void *)(uintptr_t)trapped, "\x90", 1);
	return argument;
}

START_TEST(a_trap_that_nobody_serves_is_waited_at)
{
	pthread_t thread;

	map_agent();
	ck_assert_int_eq(pthread_create(&thread, NULL, lift_later, NULL), 0);
	errno = 99;
	ck_assert_int_eq(trapped(0x123456789abcdef), 0x123456789abcdef);
	ck_assert_int_eq(errno, 99);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

/* How the child ends that does this where an agent is. */
static int status_of(void (*act)(void))
{
	const pid_t child = fork();
	int status;

	if (!child) {
		act();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status;
}

static void run_into_own(void)
{
	__asm__ volatile("int3");
}

/* What follows would be another instruction with the second of its bytes. */
static void run_into_long_one(void)
{
	__asm__ volatile(".byte 0xcd, 3, 0xc0, 0x90" : : : "rax", "cc");
}

static void run_into_two_bytes(void)
{
	__asm__ volatile(".byte 0xcd, 3");
}

static void get_one(void)
{
	raise(SIGTRAP);
}

/* From here on. */
static void refuse(unsigned number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { ARRAY_SIZE(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		_exit(1);
}

static void run_into_own_unqueued(void)
{
	refuse(SYS_rt_tgsigqueueinfo);
	run_into_own();
}

static void run_into_own_unset(void)
{
	refuse(SYS_rt_sigaction);
	run_into_own();
}

static void get_one_unqueued(void)
{
	refuse(SYS_rt_tgsigqueueinfo);
	get_one();
}

START_TEST(a_trap_of_the_program_kills_it)
{
	void (*const acts[])(void) = {
		run_into_own,          run_into_long_one,  get_one,
		run_into_own_unqueued, run_into_own_unset, get_one_unqueued,
	};
	size_t i;

	map_agent();
	for (i = 0; i < ARRAY_SIZE(acts); i++) {
		const int status = status_of(acts[i]);

		ck_assert_msg(WIFSIGNALED(status) &&
				      WTERMSIG(status) == SIGTRAP,
			      "%zu: status %#x", i, (unsigned)status);
	}
}
END_TEST

static bool handled_by_agent(void)
{
	struct sigaction action;

	ck_assert_int_eq(sigaction(SIGTRAP, NULL, &action), 0);
	return (uintptr_t)action.sa_handler - (uintptr_t)base < AGENT_CODE_SIZE;
}

static volatile sig_atomic_t own_traps;

static void count(int signal)
{
	(void)signal;
	own_traps++;
}

static void handle_alone(void)
{
	struct sigaction action;

	ck_assert_int_eq(sigaction(SIGTRAP, NULL, &action), 0);
	ck_assert_ptr_eq(action.sa_handler, count);
	ck_assert_int_eq(action.sa_flags & SA_RESTART, SA_RESTART);
	ck_assert(sigismember(&action.sa_mask, SIGUSR1));
	ck_assert(!sigismember(&action.sa_mask, SIGUSR2));
}

static void set_own_handler(void)
{
	struct sigaction action = { .sa_handler = count,
				    .sa_flags = SA_RESTART };

	own_traps = 0;
	sigaddset(&action.sa_mask, SIGUSR1);
	ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
}

/* Not of those that calltrap has left behind. */
START_TEST(who_handles_traps_is_told_of_its_own)
{
	void (*const acts[])(void) = { run_into_own, run_into_two_bytes,
				       get_one };
	pthread_t thread;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(acts); i++) {
		set_own_handler();
		map_agent();
		ck_assert(handled_by_agent());
		ck_assert_int_eq(pthread_create(&thread, NULL, lift_later,
						NULL),
				 0);
		ck_assert_int_eq(trapped(77), 77);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
		write_code((void *)(uintptr_t)trapped, "\xcc", 1);
		ck_assert_int_eq(own_traps, 0);
		ck_assert(handled_by_agent());
		acts[i]();
		ck_assert_int_eq(own_traps, 1);
		handle_alone();
		acts[i]();
		ck_assert_int_eq(own_traps, 2);
		signal(SIGTRAP, SIG_DFL);
		boot(AGENT_BOOT_SHARE);
		ck_assert(handled_by_agent());
		signal(SIGTRAP, SIG_DFL);
		munmap(base, AGENT_SHARED_OFFSET + shared_size());
	}
}
END_TEST

/* What it runs would no longer do so. */
START_TEST(who_ignores_traps_goes_on_with_that)
{
	struct sigaction action;

	signal(SIGTRAP, SIG_IGN);
	map_agent();
	ck_assert_int_eq(sigaction(SIGTRAP, NULL, &action), 0);
	ck_assert_ptr_eq(action.sa_handler, SIG_IGN);
	signal(SIGTRAP, SIG_DFL);
}
END_TEST

/* A coroutine's would be too small for that, and the program has said so. */
static uintptr_t ran_at;

static void note_stack(int signal)
{
	(void)signal;
	ran_at = (uintptr_t)&signal;
}

START_TEST(handlers_run_where_the_programs_own_would)
{
	static char memory[65536];
	const stack_t other = { .ss_sp = memory, .ss_size = sizeof(memory) };
	struct sigaction action = { .sa_handler = note_stack,
				    .sa_flags = SA_ONSTACK };

	ck_assert_int_eq(sigaltstack(&other, NULL), 0);
	ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
	map_agent();
	ck_assert_int_eq(sigaction(SIGTRAP, NULL, &action), 0);
	ck_assert_int_eq(action.sa_flags & SA_ONSTACK, SA_ONSTACK);
	ck_assert(handled_by_agent());
	run_into_own();
	ck_assert_uint_lt(ran_at - (uintptr_t)memory, sizeof(memory));
	signal(SIGTRAP, SIG_DFL);
}
END_TEST

/* Its gate is zeros. */
static void wait_at_one(void)
{
	pthread_t thread;

	if (gate->on || pthread_create(&thread, NULL, lift_later, NULL) ||
	    trapped(3) != 3)
		_exit(1);
}

START_TEST(a_child_waits_at_a_trap_as_well)
{
	map_agent();
	gate->on = 1;
	ck_assert_int_eq(status_of(wait_at_one), 0);
}
END_TEST

static void tear_down(void)
{
	shared_close(&shared);
	munmap(base, AGENT_SHARED_OFFSET + shared_size());
}

static bool there_is_no_room(void *context, uint64_t bytes)
{
	ck_assert_uint_eq(bytes, shared_block_size());
	++*(unsigned *)context;
	return false;
}

/* As if threads had them. */
static void take_offers(void)
{
	memset(shared.memory->offers, 0, sizeof(shared.memory->offers));
}

START_TEST(no_block_is_added_where_there_is_no_room)
{
	unsigned blocks, asked = 0;

	set_up(AGENT_COUNTS);
	blocks = shared.blocks;
	ck_assert_uint_eq(shared_least(), shared_blocks_offset() +
						  blocks * shared_block_size());
	take_offers();
	shared_beat(&shared);
	ck_assert_uint_gt(shared.blocks, blocks);
	ck_assert_uint_eq(shared.memory->more, 1);

	blocks = shared.blocks;
	shared.has_room = there_is_no_room;
	shared.context = &asked;
	take_offers();
	shared_beat(&shared);
	shared_beat(&shared);
	ck_assert_uint_eq(shared.blocks, blocks);
	ck_assert_uint_eq(shared.memory->more, 0);
	ck_assert_uint_eq(asked, 1);
	tear_down();
}
END_TEST

static uint64_t counted(unsigned stub)
{
	struct agent_counter counter;

	shared_counter(&shared, stub, &counter);
	return counter.calls;
}

/* ---- what has been recorded ---- */

#define KEPT 64

static struct {
	unsigned long count;
	unsigned long sum; /* of first arguments */
	pid_t tids[KEPT];
	struct agent_record records[KEPT];
	unsigned long entries;
	struct agent_watched entry; /* the last one */
} seen;

static void see(void *context, const struct agent_record *record)
{
	(void)context;
	if (seen.count < KEPT) {
		seen.tids[seen.count] = record->tid;
		seen.records[seen.count] = *record;
	}
	seen.count++;
	seen.sum += record->arguments[0];
}

static void see_entry(void *context, const struct agent_watched *entry)
{
	(void)context;
	seen.entries++;
	seen.entry = *entry;
}

static void read_all(void)
{
	shared_read(&shared, 1, see, see_entry, NULL);
}

/* Of a loop with four traps one may stand where the agent can get in. */
START_TEST(each_trap_of_a_loop_is_tried)
{
	struct tracee tracee = { .started = false };
	struct space space = { .awaited = 0 };
	struct task task = { .tracee = &tracee };
	struct agent agent = { .space = &space };
	unsigned tries[4] = { 0 };
	unsigned i, all = 0;

	for (i = 0; i < 1u << 24; i++)
		if (agent_is_due(&agent, &task)) {
			tries[i % 4]++;
			all++;
		}
	for (i = 0; i < 4; i++)
		ck_assert_uint_gt(tries[i], 0);
	ck_assert_uint_lt(all, 100);
}
END_TEST

START_TEST(a_call_is_recorded)
{
	uint64_t before, after;
	long result;

	set_up(AGENT_RECORDS);
	before = ticks_now();
	result = slot(1, 2, 3, 4, 5, 6);
	after = ticks_now();
	ck_assert_int_eq(result, 654321);
	ck_assert_int_eq(calls_of_original, 1);
	memset(&seen, 0, sizeof(seen));
	read_all();
	ck_assert_uint_eq(seen.count, 1);
	if (tid_offset())
		ck_assert_int_eq(seen.tids[0], (pid_t)syscall(SYS_gettid));
	ck_assert_uint_eq(seen.records[0].result, 654321);
	ck_assert_uint_eq(seen.records[0].argument_count, 6);
	for (unsigned i = 0; i < 6; i++)
		ck_assert_uint_eq(seen.records[0].arguments[i], i + 1);
	ck_assert(before <= seen.records[0].began);
	ck_assert(seen.records[0].began <= seen.records[0].ended);
	ck_assert(seen.records[0].ended <= after);
	ck_assert(seen.records[0].return_address >
			  (uintptr_t)a_call_is_recorded_fn &&
		  seen.records[0].return_address <
			  (uintptr_t)a_call_is_recorded_fn + 4096);
	ck_assert_uint_eq(shared_lost(&shared), 0);
	tear_down();
}
END_TEST

/* Reads on where less is left than what was told; returns whether there is more. */
static bool read_records_until(uint64_t told, uint64_t *until_ret)
{
	return shared_read_part(&shared, 1, told, see, see_entry, NULL,
				until_ret);
}

START_TEST(records_are_read_in_parts)
{
	uint64_t until = 0;
	unsigned calls, parts;
	bool more = true;

	set_up(AGENT_RECORDS);
	memset(&seen, 0, sizeof(seen));
	for (calls = 0; calls < 2000; calls++)
		ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	shared_begin_reading(&shared);
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321); /* another's */
	for (parts = 0; more; parts++) {
		const uint64_t told = until;
		const unsigned long before = seen.count;

		until = UINT64_MAX;
		more = read_records_until(told, &until);
		ck_assert_uint_gt(seen.count, before);
		ck_assert_uint_gt(until, told);
		ck_assert_int_eq(until == UINT64_MAX, !more);
		/* What was told reaches less far: another thread's turn. */
		ck_assert(!more || read_records_until(told, &until));
		ck_assert_uint_le(seen.count, before + 1000);
	}
	ck_assert_uint_gt(parts, 3);
	ck_assert_uint_eq(seen.count, calls);
	read_all();
	ck_assert_uint_eq(seen.count, calls + 1);
	ck_assert_uint_eq(shared_lost(&shared), 0);
	tear_down();
}
END_TEST

/* As when a handler has interrupted who writes one. */
static uint64_t *begin_record(struct agent_block *block, uint64_t *header)
{
	const uint64_t position = block->head;

	block->head += AGENT_RECORD_FIXED;
	*header = agent_record_header(position, AGENT_RECORD_FIXED);
	for (unsigned i = 0; i < AGENT_RECORD_FIXED; i++)
		block->ring[(position + i) & (SHARED_RING_WORDS - 1)] = 0;
	return &block->ring[position & (SHARED_RING_WORDS - 1)];
}

START_TEST(what_stands_behind_an_unfinished_record_is_read_once)
{
	struct agent_block *block;
	uint64_t *unfinished, header;

	set_up(AGENT_RECORDS);
	memset(&seen, 0, sizeof(seen));
	slot(1, 0, 0, 0, 0, 0);
	block = (void *)((char *)shared.rings[1].words -
			 offsetof(struct agent_block, ring));
	unfinished = begin_record(block, &header);
	slot(10, 0, 0, 0, 0, 0);
	read_all();
	ck_assert_uint_eq(seen.sum, 11);
	ck_assert_uint_lt(block->tail, block->head);
	slot(100, 0, 0, 0, 0, 0);
	read_all();
	read_all();
	ck_assert_uint_eq(seen.sum, 111);
	*unfinished = header;
	read_all();
	slot(1000, 0, 0, 0, 0, 0);
	read_all();
	ck_assert_uint_eq(seen.sum, 1111);
	ck_assert_uint_eq(seen.count, 5);
	ck_assert_uint_eq(block->tail, block->head);
	ck_assert_uint_eq(shared_lost(&shared), 0);
	tear_down();
}
END_TEST

/* A function's registers are what a call may change, and no more. */
START_TEST(registers_are_kept)
{
	uint64_t before[6], after[6];
	double real[2] = { 1.5, -2.5 }, real_after[2];
	uint64_t *at_before = before, *at_after = after;
	function *target;
	long result = 1;

	set_up(AGENT_RECORDS | AGENT_COUNTS | AGENT_DURATIONS);
	target = slot;
	__asm__ volatile(
		"movupd %[real], %%xmm5\n\t"
		"mov %%rbx, 0(%[before])\n\tmov %%rbp, 8(%[before])\n\t"
		"mov %%r12, 16(%[before])\n\tmov %%r13, 24(%[before])\n\t"
		"mov %%r14, 32(%[before])\n\tmov %%r15, 40(%[before])\n\t"
		"mov %[after], %%r14\n\tpush %%rbp\n\tmov %%rsp, %%rbp\n\t"
		"mov %%r14, 32(%[before])\n\tmov %%rbp, 8(%[before])\n\t"
		"and $-16, %%rsp\n\tcall *%[slot]\n\t"
		"mov %%rbx, 0(%%r14)\n\tmov %%rbp, 8(%%r14)\n\t"
		"mov %%r12, 16(%%r14)\n\tmov %%r13, 24(%%r14)\n\t"
		"mov %%r14, 32(%%r14)\n\tmov %%r15, 40(%%r14)\n\t"
		"mov %%rbp, %%rsp\n\tpop %%rbp\n\t"
		"movupd %%xmm5, %[real_after]\n\t"
		: "+a"(result), [before] "+S"(at_before), [after] "+D"(at_after),
		  [slot] "+d"(target), [real_after] "=m"(real_after)
		: [real] "m"(real)
		: "rcx", "r8", "r9", "r10", "r11", "r14", "xmm5", "memory",
		  "cc");
	ck_assert_mem_eq(before, after, sizeof(before));
	ck_assert_mem_eq(real, real_after, sizeof(real));
	tear_down();
}
END_TEST

/* All registers, a flag and the red zone, before and behind an errand. */
static uint64_t way_out __attribute__((used));
static uint64_t seen_regs[18] __attribute__((used));

__asm__(".text\n"
	"through_errand:\n\t"
	"push %rbx\n\tpush %rbp\n\tpush %r12\n\tpush %r13\n\t"
	"push %r14\n\tpush %r15\n\t"
	"mov %rdi, way_out(%rip)\n\t"
	"movq $77, -8(%rsp)\n\tmovq $78, -128(%rsp)\n\t"
	"mov $1, %rax\n\t"
	"mov $2, %rbx\n\t"
	"mov $3, %rcx\n\t"
	"mov $4, %rdx\n\t"
	"mov $5, %rsi\n\t"
	"mov $6, %rdi\n\t"
	"mov $7, %rbp\n\t"
	"mov $8, %r8\n\t"
	"mov $9, %r9\n\t"
	"mov $10, %r10\n\t"
	"mov $11, %r11\n\t"
	"mov $12, %r12\n\t"
	"mov $13, %r13\n\t"
	"mov $14, %r14\n\t"
	"mov $15, %r15\n\t"
	"stc\n\tjmp *way_out(%rip)\n"
	"behind_errand:\n\t"
	"mov %rax, 0+seen_regs(%rip)\n\t"
	"mov %rbx, 8+seen_regs(%rip)\n\t"
	"mov %rcx, 16+seen_regs(%rip)\n\t"
	"mov %rdx, 24+seen_regs(%rip)\n\t"
	"mov %rsi, 32+seen_regs(%rip)\n\t"
	"mov %rdi, 40+seen_regs(%rip)\n\t"
	"mov %rbp, 48+seen_regs(%rip)\n\t"
	"mov %r8, 56+seen_regs(%rip)\n\t"
	"mov %r9, 64+seen_regs(%rip)\n\t"
	"mov %r10, 72+seen_regs(%rip)\n\t"
	"mov %r11, 80+seen_regs(%rip)\n\t"
	"mov %r12, 88+seen_regs(%rip)\n\t"
	"mov %r13, 96+seen_regs(%rip)\n\t"
	"mov %r14, 104+seen_regs(%rip)\n\t"
	"mov %r15, 112+seen_regs(%rip)\n\t"
	"sbb %rax, %rax\n\tmov %rax, 120+seen_regs(%rip)\n\t"
	"mov -8(%rsp), %rax\n\tmov %rax, 128+seen_regs(%rip)\n\t"
	"mov -128(%rsp), %rax\n\tmov %rax, 136+seen_regs(%rip)\n\t"
	"pop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\t"
	"pop %rbp\n\tpop %rbx\n\tret\n");
void through_errand(const void *errand);
extern char behind_errand[];

static void check_registers(void)
{
	unsigned i;

	for (i = 0; i < 15; i++)
		ck_assert_uint_eq(seen_regs[i], i + 1);
	ck_assert_int_eq((int64_t)seen_regs[15], -1);
	ck_assert_uint_eq(seen_regs[16], 77);
	ck_assert_uint_eq(seen_regs[17], 78);
	memset(seen_regs, 0, sizeof(seen_regs));
}

/* As through_errand() has them. */
static const struct agent_saved sent_with = {
	.rax = 1,
	.rcx = 3,
	.rdx = 4,
	.rsi = 5,
	.rdi = 6,
	.r8 = 8,
	.r9 = 9,
	.r10 = 10,
	.r11 = 11,
};

/* In each turn, whether it is still the one that counts or not. */
START_TEST(boot_goes_back_to_where_it_was_sent_from)
{
	struct agent_header header;
	uint64_t turn;

	map_agent();
	header = *(struct agent_header *)base;
	for (turn = 0; turn < AGENT_BOOTS; turn++)
		write_way(turn, &sent_with,
			  turn == (uint64_t)_i ? behind_errand :
						 (const char *)abort);
	header.boot_what = AGENT_BOOT_CLOSE;
	header.boot_fd = UINT64_MAX;
	for (turn = 0; turn < AGENT_BOOTS; turn++) {
		header.boot_turn = turn;
		write_code(base, &header, sizeof(header));
		gate->booted = 0;
		through_errand(boot_of((uint64_t)_i));
		check_registers();
		ck_assert_uint_eq(gate->booted,
				  turn == (uint64_t)_i ? AGENT_BOOT_CLOSE : 0);
	}
	close((int)gate->boot_result);
	munmap(base, AGENT_SHARED_OFFSET + shared_size());
}
END_TEST

/* Of the stack that it has while it does the most, some is left. */
START_TEST(boot_has_room)
{
	static const uint64_t whats[] = { AGENT_BOOT_MAP, AGENT_BOOT_SHARE,
					  AGENT_BOOT_CLOSE, AGENT_BOOT_NET };
	uint8_t paint[sizeof(((struct agent_boot_room *)0)->stack)];
	const size_t left = 32;
	size_t i;

	memset(paint, 0xa5, sizeof(paint));
	map_agent();
	ck_assert_int_eq(shared_open(&shared, dup((int)gate->boot_result), 0),
			 0);
	for (i = 0; i < ARRAY_SIZE(whats); i++) {
		const uint64_t turn =
			(((struct agent_header *)base)->boot_turn + 1) %
			AGENT_BOOTS;
		char *room = base + AGENT_BOOTS_OFFSET +
			     turn * sizeof(struct agent_boot_room);

		write_code(room, paint, sizeof(paint));
		boot(whats[i]);
		ck_assert_uint_eq(gate->booted, whats[i]);
		ck_assert_int_eq(memcmp(room, paint, left), 0);
		ck_assert_int_ne(memcmp(room, paint, sizeof(paint)), 0);
	}
	shared_close(&shared);
	signal(SIGTRAP, SIG_DFL);
	munmap(base, AGENT_SHARED_OFFSET + shared_size());
}
END_TEST

/* Nobody's signal is handled there, and all are as before. */
START_TEST(boot_keeps_signals_waiting)
{
	sigset_t before, after;
	struct agent_boot_room *rooms;

	ck_assert_int_eq(sigprocmask(SIG_BLOCK, NULL, &before), 0);
	sigaddset(&before, SIGUSR2);
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, &before, NULL), 0);
	map_agent();
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, NULL, &after), 0);
	ck_assert(sigismember(&after, SIGUSR2));
	ck_assert(!sigismember(&after, SIGUSR1));
	ck_assert(!sigismember(&after, SIGTRAP));
	rooms = (void *)(base + AGENT_BOOTS_OFFSET);
	ck_assert_uint_eq(
		rooms[((struct agent_header *)base)->boot_turn].way.mask,
		1ull << (SIGUSR2 - 1));
	sigdelset(&before, SIGUSR2);
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, &before, NULL), 0);
	signal(SIGTRAP, SIG_DFL);
	close((int)gate->boot_result);
	munmap(base, AGENT_SHARED_OFFSET + shared_size());
}
END_TEST

/* By which what a killed one has left is known again. */
START_TEST(the_image_has_its_version)
{
	const struct agent_header *header = (const void *)agent_image;

	ck_assert_uint_eq(header->magic, AGENT_MAGIC);
	ck_assert_uint_eq(header->version, AGENT_VERSION);
}
END_TEST

START_TEST(an_errand_keeps_all_registers)
{
	const struct agent_header *header = (const void *)agent_image;
	const size_t size = header->errand_end - header->errand;
	struct agent_errand errand = {
		.number = SYS_mmap,
		.arguments = { 0x10000000000, 4096, PROT_READ | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS |
				       MAP_FIXED_NOREPLACE,
			       UINT64_MAX, 0 },
		.place = (uintptr_t)behind_errand,
		.saved = sent_with,
	};
	char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	write_code(code, agent_image + header->errand, size);
	write_code(code + size, &errand, sizeof(errand));
	through_errand(code);
	check_registers();
	ck_assert_int_eq(munmap((void *)0x10000000000, 4096), 0);
	munmap(code, 4096);
}
END_TEST

START_TEST(nothing_happens_behind_a_closed_gate)
{
	set_up(AGENT_COUNTS | AGENT_RECORDS);
	gate->on = 0;
	ck_assert_int_eq(slot(1, 0, 0, 0, 0, 0), 1);
	ck_assert_uint_eq(counted(0), 0);
	ck_assert_int_eq(calls_of_original, 1);
	tear_down();
}
END_TEST

/* Calltrap has been killed: nobody has to tell the hooks. */
START_TEST(the_gate_is_closed_without_a_sign_of_life)
{
	set_up(AGENT_COUNTS);
	slot(1, 0, 0, 0, 0, 0);
	ck_assert_uint_eq(counted(0), 1);
	ck_assert_uint_eq(shared_closings(&shared), 0);
	gate->patience = 1;
	ck_assert_int_eq(slot(1, 0, 0, 0, 0, 0), 1);
	ck_assert_uint_eq(gate->on, 0);
	ck_assert_uint_eq(shared_closings(&shared), 1);
	ck_assert_uint_eq(counted(0), 1);
	tear_down();
}
END_TEST

START_TEST(a_forked_child_is_left_alone)
{
	pid_t child;
	int status;

	set_up(AGENT_COUNTS | AGENT_RECORDS);
	slot(1, 0, 0, 0, 0, 0);
	child = fork();
	if (!child) {
		bool right = slot(1, 0, 0, 0, 0, 0) == 1;

		_exit(right && !gate->on ? 7 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	ck_assert_uint_eq(counted(0), 1);
	ck_assert_uint_eq(gate->on, 1);
	tear_down();
}
END_TEST

/* ---- counting ---- */

static __attribute__((noinline)) long gives_back(long result)
{
	return result;
}

static void count_failures(unsigned failure, uint64_t expected)
{
	struct agent_counter counter;

	hook(1, gives_back, 1, failure);
	slot(0, 0, 0, 0, 0, 0);
	slot(-1, 0, 0, 0, 0, 0);
	slot(5, 0, 0, 0, 0, 0);
	shared_counter(&shared, 1, &counter);
	ck_assert_uint_eq(counter.failed, expected);
}

START_TEST(failures_are_counted)
{
	set_up(AGENT_COUNTS);
	count_failures(AGENT_FAILS_NEVER, 0);
	count_failures(AGENT_FAILS_ZERO, 1);
	count_failures(AGENT_FAILS_MINUS_ONE, 2);
	count_failures(AGENT_FAILS_NEGATIVE, 3);
	count_failures(AGENT_FAILS_NONZERO, 5);
	count_failures(AGENT_FAILS_POINTER | AGENT_WIDE, 7);
	count_failures(AGENT_FAILS_NEGATIVE | AGENT_WIDE, 8);
	tear_down();
}
END_TEST

START_TEST(durations_are_counted)
{
	static uint64_t histogram[AGENT_OCTAVES][AGENT_PARTS];
	struct agent_counter counter;
	uint64_t sum = 0, i;

	set_up(AGENT_COUNTS | AGENT_DURATIONS);
	for (i = 0; i < 1000; i++)
		slot(1, 0, 0, 0, 0, 0);
	shared_counter(&shared, 0, &counter);
	shared_histogram(&shared, 0, histogram);
	for (i = 0; i < AGENT_OCTAVES * AGENT_PARTS; i++)
		sum += histogram[i / AGENT_PARTS][i % AGENT_PARTS];
	ck_assert_uint_eq(counter.calls, 1000);
	ck_assert_uint_eq(sum, 1000);
	ck_assert_uint_ge(counter.ticks, counter.longest);
	ck_assert_uint_gt(counter.longest, 0);
	tear_down();
}
END_TEST

/* ---- threads ---- */

#define THREADS 4
#define ROUNDS  100000

static void *call_often(void *context)
{
	for (long i = 0; i < ROUNDS; i++)
		slot(i, 0, 0, 0, 0, 0);
	return context;
}

static void run_threads(unsigned count, void *(*work)(void *))
{
	pthread_t *threads = calloc(count, sizeof(*threads));

	for (unsigned i = 0; i < count; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, work, NULL),
				 0);
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

START_TEST(threads_count_each_call_once)
{
	set_up(AGENT_COUNTS);
	run_threads(THREADS, call_often);
	ck_assert_uint_eq(counted(0), THREADS * ROUNDS);
	tear_down();
}
END_TEST

static volatile bool reading;

static void *read_on(void *context)
{
	while (reading) {
		read_all();
		shared_beat(&shared);
	}
	return context;
}

/* What was dropped is counted; the rest is there once, and right. */
START_TEST(threads_record_each_call_once)
{
	const unsigned long all = (unsigned long)THREADS * ROUNDS;
	const unsigned long sum = (unsigned long)ROUNDS * (ROUNDS - 1) / 2;
	pthread_t reader;

	set_up(AGENT_RECORDS);
	memset(&seen, 0, sizeof(seen));
	reading = true;
	ck_assert_int_eq(pthread_create(&reader, NULL, read_on, NULL), 0);
	run_threads(THREADS, call_often);
	reading = false;
	pthread_join(reader, NULL);
	read_all();
	ck_assert_uint_eq(seen.count + shared_lost(&shared), all);
	if (!shared_lost(&shared))
		ck_assert_uint_eq(seen.sum, THREADS * sum);
	tear_down();
}
END_TEST

START_TEST(what_finds_no_room_is_counted)
{
	/* Those of six arguments, without memory. */
	const unsigned long room =
		SHARED_RING_WORDS / (AGENT_RECORD_FIXED + AGENT_ARGUMENTS);
	unsigned long lost;

	set_up(AGENT_RECORDS);
	memset(&seen, 0, sizeof(seen));
	call_often(NULL);
	lost = shared_lost(&shared);
	read_all();
	ck_assert_uint_eq(seen.count + lost, ROUNDS);
	ck_assert_uint_le(seen.count, room);
	ck_assert_uint_ge(seen.count, room - AGENT_RING_SLACK);
	/* And then there is room again. */
	slot(1, 0, 0, 0, 0, 0);
	read_all();
	ck_assert_uint_eq(seen.count + lost, ROUNDS + 1);
	tear_down();
}
END_TEST

/* ---- watched calls ---- */

static struct {
	uintptr_t caller;
	unsigned long calls;
	uint64_t gate;  /* whether it was open, at the last */
	unsigned inner; /* so many are still to be made from within one */
} watched_original;

static long is_watched(long a, long b, long c, long d, long e, long f)
{
	(void)b, (void)c, (void)d, (void)e, (void)f;
	watched_original.caller = (uintptr_t)__builtin_return_address(0);
	watched_original.calls++;
	watched_original.gate = __atomic_load_n(&gate->on, __ATOMIC_ACQUIRE);
	if (watched_original.inner && watched_original.inner--)
		ck_assert_int_eq(slot(a + 10, 2, 3, 4, 5, 6), a + 11);
	return a + 1;
}

/* One place that calls; returns whether all went right. */
static __attribute__((noinline)) bool call_watched(unsigned long count)
{
	unsigned long i;
	bool right = true;

	for (i = 0; i < count; i++)
		right &= slot((long)i, 2, 3, 4, 5, 6) == (long)i + 1;
	return right;
}

static struct {
	unsigned long entries, returns;
	unsigned long timed, falls; /* earlier than the one before */
	uint64_t time;
	struct agent_watched entry, back; /* the last ones */
} watched;

static void see_watched(void *context, const struct agent_watched *one)
{
	(void)context;
	watched.timed += one->time & AGENT_TIMED;
	watched.falls += one->time < watched.time;
	watched.time = one->time;
	if (one->kind == AGENT_WATCH_ENTRY) {
		watched.entries++;
		watched.entry = *one;
	} else {
		watched.returns++;
		watched.back = *one;
	}
}

static bool see_part(void *context, const struct agent_watched *one)
{
	see_watched(context, one);
	return true;
}

static void read_watched_at(uint64_t now)
{
	unsigned block;

	shared_begin_reading(&shared);
	for (block = 1; block < shared.blocks; block++)
		while (shared_read_watched(&shared, block, now, false, see_part,
					   NULL))
			;
}

static void read_watched(void)
{
	read_watched_at(1);
}

static void learn_stack(void)
{
	const char *pointer;
	const uint64_t here = (uint64_t)__builtin_frame_address(0);
	const struct shared_stack stack = { here - (64 << 10), here + 4096 };

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	shared_set_stack(&shared, (uintptr_t)pointer,
			 (pid_t)syscall(SYS_gettid), &stack);
}

/* False where the thread's number isn't to be found. */
static bool set_up_watched(uint64_t mode)
{
	struct stub_config config = {
		.function = (uintptr_t)is_watched,
		.arguments = 3,
		.way = STUB_WATCHES,
	};
	struct agent_stub stub;

	memset(&watched, 0, sizeof(watched));
	memset(&watched_original, 0, sizeof(watched_original));
	set_up(mode);
	gate->depth = 8;
	config.base = (uintptr_t)base;
	ck_assert_int_eq(stub_make(&config, &stub), 0);
	write_code(base + AGENT_STUBS_OFFSET, &stub, sizeof(stub));
	return gate->tid_offset;
}

static bool watch(uint64_t mode)
{
	return set_up_watched(AGENT_WATCHES | mode);
}

/* The first call goes to the trap (here is none); then it is known. */
static void learn(void)
{
	ck_assert(call_watched(1));
	learn_stack();
	shared_add_row(&shared, watched_original.caller,
		       agent_rule(AGENT_RULE_OUTERMOST, 0, 0));
}

START_TEST(watched_calls_are_recorded)
{
	if (watch(0)) {
		uintptr_t caller;

		learn();
		read_watched();
		ck_assert_uint_eq(watched.entries, 0);
		caller = watched_original.caller; /* then it is the hook */
		ck_assert(call_watched(2));
		read_watched();
		ck_assert_uint_eq(watched.entries, 2);
		ck_assert_uint_eq(watched.returns, 2);
		ck_assert_uint_eq(watched.entry.frame_count, 1);
		ck_assert(watched.entry.complete);
		ck_assert_uint_eq(watched.entry.frames[0], caller);
		ck_assert_uint_eq(watched.entry.argument_count, 3);
		ck_assert_uint_eq(watched.entry.arguments[0], 1);
		ck_assert_uint_eq(watched.entry.arguments[2], 3);
		ck_assert_uint_eq(watched.back.result, 2);
		ck_assert_uint_eq(watched.back.slot, watched.entry.slot);
		ck_assert_uint_ge(watched.back.time, watched.entry.time);
		ck_assert_uint_eq(shared_lost(&shared), 0);
	}
	tear_down();
}
END_TEST

static struct {
	struct agent_watched list[8];
	unsigned count;
} told;

static bool see_in_order(void *context, const struct agent_watched *one)
{
	(void)context;
	ck_assert_uint_lt(told.count, 8);
	told.list[told.count++] = *one;
	return true;
}

/* Returns how many words they had. */
static uint64_t read_in_order(void)
{
	uint64_t words = 0;
	unsigned block;

	told.count = 0;
	shared_begin_reading(&shared);
	for (block = 1; block < shared.blocks; block++) {
		words -= shared.rings[block].position;
		while (shared_read_watched(&shared, block, 1, false,
					   see_in_order, NULL))
			;
		words += shared.rings[block].position;
	}
	return words;
}

static void expect_return(unsigned at, unsigned entry, uint64_t result)
{
	const struct agent_watched *back = &told.list[at];

	ck_assert_int_eq(back->kind, AGENT_WATCH_RETURN);
	ck_assert_uint_eq(back->slot, told.list[entry].slot);
	ck_assert_uint_eq(back->return_address, told.list[entry].frames[0]);
	ck_assert_uint_eq(back->result, result);
}

/* … in few words, where nothing has come in between. */
START_TEST(returns_say_whose_they_are)
{
	if (watch(0)) {
		const uint64_t entry = AGENT_WATCH_FIXED + 3 + 2;

		learn();
		watched_original.inner = 1;
		ck_assert(call_watched(1));
		shared_add_row(&shared, watched_original.caller,
			       agent_rule(AGENT_RULE_OUTERMOST, 0, 0));
		read_watched();

		ck_assert(call_watched(1));
		ck_assert_uint_eq(read_in_order(), entry + AGENT_WATCH_SHORT);
		ck_assert_uint_eq(told.count, 2);
		expect_return(1, 0, 1);

		watched_original.inner = 1;
		ck_assert(call_watched(1));
		ck_assert_uint_eq(read_in_order(),
				  2 * entry + AGENT_WATCH_SHORT +
					  AGENT_WATCH_RETURN_WORDS);
		ck_assert_uint_eq(told.count, 4);
		ck_assert_uint_ne(told.list[0].slot, told.list[1].slot);
		expect_return(2, 1, 11);
		expect_return(3, 0, 1);
		ck_assert_uint_eq(shared_lost(&shared), 0);
	}
	tear_down();
}
END_TEST

/* What they refer to isn't there: the program has written them. */
START_TEST(short_records_of_nothing_are_lost)
{
	uint64_t words[64] = { 0 };
	struct ring ring = { .words = words, .size = 64, .watches = true };
	const unsigned known = AGENT_WATCH_SHORT + 3;
	struct agent_watched watch;

	words[AGENT_WATCH_HEADER] = agent_record_header(0, AGENT_WATCH_SHORT);
	words[AGENT_WATCH_STUB] =
		agent_record_stub(0, 0, AGENT_WATCH_FOLLOWS, 1);
	words[AGENT_WATCH_SHORT] =
		agent_record_header(AGENT_WATCH_SHORT, known);
	words[AGENT_WATCH_SHORT + AGENT_WATCH_NAME] = agent_walk_name(1, 1);
	words[AGENT_WATCH_SHORT + AGENT_WATCH_STUB] =
		agent_record_stub(0, AGENT_IS_ENTRY, AGENT_WATCH_KNOWN, 1);
	ck_assert(!ring_read_watched(&ring, AGENT_WATCH_SHORT + known, false,
				     &watch));
	ck_assert_uint_eq(ring.position, AGENT_WATCH_SHORT + known);
	ck_assert_uint_eq(ring.lost, 2);
	ring_fini(&ring);
}
END_TEST

#define MANY_WORDS 512

/* An entry of that walk, with an argument; or the return of the one before. */
static uint64_t write_short(uint64_t *words, uint64_t position, uint64_t kind,
			    unsigned stub, uint64_t time, uint64_t value)
{
	const bool is_entry = kind == AGENT_WATCH_KNOWN;
	const unsigned count = AGENT_WATCH_SHORT + is_entry;
	uint64_t *const record = &words[position];

	record[AGENT_WATCH_HEADER] = agent_record_header(position, count);
	record[AGENT_WATCH_TIME] = time;
	record[AGENT_WATCH_SLOT] = value;
	record[AGENT_WATCH_STUB] =
		agent_record_stub(stub, is_entry ? AGENT_IS_ENTRY : 0, kind, 1);
	if (is_entry)
		record[AGENT_WATCH_SHORT] = 100 + time;
	return position + count;
}

/* An entry of one argument and two frames, which tells of a walk, and another one of
   that walk; each with as many words of pieces. */
static void write_entries(uint64_t words[MANY_WORDS], unsigned pieces)
{
	const unsigned first = AGENT_WATCH_FIXED + 1 + 2 + 1 + pieces;
	const unsigned second = AGENT_WATCH_SHORT + 1 + pieces;
	uint64_t *const known = &words[first], *more;
	unsigned i;

	words[AGENT_WATCH_HEADER] = agent_record_header(0, first);
	words[AGENT_WATCH_STUB] =
		agent_record_stub(0, AGENT_IS_ENTRY, AGENT_WATCH_ENTRY, 1);
	words[AGENT_WATCH_VALUE] = 2 | agent_pieces_bits(pieces);
	more = &words[AGENT_WATCH_FIXED];
	*more++ = 11;
	*more++ = 21;
	*more++ = 22;
	*more++ = agent_walk_name(1, 1);
	for (i = 0; i < pieces; i++)
		more[i] = 31 + i;
	known[AGENT_WATCH_HEADER] = agent_record_header(first, second);
	known[AGENT_WATCH_NAME] = agent_walk_name(1, 1);
	known[AGENT_WATCH_STUB] = agent_record_stub(
		0, AGENT_IS_ENTRY,
		agent_watch_kind_bits(AGENT_WATCH_KNOWN, pieces), 1);
	more = &known[AGENT_WATCH_SHORT];
	*more++ = 12;
	for (i = 0; i < pieces; i++)
		more[i] = 41 + i;
}

static void expect_pieces(const struct agent_watched *entry, uint64_t argument,
			  unsigned count, uint64_t first)
{
	unsigned i;

	ck_assert_int_eq(entry->kind, AGENT_WATCH_ENTRY);
	ck_assert_uint_eq(entry->argument_count, 1);
	ck_assert_uint_eq(entry->arguments[0], argument);
	ck_assert_uint_eq(entry->frames[0], 21);
	ck_assert_uint_eq(entry->piece_words, count);
	for (i = 0; i < count; i++)
		ck_assert_uint_eq(entry->pieces[i], first + i);
}

START_TEST(entries_have_frames_and_pieces)
{
	static const unsigned counts[] = { 0, 1, AGENT_PIECE_WORDS };
	uint64_t words[MANY_WORDS] = { 0 };
	const unsigned count = counts[_i];
	struct ring ring = { .words = words,
			     .size = MANY_WORDS,
			     .entries = true };
	const uint64_t head =
		AGENT_WATCH_FIXED + AGENT_WATCH_SHORT + 5 + 2 * count;
	struct agent_watched entry;

	write_entries(words, count);
	ck_assert(ring_read_entry(&ring, head, &entry));
	expect_pieces(&entry, 11, count, 31);
	ck_assert_uint_eq(entry.frame_count, 2);
	ck_assert(ring_read_entry(&ring, head, &entry));
	expect_pieces(&entry, 12, count, 41);
	ck_assert(entry.known);
	ck_assert_uint_eq(ring.position, head);
	ck_assert_uint_eq(ring.lost, 0);
	ring_fini(&ring);
}
END_TEST

/* An entry of so many new frames, the first of which is given, at a position. */
static uint64_t write_told(uint64_t *words, uint64_t position, unsigned frames,
			   uint64_t first, uint64_t bits, uint64_t name)
{
	const unsigned count = AGENT_WATCH_FIXED + frames + 1;
	uint64_t *const entry = &words[position];
	unsigned i;

	entry[AGENT_WATCH_HEADER] = agent_record_header(position, count);
	entry[AGENT_WATCH_STUB] =
		agent_record_stub(0, AGENT_IS_ENTRY, AGENT_WATCH_ENTRY, 1);
	entry[AGENT_WATCH_VALUE] = frames | bits;
	for (i = 0; i < frames; i++)
		entry[AGENT_WATCH_FIXED + i] = first + i;
	entry[AGENT_WATCH_FIXED + frames] = name;
	return position + count;
}

static void expect_frames(const struct agent_watched *entry, unsigned count,
			  const uint64_t *frames)
{
	unsigned i;

	ck_assert_uint_eq(entry->frame_count, count);
	for (i = 0; i < count; i++)
		ck_assert_uint_eq(entry->frames[i], frames[i]);
}

START_TEST(outer_frames_are_those_of_the_walk_that_was_told)
{
	const uint64_t one = agent_walk_name(5, 300), two = one + 4096;
	uint64_t words[MANY_WORDS] = { 0 };
	struct ring ring = { .words = words,
			     .size = MANY_WORDS,
			     .watches = true };
	struct agent_watched entry;
	uint64_t at;

	at = write_told(words, 0, 3, 21, AGENT_TOLD, one);
	at = write_told(words, at, 1, 31, agent_kept_bits(2, one), 0);
	at = write_told(words, at, 0, 0, agent_kept_bits(3, one), 0);
	at = write_told(words, at, 2, 41, agent_kept_bits(1, one) | AGENT_TOLD,
			two);
	at = write_told(words, at, 0, 0, agent_kept_bits(3, two), 0);
	ck_assert(ring_read_watched(&ring, at, false, &entry));
	expect_frames(&entry, 3, (uint64_t[]){ 21, 22, 23 });
	ck_assert(ring_read_watched(&ring, at, false, &entry));
	expect_frames(&entry, 3, (uint64_t[]){ 31, 22, 23 });
	ck_assert(ring_read_watched(&ring, at, false, &entry));
	expect_frames(&entry, 3, (uint64_t[]){ 21, 22, 23 });
	ck_assert(ring_read_watched(&ring, at, false, &entry));
	expect_frames(&entry, 3, (uint64_t[]){ 41, 42, 23 });
	ck_assert(ring_read_watched(&ring, at, false, &entry));
	expect_frames(&entry, 3, (uint64_t[]){ 41, 42, 23 });
	ck_assert_uint_eq(ring.lost, 0);
	ck_assert(!ring.misses_walks);
	ring_fini(&ring);
}
END_TEST

static bool joins_next(struct ring *ring, uint64_t head, uint64_t time)
{
	struct agent_watched entry;

	ck_assert(ring_read_watched(ring, head, true, &entry));
	ck_assert_int_eq(entry.kind, AGENT_WATCH_ENTRY);
	ck_assert_uint_eq(entry.time, time);
	if (entry.has_ended) {
		ck_assert_uint_eq(entry.ended, time + 1);
		ck_assert_uint_eq(entry.result, 200 + time);
	}
	if (!entry.known)
		return entry.has_ended;
	ck_assert_uint_eq(entry.argument_count, 1);
	ck_assert_uint_eq(entry.arguments[0], 100 + time);
	ck_assert_uint_eq(entry.frames[0], 21);
	return entry.has_ended;
}

/* What isn't its own, came before it, or isn't there yet, comes by itself. */
START_TEST(an_entry_has_the_return_right_behind_it)
{
	const uint64_t name = agent_walk_name(5, 300);
	uint64_t words[MANY_WORDS] = { 0 }, at, last;
	struct ring ring = { .words = words,
			     .size = MANY_WORDS,
			     .watches = true };
	struct agent_watched watched;

	at = write_told(words, 0, 3, 21, AGENT_TOLD, name);
	at = write_short(words, at, AGENT_WATCH_FOLLOWS, 0, 1, 200);
	at = write_short(words, at, AGENT_WATCH_KNOWN, 0, 10, name);
	at = write_short(words, at, AGENT_WATCH_FOLLOWS, 0, 11, 210);
	at = write_short(words, at, AGENT_WATCH_KNOWN, 2, 20, name);
	at = write_short(words, at, AGENT_WATCH_FOLLOWS, 3, 21, 220);
	at = write_short(words, at, AGENT_WATCH_KNOWN, 2, 30, name);
	at = write_short(words, at, AGENT_WATCH_FOLLOWS, 2, 29, 230);
	at = write_short(words, at, AGENT_WATCH_KNOWN, 2, 40, name);
	last = write_short(words, at, AGENT_WATCH_FOLLOWS, 2, 41, 240);
	ck_assert(joins_next(&ring, last, 0));
	ck_assert(joins_next(&ring, last, 10));
	ck_assert(!joins_next(&ring, last, 20));
	ck_assert(ring_read_watched(&ring, last, true, &watched));
	ck_assert_int_eq(watched.kind, AGENT_WATCH_RETURN);
	ck_assert_uint_eq(watched.stub, 3);
	ck_assert(!joins_next(&ring, last, 30));
	ck_assert(ring_read_watched(&ring, last, true, &watched));
	ck_assert_uint_eq(watched.time, 29);
	ck_assert(!joins_next(&ring, at, 40));
	ck_assert(!ring_read_watched(&ring, at, true, &watched));
	ck_assert(ring_read_watched(&ring, last, true, &watched));
	ck_assert_int_eq(watched.kind, AGENT_WATCH_RETURN);
	ck_assert_uint_eq(watched.result, 240);
	ck_assert_uint_eq(watched.return_address, 21);
	ck_assert_uint_eq(ring.lost, 0);
	ring_fini(&ring);
}
END_TEST

/* Another walk; more than it has; what follows one that was passed over. */
START_TEST(outer_frames_of_another_walk_are_lost)
{
	const uint64_t one = agent_walk_name(5, 300);
	const uint64_t bits[] = {
		agent_kept_bits(2, one + (1 << AGENT_KEPT_BITS)),
		agent_kept_bits(4, one),
		agent_kept_bits(2, one),
	};
	uint64_t words[MANY_WORDS] = { 0 }, at, first;
	struct ring ring = { .words = words,
			     .size = MANY_WORDS,
			     .watches = true };
	struct agent_watched entry;

	at = first = write_told(words, 0, 3, 21, AGENT_TOLD, one);
	at = write_told(words, at, 1, 31, bits[_i], 0);
	/* What was lost may have been told instead of it. */
	at = write_told(words, at, 1, 31, agent_kept_bits(2, one), 0);
	if (_i == 2)
		words[0] = 0;
	else
		ck_assert(ring_read_watched(&ring, at, false, &entry));
	if (_i == 2)
		ring_pass_over(&ring, first);
	ck_assert(!ring_read_watched(&ring, at, false, &entry));
	ck_assert_uint_eq(ring.position, at);
	ck_assert(ring.misses_walks);
	ck_assert_uint_eq(ring.lost, _i == 2 ? 3 : 2);
	ring_fini(&ring);
}
END_TEST

static void pass_over(struct ring *ring, uint64_t head)
{
	ring_withhold(ring, head);
	ring_pass_over(ring, head);
}

/*
 * Who was writing was jumped out of: that is known as soon as another call has its place
 * on the stack, and is no call that was lost, if it says so. What never got a header is.
 */
START_TEST(what_was_begun_is_no_call)
{
	uint64_t words[MANY_WORDS] = { 0 }, lost = 0, give_up;
	struct ring ring = { .words = words,
			     .size = MANY_WORDS,
			     .entries = true };
	const uint64_t second = write_told(words, 0, 1, 21, 0, 0);
	const uint64_t head = write_told(words, second, 1, 21, 0, 0);
	const uint64_t slot = 4711;
	struct agent_watched entry;

	words[second + AGENT_WATCH_SLOT] = slot;

	for (give_up = 0; give_up < 2; give_up++) {
		ring.position = 0;
		words[0] =
			agent_record_header(0, (unsigned)second | AGENT_BEGUN);
		words[1] = slot + 8;
		ck_assert(!ring_read_entry(&ring, head, &entry));
		ck_assert(!ring_is_left(&ring, head));
		words[1] = slot;
		ck_assert(!ring_is_left(&ring, second));
		ck_assert(ring_is_left(&ring, head));
		if (give_up)
			ring_give_up(&ring, head);
		else
			pass_over(&ring, head);
		lost += give_up; /* the second was whole */
		ck_assert_uint_eq(ring.position, give_up ? head : second);
		ck_assert_uint_eq(ring.lost, lost);
	}
	words[0] = 0;
	ring.position = 0;
	ck_assert(!ring_is_left(&ring, head));
	pass_over(&ring, head);
	ck_assert_uint_eq(ring.position, second);
	ck_assert_uint_eq(ring.lost, lost + 1);
	ring_fini(&ring);
}
END_TEST

/* More than the record has words; or of one that has none. */
START_TEST(pieces_that_cannot_be_are_lost)
{
	uint64_t words[MANY_WORDS] = { 0 };
	struct ring ring = { .words = words,
			     .size = MANY_WORDS,
			     .entries = true };
	const unsigned first = AGENT_WATCH_FIXED + 5;
	struct agent_watched entry;

	write_entries(words, 1);
	words[first + AGENT_WATCH_STUB] = agent_record_stub(
		0, AGENT_IS_ENTRY,
		_i ? agent_watch_kind_bits(AGENT_WATCH_KNOWN, 3) :
		     agent_watch_kind_bits(AGENT_WATCH_ENTRY, 1),
		1);
	ck_assert(
		ring_read_entry(&ring, first + AGENT_WATCH_SHORT + 2, &entry));
	ck_assert(
		!ring_read_entry(&ring, first + AGENT_WATCH_SHORT + 2, &entry));
	ck_assert_uint_eq(ring.lost, 1);
	ring_fini(&ring);
}
END_TEST

START_TEST(calls_are_recorded_with_their_stacks)
{
	memset(&seen, 0, sizeof(seen));
	if (set_up_watched(AGENT_RECORDS | AGENT_STACKS)) {
		uintptr_t caller;

		learn();
		caller = watched_original.caller; /* then it is the hook */
		ck_assert(call_watched(2));
		shared_read(&shared, 1, see, see_watched, NULL);
		ck_assert_uint_eq(watched.entries, 2);
		ck_assert_uint_eq(watched.entry.frame_count, 1);
		ck_assert_uint_eq(watched.entry.frames[0], caller);
		ck_assert_uint_eq(seen.count, 2);
		ck_assert_uint_eq(seen.records[1].argument_count, 3);
		ck_assert_uint_eq(seen.records[1].arguments[0], 1);
		ck_assert_uint_eq(seen.records[1].result, 2);
		ck_assert_uint_eq(seen.records[1].began, watched.entry.time);
		ck_assert_uint_eq(seen.records[1].slot, watched.entry.slot);
		ck_assert_uint_eq(shared_lost(&shared), 0);
	}
	tear_down();
}
END_TEST

/* ---- walks that are remembered ---- */

static struct {
	uintptr_t outer, end; /* of the frame that calls */
} calling;

static __attribute__((noinline)) bool call_deeply(void)
{
	const bool right = slot(7, 8, 9, 4, 5, 6) == 8;

	calling.outer = (uintptr_t)__builtin_return_address(0);
	calling.end = (uintptr_t)__builtin_frame_address(0) + 16;
	return right;
}

/* Two places that have the same stack below them: functions, as no compiler
   makes one call of these. */
static __attribute__((noinline)) bool call_from_here(void)
{
	bool right = call_deeply();

	__asm__ volatile("" : "+r"(right));
	return right;
}

static __attribute__((noinline)) bool call_from_there(void)
{
	bool right = call_deeply();

	__asm__ volatile("nop" : "+r"(right));
	return right;
}

static void expect_entry(bool known, unsigned frames)
{
	watched.entries = 0;
	read_watched();
	ck_assert_uint_eq(watched.entries, 1);
	ck_assert(watched.entry.known == known);
	ck_assert_uint_eq(watched.entry.frame_count, frames);
	ck_assert_uint_ne(watched.entry.walk, 0);
	ck_assert_uint_eq(watched.entry.argument_count, 3);
	ck_assert_uint_eq(watched.entry.arguments[2], 9);
	ck_assert_uint_eq(watched.entry.frames[0], watched_original.caller);
	ck_assert_uint_eq(watched.entry.slot, watched.back.slot);
}

static void learn_frames(uintptr_t caller, uintptr_t slot_there)
{
	shared_add_row(&shared, caller,
		       agent_rule(0, (int32_t)(calling.end - slot_there - 8),
				  0));
	shared_add_row(&shared, calling.outer,
		       agent_rule(AGENT_RULE_OUTERMOST, 0, 0));
}

START_TEST(a_walk_is_told_once)
{
	if (watch(0)) {
		uintptr_t caller, there;
		uint64_t first, second;

		ck_assert(call_from_here());
		caller = watched_original.caller; /* then it is the hook */
		learn_stack();
		shared_add_row(&shared, caller,
			       agent_rule(AGENT_RULE_OUTERMOST, 0, 0));
		ck_assert(call_from_here());
		watched_original.caller = caller;
		read_watched();
		/* Who has read nothing has nothing to compare. */
		ck_assert_uint_eq(watched.entry.walk, 0);
		there = watched.entry.slot;
		ck_assert_uint_ne(there, 0);

		shared_clear_rows(&shared);
		learn_frames(caller, there);
		for (unsigned i = 0; i < 3; i++) {
			ck_assert(call_from_here());
			watched_original.caller = caller;
			expect_entry(i, i ? 1 : 2);
			first = i ? first : watched.entry.walk;
			ck_assert_uint_eq(watched.entry.walk, first);
			ck_assert_uint_eq(watched.entry.slot, there);
		}
		/* Another return address lies there. */
		(void)call_from_there();
		read_watched();
		learn_frames(caller, there);
		ck_assert(call_from_there());
		watched_original.caller = caller;
		expect_entry(false, 2);
		second = watched.entry.walk;
		ck_assert_uint_ne(second, first);
		ck_assert_uint_eq(watched.entry.frames[1], calling.outer);
		ck_assert(call_from_there());
		watched_original.caller = caller;
		expect_entry(true, 1);
		/* Addresses mean something else now. */
		shared_clear_rows(&shared);
		learn_frames(caller, there);
		ck_assert(call_from_there());
		watched_original.caller = caller;
		expect_entry(false, 2);
		ck_assert_uint_ne(watched.entry.walk, second);
		ck_assert_uint_eq(shared_lost(&shared), 0);
	}
	tear_down();
}
END_TEST

/* As call_deeply(), of which a call by pointer may be either. */
static __attribute__((noinline)) bool call_deeply_too(void)
{
	const bool right = slot(7, 8, 9, 4, 5, 6) == 8;

	__asm__ volatile("nop");
	calling.outer = (uintptr_t)__builtin_return_address(0);
	calling.end = (uintptr_t)__builtin_frame_address(0) + 16;
	return right;
}

static bool (*volatile deep)(void);

static __attribute__((noinline)) bool call_by_pointer(void)
{
	bool right = deep();

	__asm__ volatile("" : "+r"(right));
	return right;
}

static struct agent_block *block_of_test(void)
{
	return (void *)((char *)shared.rings[1].words -
			offsetof(struct agent_block, ring));
}

/* The entry that tells of a walk; NULL: it isn't in the ring any more. */
static uint64_t *find_told_walk(void)
{
	struct agent_block *block = block_of_test();
	uint64_t *header = &block->ring[block->tail];

	return block->tail < block->head && *header ? header : NULL;
}

static void call_and_learn(void)
{
	uintptr_t caller;

	ck_assert(call_from_here());
	caller = watched_original.caller;
	learn_stack();
	shared_add_row(&shared, caller, agent_rule(AGENT_RULE_OUTERMOST, 0, 0));
	ck_assert(call_from_here());
	read_watched();
	shared_clear_rows(&shared);
	learn_frames(caller, watched.entry.slot);
	watched_original.caller = caller;
}

/* All calls are made by the test itself: elsewhere they would be other walks. */
static void expect_told(uintptr_t caller, bool known)
{
	watched_original.caller = caller;
	expect_entry(known, known ? 1 : 2);
}

/* Of a walk that ends as the one before did, only what is new is written. */
START_TEST(outer_frames_are_told_once)
{
	const unsigned words = AGENT_WATCH_FIXED + 3 + 1 + AGENT_WATCH_SHORT;

	if (watch(0)) {
		const struct agent_block *block = block_of_test();
		uintptr_t caller, there;
		uint64_t before;

		deep = call_deeply;
		ck_assert(call_by_pointer());
		caller = watched_original.caller;
		learn_stack();
		shared_add_row(&shared, caller,
			       agent_rule(AGENT_RULE_OUTERMOST, 0, 0));
		ck_assert(call_by_pointer());
		read_watched();
		there = watched.entry.slot;
		shared_clear_rows(&shared);
		learn_frames(caller, there);
		before = block->head;
		ck_assert(call_by_pointer());
		ck_assert_uint_eq(block->head - before, words + 2);
		expect_told(caller, false);

		deep = call_deeply_too;
		(void)call_by_pointer();
		caller = watched_original.caller;
		read_watched();
		learn_frames(caller, there);
		before = block->head;
		ck_assert(call_by_pointer());
		ck_assert_uint_eq(block->head - before, words + 1);
		expect_told(caller, false);
		ck_assert_uint_eq(watched.entry.frames[1], calling.outer);
		ck_assert_uint_eq(shared_lost(&shared), 0);
	}
	tear_down();
}
END_TEST

/* A handler replaces nothing that may be being compared; who came after a jump does. */
START_TEST(a_walk_that_is_compared_stays)
{
	if (watch(0)) {
		struct agent_block *block;
		uintptr_t caller;
		uint64_t slot_there;

		call_and_learn();
		caller = watched_original.caller;
		block = block_of_test();
		ck_assert(call_from_here());
		expect_told(caller, false);
		slot_there = watched.entry.slot;
		shared.memory->rows_era += 2;
		block->compared = slot_there + sizeof(uint64_t);
		ck_assert(call_from_here());
		read_watched();
		ck_assert_uint_eq(watched.entry.frame_count, 2);
		ck_assert_uint_eq(watched.entry.walk, 0);
		ck_assert_uint_eq(block->compared, slot_there + 8);
		block->compared = slot_there;
		ck_assert(call_from_here());
		expect_told(caller, false);
		ck_assert(call_from_here());
		expect_told(caller, true);
		ck_assert_uint_eq(block->compared, 0);
		block->compared = slot_there + sizeof(uint64_t);
		ck_assert(call_from_here());
		expect_told(caller, true);
		ck_assert_uint_eq(block->compared, slot_there + 8);
	}
	tear_down();
}
END_TEST

static unsigned told_at(void)
{
	return (unsigned)(watched.entry.walk % AGENT_KEPT_WALKS);
}

/* Two that would take turns at one place have two. */
START_TEST(walks_of_one_home_lie_side_by_side)
{
	if (watch(0)) {
		struct agent_block *block;
		uintptr_t caller;
		unsigned home, beside;

		call_and_learn();
		caller = watched_original.caller;
		block = block_of_test();
		ck_assert(call_from_here());
		expect_told(caller, false);
		home = told_at();
		beside = agent_walk_beside(home);
		/* It is another's. */
		block->walks[home].address++;
		ck_assert(call_from_here());
		expect_told(caller, false);
		ck_assert_uint_eq(told_at(), beside);
		ck_assert(call_from_here());
		expect_told(caller, true);
		ck_assert_uint_eq(told_at(), beside);
		/* That one, too: the older one goes. */
		block->walks[beside].address++;
		ck_assert(call_from_here());
		expect_told(caller, false);
		ck_assert_uint_eq(told_at(), home);
		ck_assert(call_from_here());
		expect_told(caller, true);
		ck_assert_uint_eq(shared_lost(&shared), 0);
	}
	tear_down();
}
END_TEST

/* Its thread is kept from its processor, or a handler interrupts it, for long. */
START_TEST(a_walk_that_was_passed_over_is_told_again)
{
	const uint64_t second = 1000000000;

	if (watch(0)) {
		uintptr_t caller;
		uint64_t header, *entry;

		call_and_learn();
		caller = watched_original.caller;
		ck_assert(call_from_here());
		entry = find_told_walk();
		ck_assert_ptr_nonnull(entry);
		header = *entry;
		*entry = 0;
		watched.entries = 0;
		read_watched_at(second);
		ck_assert_uint_eq(shared_lost(&shared), 0);
		read_watched_at(2 * second + 1);
		ck_assert_uint_eq(shared_lost(&shared), 0);
		read_watched_at(3 * second);
		*entry = header;
		read_watched_at(3 * second + 1);
		ck_assert_uint_eq(watched.entries, 0);
		ck_assert_uint_eq(shared_lost(&shared), 2);
		ck_assert(call_from_here());
		expect_told(caller, false);
		ck_assert(call_from_here());
		expect_told(caller, true);
		ck_assert_uint_eq(shared_lost(&shared), 2);
	}
	tear_down();
}
END_TEST

/* Its thread ends before that is finished, or has left it busy for ever. */
START_TEST(who_has_the_block_next_tells_all_frames)
{
	const uint64_t left[] = { 0, AGENT_WALK_BUSY };

	if (watch(0)) {
		struct agent_block *block;
		uintptr_t caller;

		call_and_learn();
		caller = watched_original.caller;
		block = block_of_test();
		ck_assert(call_from_here());
		expect_told(caller, false);
		shared.memory->rows_era += 2;
		ck_assert(call_from_here());
		*find_told_walk() = 0;
		if (left[_i])
			block->told.name = left[_i];
		shared_thread_ended(&shared, (pid_t)syscall(SYS_gettid));
		ck_assert_uint_eq(shared_lost(&shared), 1);
		shared_beat(&shared);
		ck_assert(call_from_here());
		learn_stack();
		ck_assert(call_from_here());
		ck_assert_ptr_eq(block_of_test(), block);
		expect_told(caller, false);
		ck_assert(call_from_here());
		expect_told(caller, true);
		ck_assert_uint_eq(shared_lost(&shared), 1);
		ck_assert_uint_ne(block->told.name, 0);
		ck_assert_uint_ne(block->told.name, AGENT_WALK_BUSY);
	}
	tear_down();
}
END_TEST

static void forget_walks(void)
{
	unsigned block;

	for (block = 0; block < shared.blocks; block++)
		ring_fini(&shared.rings[block]);
}

/* The program has written what it likes: not more than once a second. */
START_TEST(walks_that_are_missed_are_told_again)
{
	const uint64_t second = 1000000000;

	if (watch(0)) {
		uintptr_t caller;
		uint64_t era;

		call_and_learn();
		caller = watched_original.caller;
		ck_assert(call_from_here());
		expect_told(caller, false);
		forget_walks();
		era = shared.memory->rows_era;
		ck_assert(call_from_here());
		read_watched_at(2 * second);
		ck_assert_uint_eq(shared_lost(&shared), 2);
		ck_assert_uint_eq(shared.memory->rows_era, era + 2);
		ck_assert(call_from_here());
		expect_told(caller, false);
		forget_walks();
		ck_assert(call_from_here());
		read_watched_at(2 * second + 1);
		ck_assert_uint_eq(shared.memory->rows_era, era + 2);
		ck_assert(call_from_here());
		read_watched_at(3 * second + 1);
		ck_assert_uint_eq(shared.memory->rows_era, era + 4);
		ck_assert(call_from_here());
		expect_told(caller, false);
	}
	tear_down();
}
END_TEST

START_TEST(rings_are_read_in_parts)
{
	if (watch(0)) {
		unsigned parts = 0, calls;
		bool more = true;

		learn();
		read_watched();
		watched.entries = watched.returns = 0;
		for (calls = 0; calls < 1000; calls++)
			ck_assert(call_watched(2));
		shared_begin_reading(&shared);
		ck_assert(call_watched(2)); /* it is another reading's */
		while (more) {
			const unsigned before = watched.returns;

			more = false;
			for (unsigned i = 1; i < shared.blocks; i++)
				more |= shared_read_watched(&shared, i, 1,
							    false, see_part,
							    NULL);
			ck_assert_uint_gt(watched.returns, before);
			parts++;
		}
		ck_assert_uint_gt(parts, 3);
		ck_assert_uint_eq(watched.entries, watched.returns);
		calls = watched.returns;
		read_watched();
		ck_assert_uint_gt(watched.returns, calls);
		ck_assert_uint_eq(shared_lost(&shared), 0);
	}
	tear_down();
}
END_TEST

/* They lie as close together as those of a large program's code. */
START_TEST(rules_have_places)
{
	uint64_t address = 0x400000, first = 0;
	unsigned count;

	set_up(AGENT_WATCHES);
	for (count = 0; count < AGENT_ROWS / 4 * 3; count++) {
		address += 5 + address % 61;
		first = first ? first : address;
		ck_assert(shared_add_row(&shared, address, count));
		ck_assert(shared_has_row(&shared, address));
	}
	ck_assert(shared_has_row(&shared, first));
	ck_assert(!shared_has_row(&shared, first + 1));
	while (shared_add_row(&shared, address += 7, 1))
		ck_assert_uint_le(count++, AGENT_ROWS);
	ck_assert(!shared_has_row(&shared, address));
	shared_clear_rows(&shared);
	ck_assert(!shared_has_row(&shared, first));
	ck_assert(shared_add_row(&shared, address, 1));
	tear_down();
}
END_TEST

/* Whatever a record's own words look like, it is no entry. */
START_TEST(records_among_entries_are_told_by_their_stub)
{
	uint64_t words[64], pieces[AGENT_PIECE_WORDS];
	struct ring ring = { .words = words, .size = 64, .entries = true };
	struct agent_record record;
	struct agent_watched entry;
	unsigned i;

	for (i = 0; i < AGENT_RECORD_FIXED; i++)
		words[i] = AGENT_IS_ENTRY << 8;
	words[AGENT_WORD_HEADER] = agent_record_header(0, AGENT_RECORD_FIXED);
	words[AGENT_WORD_STUB] = agent_record_stub(0, 0, 0, 1);
	ck_assert(!ring_read_entry(&ring, AGENT_RECORD_FIXED, &entry));
	ck_assert(ring_read(&ring, AGENT_RECORD_FIXED, &record, pieces));
	ck_assert_uint_eq(record.return_address, AGENT_IS_ENTRY << 8);
	ck_assert_uint_eq(ring.lost, 0);
}
END_TEST

START_TEST(watched_calls_that_find_no_room_are_counted)
{
	if (watch(0)) {
		learn();
		ck_assert(call_watched(ROUNDS));
		ck_assert_uint_eq(watched_original.calls, ROUNDS + 1);
		ck_assert_uint_gt(shared_lost(&shared), 0);
		read_watched();
		ck_assert_uint_eq(watched.entries + shared_lost(&shared),
				  ROUNDS);
		ck_assert_uint_eq(watched.entries, watched.returns);
	}
	tear_down();
}
END_TEST

static void *close_gate(void *context)
{
	(void)context;
	usleep(20000);
	__atomic_store_n(&gate->on, 0, __ATOMIC_RELEASE);
	return NULL;
}

static void note_waiting(void *context, pid_t tid UNUSED)
{
	*(bool *)context = true;
}

static void await_waiting(void)
{
	bool waits = false;

	while (!waits) {
		usleep(1000);
		shared_visit_waiting(&shared, note_waiting, &waits);
	}
}

static void *close_gate_on_who_waits(void *context)
{
	await_waiting();
	return close_gate(context);
}

static void check_goes_on(unsigned long count, void *(*close)(void *))
{
	pthread_t other;

	ck_assert_int_eq(pthread_create(&other, NULL, close, NULL), 0);
	ck_assert(call_watched(count));
	pthread_join(other, NULL);
	ck_assert_uint_eq(watched_original.gate, 0);
}

START_TEST(who_waits_for_room_goes_on_when_the_gate_is_shut)
{
	if (watch(AGENT_WAITS)) {
		learn();
		check_goes_on(ROUNDS, close_gate_on_who_waits);
		ck_assert_uint_eq(watched_original.calls, ROUNDS + 1);
		ck_assert_uint_eq(shared_lost(&shared), 0);
	}
	tear_down();
}
END_TEST

static struct {
	pthread_t waits;
	volatile uint64_t ticks;
} absence;

static void be_absent(int signal UNUSED)
{
	const uint64_t began = ticks_now();

	usleep(50000);
	absence.ticks += ticks_now() - began;
}

static void *interrupt_wait(void *context)
{
	await_waiting();
	pthread_kill(absence.waits, SIGUSR1);
	while (!absence.ticks)
		usleep(1000);
	return close_gate(context);
}

/* As while it is held. */
START_TEST(who_waits_costs_no_processor_while_it_is_absent)
{
	struct sigaction action = { .sa_handler = be_absent };
	pthread_t other;

	absence.waits = pthread_self();
	absence.ticks = 0;
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	if (watch(AGENT_WAITS)) {
		struct shared_cost cost;

		learn();
		ck_assert_int_eq(pthread_create(&other, NULL, interrupt_wait,
						NULL),
				 0);
		ck_assert(call_watched(ROUNDS));
		pthread_join(other, NULL);
		cost = shared_cost(&shared);
		ck_assert_uint_gt(cost.turned, 0);
		ck_assert_uint_gt(absence.ticks, 0);
		ck_assert_uint_le(cost.turned + absence.ticks, cost.waited);
	}
	tear_down();
}
END_TEST

/* Nothing is known of the stack: it would go to the trap. */
START_TEST(without_a_sign_of_life_nobody_goes_to_a_trap)
{
	if (watch(0)) {
		shared.memory->beat = ticks_now() - gate->patience / 32;
		check_goes_on(1, close_gate);
		ck_assert_uint_eq(watched_original.calls, 1);
	}
	tear_down();
}
END_TEST

#define MANY (SHARED_BLOCKS + 20)

static pthread_barrier_t all_there;

static void *call_at_once(void *context)
{
	slot(1, 0, 0, 0, 0, 0);
	pthread_barrier_wait(&all_there);
	for (long i = 0; i < 1000; i++)
		slot(1, 0, 0, 0, 0, 0);
	return context;
}

/* More than there are blocks: those that have none share one. */
START_TEST(many_threads_count_each_call_once)
{
	set_up(AGENT_COUNTS);
	pthread_barrier_init(&all_there, NULL, MANY);
	run_threads(MANY, call_at_once);
	ck_assert_uint_eq(counted(0), MANY * 1001);
	tear_down();
}
END_TEST

/* ---- memory for it ---- */

#define ROOM (64 << 10)

static char *map_at(void *hint, int protection)
{
	char *at = mmap(hint, ROOM, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	return at;
}

/* Kernels before 4.17 don't know MAP_FIXED_NOREPLACE: where something is by then,
   what is asked for comes elsewhere. */
START_TEST(memory_that_came_elsewhere_is_not_taken_for_ours)
{
	char *there = map_at(NULL, PROT_READ | PROT_WRITE);
	char *elsewhere = map_at(there, PROT_READ | PROT_EXEC);
	const pid_t pid = getpid();

	ck_assert_ptr_ne(elsewhere, there);
	ck_assert(!room_is_taken(pid, (uintptr_t)there, ROOM));
	ck_assert(room_is_taken(pid, (uintptr_t)elsewhere, ROOM));
	ck_assert(!room_is_taken(pid, (uintptr_t)elsewhere, ROOM / 2));
	ck_assert_int_eq(munmap(there, ROOM), 0);
	ck_assert(!room_is_taken(pid, (uintptr_t)there, ROOM));
	ck_assert_ptr_eq(map_at(there, PROT_READ | PROT_EXEC), there);
	ck_assert_int_eq(munmap(elsewhere, ROOM), 0);
	ck_assert(room_is_taken(pid, (uintptr_t)there, ROOM));
	munmap(there, ROOM);
}
END_TEST

/* ---- signals ---- */

static volatile unsigned long handled;

static void handle(int signal)
{
	(void)signal;
	slot(1000000, 0, 0, 0, 0, 0);
	handled++;
}

/* Handlers may jump out of it: an assertion that holds has check's lock for a moment. */
static void tick(unsigned long microseconds)
{
	const struct itimerval interval = {
		.it_interval.tv_usec = (suseconds_t)microseconds,
		.it_value.tv_usec = (suseconds_t)microseconds,
	};

	if (setitimer(ITIMER_REAL, &interval, NULL))
		ck_abort();
}

/* Its thread lost the processor, or has jumped out of a handler. */
START_TEST(what_is_never_finished_is_counted)
{
	struct agent_block *block;

	set_up(AGENT_RECORDS);
	memset(&seen, 0, sizeof(seen));
	slot(1, 0, 0, 0, 0, 0);
	ck_assert(!shared_is_complete(&shared));
	read_all();
	ck_assert(shared_is_complete(&shared));
	block = (void *)((char *)shared.rings[1].words -
			 offsetof(struct agent_block, ring));
	ck_assert_uint_eq(block->head, block->tail);
	block->head += 10;
	read_all();
	ck_assert(!shared_is_complete(&shared));
	ck_assert_uint_eq(shared_lost(&shared), 0);
	shared_give_up(&shared);
	ck_assert(shared_is_complete(&shared));
	ck_assert_uint_eq(shared_lost(&shared), 1);
	ck_assert_uint_eq(seen.count, 1);
	tear_down();
}
END_TEST

/* More than there are entries and blocks, each with a pointer of its own. */
#define COMING_AND_GOING 1500
#define STACK            65536

static void *call_thrice(void *context)
{
	for (long i = 0; i < 3; i++)
		slot(i, 0, 0, 0, 0, 0);
	*(pid_t *)context = (pid_t)syscall(SYS_gettid);
	return NULL;
}

START_TEST(threads_come_and_go)
{
	char *stacks = mmap(NULL, COMING_AND_GOING * (size_t)STACK,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;
	pid_t tid;
	size_t i;

	if (!tid_offset())
		return; /* not this C library: ended threads keep their blocks */
	set_up(AGENT_RECORDS | AGENT_COUNTS);
	memset(&seen, 0, sizeof(seen));
	ck_assert_ptr_ne(stacks, MAP_FAILED);
	for (i = 0; i < COMING_AND_GOING; i++) {
		pthread_attr_init(&attributes);
		pthread_attr_setstack(&attributes, stacks + i * STACK, STACK);
		ck_assert_int_eq(pthread_create(&thread, &attributes,
						call_thrice, &tid),
				 0);
		pthread_join(thread, NULL);
		pthread_attr_destroy(&attributes);
		read_all();
		shared_thread_ended(&shared, tid);
		shared_beat(&shared);
	}
	ck_assert_uint_eq(seen.count, 3 * COMING_AND_GOING);
	ck_assert_uint_eq(counted(0), 3 * COMING_AND_GOING);
	ck_assert_uint_eq(shared_lost(&shared), 0);
	ck_assert_uint_le(shared.blocks, 8);
	tear_down();
	munmap(stacks, COMING_AND_GOING * (size_t)STACK);
}
END_TEST

/* In the middle of hooks, reservations included. */
START_TEST(handlers_make_calls_too)
{
	const struct sigaction action = { .sa_handler = handle,
					  .sa_flags = SA_RESTART };
	unsigned long made = 0;

	set_up(AGENT_RECORDS | AGENT_COUNTS);
	memset(&seen, 0, sizeof(seen));
	sigaction(SIGALRM, &action, NULL);
	handled = 0;
	tick(50);
	while (handled < 2000) {
		for (long i = 0; i < 500; i++, made++)
			slot(1, 0, 0, 0, 0, 0);
		shared_beat(&shared);
		read_all();
	}
	tick(0);
	read_all();
	ck_assert_uint_eq(counted(0), made + handled);
	ck_assert_uint_eq(seen.count + shared_lost(&shared), made + handled);
	ck_assert_uint_eq(shared_lost(&shared), 0);
	ck_assert_uint_eq(seen.sum, made + handled * 1000000);
	tear_down();
}
END_TEST

static sigjmp_buf before_handler;

static void jump_away(int signal)
{
	(void)signal;
	siglongjmp(before_handler, 1);
}

/* A record that is never finished holds up nothing for long. */
START_TEST(handlers_jump_out_of_hooks)
{
	const struct sigaction action = { .sa_handler = jump_away };
	volatile unsigned jumps = 0;
	unsigned long before;

	set_up(AGENT_RECORDS | AGENT_COUNTS);
	sigaction(SIGALRM, &action, NULL);
	if (sigsetjmp(before_handler, 1))
		jumps++;
	else
		tick(100);
	while (jumps < 2000)
		slot(1, 0, 0, 0, 0, 0);
	tick(0);
	/* Each twice: it may be noticed at one time and given up at another. */
	for (unsigned i = 1; i <= 2 * jumps + 1; i++)
		shared_read(&shared, i * 2000000000ull, see, NULL, NULL);
	before = seen.count;
	slot(1, 0, 0, 0, 0, 0);
	read_all();
	ck_assert_uint_eq(seen.count, before + 1);
	tear_down();
}
END_TEST

/* Whether the page is there, without having it by looking. */
static bool is_there(const void *address)
{
	unsigned char there = 0;

	ck_assert_int_eq(mincore((void *)((uintptr_t)address & -4096ul), 1,
				 &there),
			 0);
	return there & 1;
}

/* Threads may be at work there: what they wrote to would be had anew. */
START_TEST(rings_are_emptied_but_for_where_they_end)
{
	const uint64_t *words;
	struct agent_block *block;
	unsigned i, size = SHARED_RING_WORDS;
	uint64_t head;

	set_up(AGENT_RECORDS);
	for (i = 0; i < 20000; i++) {
		slot(1, 0, 0, 0, 0, 0);
		if (i % 1000 == 0)
			read_all();
	}
	words = shared.rings[1].words;
	block = (struct agent_block *)((char *)words -
				       offsetof(struct agent_block, ring));
	head = block->head;
	ck_assert_uint_gt(head, size / 8);
	ck_assert(is_there(&words[(head + size / 2) % size]));
	shared_empty_rings(&shared);
	ck_assert(is_there(block));
	ck_assert(is_there(shared.memory));
	ck_assert(is_there(&words[head % size]));
	ck_assert(is_there(&words[(head - 1000) % size]));
	ck_assert(is_there(&words[(head + 1000) % size]));
	ck_assert(!is_there(&words[(head + size / 2) % size]));
	ck_assert(!is_there(&words[(head - 8192) % size]));
	shared_empty(&shared);
	ck_assert(!is_there(block));
	tear_down();
}
END_TEST

/* ---- memory that the program scribbles over ---- */

static void scribble(unsigned *seed, void *memory, size_t size)
{
	uint64_t *words = memory;

	for (size_t i = 0; i < size / sizeof(*words); i++)
		if (rand_r(seed) % 4 == 0)
			words[i] = rand_r(seed) % 3 ?
					   (uint64_t)rand_r(seed) % 200 :
					   ~(uint64_t)rand_r(seed);
}

/* That ends, whatever times there are. */
static void read_garbage_in_parts(uint64_t now)
{
	const uint64_t all = ticks_now();
	uint64_t told, until = 0;
	unsigned parts = 0;
	bool more = true;

	shared_begin_reading(&shared);
	while (more) {
		told = until;
		until = all + 1000000000;
		more = shared_read_part(&shared, now, told, see, see_entry,
					NULL, &until);
		ck_assert_uint_lt(parts++, 100000);
	}
}

START_TEST(garbage_is_survived)
{
	struct agent_counter counter;
	unsigned seed = 1, round;

	set_up(AGENT_RECORDS | AGENT_COUNTS);
	slot(1, 0, 0, 0, 0, 0);
	gate->on = 0;
	for (round = 0; round < 300; round++) {
		scribble(&seed, shared.memory, sizeof(*shared.memory));
		scribble(&seed, (void *)shared.rings[1].words, 65536);
		shared_read(&shared, round * 2000000000ull, see, NULL, NULL);
		read_garbage_in_parts(round * 2000000000ull);
		shared_counter(&shared, 0, &counter);
		shared_thread_ended(&shared, 5);
		shared_beat(&shared);
		(void)shared_lost(&shared);
	}
	ck_assert_uint_le(shared.blocks, SHARED_BLOCKS);
	tear_down();
}
END_TEST

START_TEST(a_file_that_shrinks_is_refused)
{
	struct shared other;
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	ck_assert_int_eq(shared_open(&other, fd, 0), -EBADF);
	fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ck_assert_int_eq(ftruncate(fd, (off_t)shared_size()), 0);
	ck_assert_int_eq(shared_open(&other, dup(fd), 0), 0);
	ck_assert_int_eq(ftruncate(fd, 4096), -1);
	close(fd);
	shared_close(&other);
}
END_TEST

/* ---- stubs ---- */

/* The original is entered behind its first instruction, by a copy of that, also by the door. */
START_TEST(the_first_instruction_is_copied)
{
	struct stub_config config;
	struct agent_stub stub;
	struct insn insn;

	set_up(AGENT_COUNTS);
	ck_assert_int_eq(arch_x86_64.insn_decode((uintptr_t)gives_back,
						 (const void *)gives_back, 16,
						 &insn),
			 0);
	config = (struct stub_config){
		.base = (uintptr_t)base,
		.index = 1,
		.function = (uintptr_t)gives_back,
		.insn = &insn,
		.has_door = true,
		.arguments = 1,
	};
	ck_assert_int_eq(stub_make(&config, &stub), 0);
	ck_assert_uint_ne(stub.original, stub.function);
	ck_assert_uint_ne(stub.original, stub.door);
	write_code(base + AGENT_STUBS_OFFSET + AGENT_STUB_SIZE, &stub,
		   sizeof(stub));
	slot = (function *)stub_address(config.base, 1);
	ck_assert_int_eq(slot(77, 0, 0, 0, 0, 0), 77);
	ck_assert_uint_eq(counted(1), 1);
	/* What comes by the door is told of by the trap there. */
	ck_assert_uint_eq(stub.door, stub_door(config.base, 1));
	slot = (function *)stub.door;
	ck_assert_int_eq(slot(78, 0, 0, 0, 0, 0), 78);
	ck_assert_uint_eq(counted(1), 1);
	tear_down();
}
END_TEST

/*
 * Those that may throw, be cancelled, return twice or look at who has called
 * them are not among them.
 */
#define STRING "St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE"

START_TEST(what_may_be_called_is_known)
{
	static const char *const may[] = { "__ctype_b_loc", "abs",
					   "free",          "ldexp",
					   "localeconv",    "strlen",
					   "wmemset" };
	static const char *const may_not[] = { "dlsym",  "execve", "printf",
					       "qsort",  "raise",  "read",
					       "setjmp", "vfork" };
	static const char cxx[] = "libstdc++.so.6";

	for (unsigned i = 0; i < ARRAY_SIZE(may); i++)
		ck_assert_msg(callable_by_agent(may[i], "libc.so.6"), "%s",
			      may[i]);
	for (unsigned i = 0; i < ARRAY_SIZE(may_not); i++)
		ck_assert_msg(!callable_by_agent(may_not[i], "libc.so.6"), "%s",
			      may_not[i]);
	ck_assert(callable_by_agent("pow", "libm.so.6"));
	ck_assert(callable_by_agent("powf", "libm.so.6"));
	ck_assert(callable_by_agent("modf", "libm.so.6"));
	ck_assert(!callable_by_agent("powl", "libm.so.6"));
	ck_assert(!callable_by_agent("f", "libm.so.6"));
	ck_assert(!callable_by_agent("pow", "libother.so"));
	ck_assert(!callable_by_agent("strlen", "libother.so"));
	ck_assert(callable_by_agent("free", "libother.so"));
	ck_assert(callable_by_agent("_ZSt11_Hash_bytesPKvmm", cxx));
	ck_assert(!callable_by_agent("_ZSt11_Hash_bytesPKvmm", "libother.so"));
	ck_assert(!callable_by_agent("_ZSt9terminatev", cxx));
	ck_assert(works_in_cxx_library("_ZN" STRING "9_M_createERmm"));
	ck_assert(works_in_cxx_library("_ZNK" STRING "4findEcm"));
	ck_assert(!works_in_cxx_library("_ZNSo5flushEv"));
	ck_assert(!works_in_cxx_library("_Z"));
}
END_TEST

/* Each is found, and what isn't read for certain isn't there. */
START_TEST(what_is_copied_is_known_by_name)
{
	static const char *const texts[] = {
		"__memcpy_chk", "__strcpy_chk", "atoi",    "mbrlen", "mbrtowc",
		"memmove",      "strchrnul",    "strcoll", "strrchr"
	};
	static const char *const others[] = { "memrchr", "read", "strcat",
					      "strstr", "strtol" };
	uint8_t captures[AGENT_CAPTURES];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		ck_assert_msg(capture_plan(texts[i], captures), "%s", texts[i]);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert_msg(!capture_plan(others[i], captures), "%s",
			      others[i]);
	ck_assert_uint_eq(capture_plan("memmove", captures), 1 << 1);
	ck_assert_uint_eq(capture_plan("__errno_location", captures),
			  CAPTURE_WHOLE_RESULT);
	ck_assert_uint_eq(fill_plan("readdir64", captures),
			  CAPTURE_WHOLE_RESULT);
	ck_assert_uint_eq(fill_plan("read", captures), 1 << 1);
	ck_assert_uint_eq(captures[1], 0);
	ck_assert_uint_eq(fill_plan("getdelim", captures), 1 << 1 | 1 << 0);
	ck_assert_uint_eq(look_plan("strtol", captures), 1 << 1 | 1 << 0);
	ck_assert(agent_is_looked_at_first(captures[0]));
	ck_assert(!agent_is_looked_at_first(captures[1]));
	ck_assert(!agent_is_looked_at_first(captures[2]));
	ck_assert_uint_eq(look_plan("strlen", captures), 0);
}
END_TEST

START_TEST(what_returns_in_its_own_way_is_known_by_name)
{
	static const char *const may[] = { "read",    "epoll_wait",
					   "qsort",   "_ZSt4sortv",
					   "dlclose", "PyObject_Call",
					   "strcoll" };
	static const char *const may_not[] = {
		"_setjmp",     "__sigsetjmp",    "vfork",
		"dlopen",      "dlsym",          "swapcontext",
		"getcontext",  "_Unwind_Resume", "__cxa_throw",
		"siglongjmp",  "_ULx86_64_step", "jump_fcontext",
		"caml_c_call", "__cxa_rethrow",  "_Unwind_Backtrace",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(may); i++)
		ck_assert_msg(replaceable_by_agent(may[i]), "%s", may[i]);
	for (i = 0; i < ARRAY_SIZE(may_not); i++)
		ck_assert_msg(!replaceable_by_agent(may_not[i]), "%s",
			      may_not[i]);
	ck_assert(cuts_stacks("_greenlet.cpython-311-x86_64-linux-gnu.so"));
	ck_assert(cuts_stacks("libbigloo_s-4.5a.so"));
	ck_assert(!cuts_stacks("libgreen.so"));
}
END_TEST

START_TEST(what_only_waits_is_known_by_name)
{
	static const char *const waits[] = { "__fgets_chk",    "accept",
					     "read",           "epoll_wait",
					     "fwrite",         "writev",
					     "fwrite_unlocked" };
	static const char *const others[] = { "qsort",   "dlclose",
					      "bsearch", "pthread_join",
					      "ftw",     "reader" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(waits); i++) {
		ck_assert_msg(waits_in_c_library(waits[i]), "%s", waits[i]);
		ck_assert(replaceable_by_agent(waits[i]));
		ck_assert(!callable_by_agent(waits[i], "libc.so.6"));
	}
	for (i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert_msg(!waits_in_c_library(others[i]), "%s", others[i]);
}
END_TEST

START_TEST(who_asks_a_database_only_waits)
{
	static const char client[] = "libmariadb.so.3", other[] = "libz.so.1";

	ck_assert(waits_for_database("mysql_real_query", client));
	ck_assert(waits_for_database("PQexec", "libpq.so.5"));
	ck_assert(waits_for_database("mysql_store_result", client));
	ck_assert(!waits_for_database("mysql_real_connect", client));
	ck_assert(!waits_for_database("mysql_real_query", other));
	ck_assert(!waits_for_database("mysql_real_query", NULL));
	ck_assert(!waits_for_database("sqlite3_step", "libsqlite3.so.0"));
}
END_TEST

START_TEST(a_call_is_no_first_instruction)
{
	const uint8_t code[16] = { 0xe8, 1, 2, 3, 4 };
	struct stub_config config = { .base = 0x10000, .function = 0x20000 };
	struct agent_stub stub;
	struct insn insn;

	ck_assert_int_eq(arch_x86_64.insn_decode(0x20000, code, sizeof(code),
						 &insn),
			 0);
	config.insn = &insn;
	ck_assert_int_lt(stub_make(&config, &stub), 0);
}
END_TEST

/* ---- calls of which some are chosen ---- */

#define SURELY (1l << 40) /* bytes that some mark lies in */
#define MEAN   4096

/* What asks for bytes, and gets them there; which may ask for more. */
static long acquired;
static bool asks_within;
static long asks_for;

static long acquires(long bytes, long b, long c, long d, long e, long f)
{
	(void)bytes, (void)b, (void)c, (void)d, (void)e, (void)f;
	watched_original.caller = (uintptr_t)__builtin_return_address(0);
	watched_original.calls++;
	if (!asks_within)
		return acquired;
	asks_within = false;
	return slot(asks_for, 0, 0, 0, 0, 0);
}

static unsigned long released;

static long releases(long address, long b, long c, long d, long e, long f)
{
	(void)address, (void)b, (void)c, (void)d, (void)e, (void)f;
	watched_original.caller = (uintptr_t)__builtin_return_address(0);
	released++;
	return 0;
}

static function *volatile release_slot;

static void add_sampled(unsigned index, function *original_function,
			enum stub_way way, unsigned failure)
{
	const struct stub_config config = {
		.base = (uintptr_t)base,
		.index = index,
		.function = (uintptr_t)original_function,
		.arguments = 3,
		.failure = failure,
		.way = way,
	};
	struct agent_stub stub;

	ck_assert_int_eq(stub_make(&config, &stub), 0);
	write_code(base + AGENT_STUBS_OFFSET + index * AGENT_STUB_SIZE, &stub,
		   sizeof(stub));
}

static __attribute__((noinline)) long acquire(long bytes)
{
	const long address = slot(bytes, 0, 0, 0, 0, 0);

	__asm__ volatile("");
	return address;
}

static __attribute__((noinline)) void release(long address)
{
	release_slot(address, 0, 0, 0, 0, 0);
	__asm__ volatile("");
}

static struct agent_thread *own_entry(void)
{
	uint64_t pointer;
	unsigned i;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	for (i = 0; i < AGENT_THREADS; i++)
		if (shared.memory->threads[i].pointer == pointer)
			return &shared.memory->threads[i];
	return NULL;
}

static void learn_caller(void)
{
	shared_add_row(&shared, watched_original.caller,
		       agent_rule(AGENT_RULE_OUTERMOST, 0, 0));
}

/* Both ways are known then. False where threads' numbers aren't. */
static bool set_up_sampled(void)
{
	memset(&watched, 0, sizeof(watched));
	memset(&watched_original, 0, sizeof(watched_original));
	released = 0;
	asks_within = false;
	asks_for = SURELY;
	acquired = 0x123450;
	set_up(AGENT_WATCHES | AGENT_SAMPLES);
	gate->depth = 8;
	gate->mean = MEAN;
	ck_assert_int_eq(shared_begin_marks(&shared), 0);
	add_sampled(0, acquires, STUB_SAMPLES,
		    agent_act(AGENT_ACQUIRES, 0, AGENT_NO_ARGUMENT));
	add_sampled(1, releases, STUB_RELEASES,
		    AGENT_ENTRY_ONLY |
			    agent_act(AGENT_RELEASES, AGENT_NO_ARGUMENT,
				      AGENT_NO_ARGUMENT));
	slot = (function *)stub_address((uintptr_t)base, 0);
	release_slot = (function *)stub_address((uintptr_t)base, 1);
	if (!gate->tid_offset)
		return false;
	ck_assert_int_eq(acquire(SURELY), acquired);
	learn_stack();
	learn_caller();
	ck_assert(shared_mark(&shared, 0x1000));
	release(0x1000);
	learn_caller();
	release(0x1000);
	read_watched();
	memset(&watched, 0, sizeof(watched));
	released = 0;
	return true;
}

/* So many of a hundred of one byte are told of. */
static unsigned told_of_small(void)
{
	memset(&watched, 0, sizeof(watched));
	for (unsigned i = 0; i < 100; i++)
		ck_assert_int_eq(acquire(1), acquired);
	read_watched();
	return watched.entries;
}

/* Each says at which rate it was chosen; the next one's is another. One that is
   none, as others can write there, is cut to one. */
START_TEST(rate_changes_at_once)
{
	if (set_up_sampled()) {
		ck_assert_int_eq(acquire(SURELY), acquired);
		read_watched();
		ck_assert_uint_eq(watched.entry.rate, 0);
		gate->mean = 1;
		gate->rate = AGENT_RATES + 6;
		ck_assert_int_eq(acquire(SURELY << 20), acquired);
		read_watched();
		ck_assert_uint_eq(watched.entry.rate, 6);
		gate->rate = 0;
		ck_assert_uint_eq(told_of_small(), 100);
		ck_assert_uint_eq(watched.entry.rate, 0);
		gate->rate = 31;
		ck_assert_uint_eq(told_of_small(), 0);
	}
	tear_down();
}
END_TEST

START_TEST(what_is_chosen_is_told_and_marked)
{
	if (set_up_sampled()) {
		ck_assert_int_eq(acquire(SURELY), acquired);
		read_watched();
		ck_assert_uint_eq(watched.entries, 1);
		ck_assert_uint_eq(watched.returns, 1);
		ck_assert_int_eq(watched.entry.choice, AGENT_CHOICE_KEPT);
		ck_assert_uint_eq(watched.entry.arguments[0], SURELY);
		ck_assert_uint_eq(watched.back.result, acquired);
		ck_assert(!watched.back.unmarked);
		release(acquired + 16);
		read_watched();
		ck_assert_uint_eq(watched.entries, 1);
		release(acquired);
		release(acquired);
		release(0);
		read_watched();
		ck_assert_uint_eq(watched.entries, 2);
		ck_assert_uint_eq(watched.entry.stub, 1);
		ck_assert_uint_eq(watched.entry.arguments[0], acquired);
		ck_assert_uint_eq(released, 4);
		ck_assert_uint_eq(shared_unmarked(&shared), 0);
	}
	tear_down();
}
END_TEST

/* One of so many bytes is, in the mean; nothing is written of the others. */
START_TEST(bytes_are_marked_at_random)
{
	const unsigned long calls = 100000, bytes = 64;
	unsigned long i;

	if (set_up_sampled()) {
		for (i = 0; i < calls; i++) {
			ck_assert_int_eq(acquire((long)bytes), acquired);
			if (i % 64 == 0)
				read_watched();
		}
		read_watched();
		/* 1550, and never so far from that by chance */
		ck_assert_uint_gt(watched.entries, 1200);
		ck_assert_uint_lt(watched.entries, 1900);
		ck_assert_uint_eq(watched.returns, watched.entries);
		ck_assert_uint_eq(shared_lost(&shared), 0);
	}
	tear_down();
}
END_TEST

/* Not for ever where a handler has jumped out of it. */
START_TEST(within_a_call_is_not_far_below_it)
{
	ck_assert(agent_is_within(0x7fff1000, 0x7fff0ff8));
	ck_assert(agent_is_within(0x7fff1000, 0x7fff1000 - AGENT_WITHIN_MOST));
	ck_assert(!agent_is_within(0x7fff1000, 0x7fff0fff - AGENT_WITHIN_MOST));
	ck_assert(!agent_is_within(0x7fff1000, 0x7fff1000));
	ck_assert(!agent_is_within(0x7fff1000, 0x7fff1008));
	ck_assert(!agent_is_within(0, 0x7fff1000));
}
END_TEST

START_TEST(what_is_asked_for_within_another_call_is_none)
{
	if (set_up_sampled()) {
		own_entry()->left = 1000;
		asks_within = true;
		ck_assert_int_eq(acquire(1), acquired);
		ck_assert(!asks_within);
		read_watched();
		ck_assert_uint_eq(watched.entries, 0);
		ck_assert_uint_eq(own_entry()->left, 999);
		ck_assert_uint_eq(own_entry()->within, 0);
		asks_within = true;
		asks_for = 1;
		ck_assert_int_eq(acquire(1), acquired);
		ck_assert(!asks_within);
		ck_assert_uint_eq(own_entry()->left, 998);
		ck_assert_int_eq(acquire(SURELY), acquired);
		read_watched();
		ck_assert_uint_eq(watched.entries, 1);
	}
	tear_down();
}
END_TEST

static unsigned told_with(long bytes, uint64_t left)
{
	memset(&watched, 0, sizeof(watched));
	own_entry()->left = left;
	ck_assert_int_eq(acquire(bytes), acquired);
	read_watched();
	ck_assert_uint_eq(own_entry()->within, 0);
	return watched.entries;
}

/* None is taken for one byte, and none is negative: only what is left may be, where a
   handler has come in between. */
START_TEST(sizes_count_as_what_they_are)
{
	if (set_up_sampled()) {
		ck_assert_uint_eq(told_with(0, 1000), 0);
		ck_assert_uint_eq(own_entry()->left, 999);
		ck_assert_uint_eq(told_with(0, 1), 1);
		ck_assert_uint_eq(told_with(2, 3), 0);
		ck_assert_uint_eq(own_entry()->left, 1);
		ck_assert_uint_eq(told_with(2, 2), 1);
		ck_assert_uint_eq(told_with(1, (uint64_t)-5), 1);
		ck_assert_uint_eq(told_with(-1, SURELY), 1);
		ck_assert_uint_eq(told_with(INT64_MIN, SURELY), 1);
		ck_assert_uint_lt(own_entry()->left, SURELY);
		gate->on = 0;
		ck_assert_uint_eq(told_with(1, 1000), 0);
		ck_assert_uint_eq(own_entry()->left, 1000);
	}
	tear_down();
}
END_TEST

/* A call that was jumped out of; one of a thread that has ended in it. */
START_TEST(what_is_over_stands_for_nothing)
{
	if (set_up_sampled()) {
		struct agent_thread *own = own_entry();
		const uint32_t tid = own->tid;

		own->within = (uintptr_t)&own - 0x8000;
		ck_assert_uint_eq(told_with(1, 1000), 0);
		ck_assert_uint_eq(own->left, 999);
		own->within = (uintptr_t)&own + sizeof(own);
		own->tid = tid + 1;
		ck_assert_uint_eq(told_with(1, 1000), 0);
		ck_assert_uint_eq(own->left, 999);
		ck_assert_uint_eq(own->tid, tid);
		own->tid = tid + 1;
		ck_assert_uint_eq(told_with(1, 1000), 0);
		ck_assert_uint_eq(own->left, 999);
		ck_assert_uint_eq(own->tid, tid);
	}
	tear_down();
}
END_TEST

/* Who walks over stacks finds the way above each hook that calls. */
START_TEST(all_calls_of_hooks_are_known)
{
	static const uint8_t call[] = AGENT_CALL;
	size_t at, count = 0;

	for (at = 0; at + sizeof(call) <= agent_image_size; at++)
		count += !memcmp(agent_image + at, call, sizeof(call));
	ck_assert_uint_gt(count, 0);
	ck_assert_uint_le(count, OWN_FRAMES);
}
END_TEST

/* It can't be walked over: who stands at the trap is told what was chosen. */
START_TEST(what_is_chosen_is_known_at_the_trap)
{
	if (set_up_sampled()) {
		const struct agent_thread *own = own_entry();
		uint64_t place;
		unsigned rate;

		shared_clear_rows(&shared);
		ck_assert_int_eq(acquire(SURELY), acquired);
		read_watched();
		ck_assert_uint_eq(watched.entries, 0);
		place = agent_trapped_slot(own->trapped);
		ck_assert_int_eq(shared_take_choice(&shared, own->pointer,
						    (pid_t)own->tid, place + 8,
						    &rate),
				 AGENT_CHOICE_OPEN);
		ck_assert_int_eq(acquire(SURELY), acquired);
		ck_assert_int_eq(shared_take_choice(&shared, own->pointer,
						    (pid_t)own->tid, place,
						    &rate),
				 AGENT_CHOICE_KEPT);
		ck_assert_int_eq(shared_take_choice(&shared, own->pointer,
						    (pid_t)own->tid, place,
						    &rate),
				 AGENT_CHOICE_OPEN);
	}
	tear_down();
}
END_TEST

static uint8_t *marked_of(uint64_t address)
{
	return &shared.memory->marks.marked[agent_mark_home(address)];
}

/* More than there is room for: some thread that was adding one is gone. */
START_TEST(marks_are_found_where_nobody_counts_them)
{
	const uint64_t address = 0x700010;

	if (set_up_sampled()) {
		*marked_of(address) = AGENT_MARKED_MOST;
		release((long)address);
		read_watched();
		ck_assert_uint_eq(watched.entries, 0);
		ck_assert(shared_mark(&shared, address));
		release((long)address);
		read_watched();
		ck_assert_uint_eq(watched.entries, 1);
		ck_assert(!agent_is_marked(&shared.memory->marks, address));
		ck_assert_uint_eq(*marked_of(address), AGENT_MARKED_MOST);
	}
	tear_down();
}
END_TEST

/* Blocks of one page have one line, and some of the next. */
START_TEST(marks_find_no_place)
{
	const long page = 0x700000, most = AGENT_MARKS * AGENT_MARK_PROBING;
	long i;

	if (set_up_sampled()) {
		for (i = 0; i < most; i++)
			ck_assert(shared_mark(&shared, page + 16 * i));
		ck_assert(!shared_mark(&shared, page + 16 * most));
		ck_assert_uint_eq(*marked_of(page), most);
		shared_unmark(&shared, page + 16 * most);
		shared_unmark(&shared, page + 16 * (most - 1));
		ck_assert(shared_mark(&shared, page + 16 * (most - 1)));
		acquired = page + 16 * most;
		ck_assert_int_eq(acquire(SURELY), acquired);
		read_watched();
		ck_assert_uint_eq(watched.returns, 1);
		ck_assert(watched.back.unmarked);
		ck_assert_uint_eq(shared_unmarked(&shared), 1);
		for (i = most; i--;) {
			release(page + 16 * i);
			read_watched();
		}
		ck_assert_uint_eq(watched.entries, 1 + most);
		for (i = 0; i < AGENT_MARK_LINES; i++) {
			ck_assert_uint_eq(
				shared.memory->marks.lines[i].elsewhere, 0);
			ck_assert_uint_eq(shared.memory->marks.marked[i], 0);
		}
		ck_assert_int_eq(acquire(SURELY), acquired);
		read_watched();
		ck_assert(!watched.back.unmarked);
	}
	tear_down();
}
END_TEST

/* What is being told was marked by the process itself, but for what was to be
   given back by a call that never came back: its mark was taken. */
START_TEST(what_is_kept_again_is_marked_while_it_is_told)
{
	struct agent_engine engine = { .telling = true };
	struct agent_space space = { .engine = &engine, .pid = 1 };

	if (!set_up_sampled()) {
		tear_down();
		return;
	}
	space.agent.shared = shared;
	space.agent.state = AGENT_INSIDE;
	space.marks = true;
	engine.spaces = &space;
	agent_engine_kept(&engine, 1, 0x2000, false);
	ck_assert(!agent_is_marked(&shared.memory->marks, 0x2000));
	agent_engine_kept_again(&engine, 2, 0x2000);
	ck_assert(!agent_is_marked(&shared.memory->marks, 0x2000));
	agent_engine_kept_again(&engine, 1, 0x2000);
	ck_assert(agent_is_marked(&shared.memory->marks, 0x2000));
	engine.telling = false;
	agent_engine_kept(&engine, 1, 0x2000, true);
	ck_assert(!agent_is_marked(&shared.memory->marks, 0x2000));
	tear_down();
}
END_TEST

/* ---- replaced returns ---- */

static function *volatile walker;
static uintptr_t place_of_returns;

/* Whatever it returns to lies there. */
static uintptr_t return_slot(const uintptr_t *frame)
{
	return (uintptr_t)(frame + 1);
}

static long looks(long at, long b, long c, long d, long e, long f)
{
	(void)b, (void)c, (void)d, (void)e, (void)f;
	return *(volatile long *)at;
}

static struct {
	uintptr_t before, after; /* what lies at its slot, for a walker */
	long deeper;             /* how often it calls itself first */
	void (*does)(void);
} within;

static __attribute__((noinline)) long replaced(long a, long b, long c, long d,
					       long e, long f)
{
	const uintptr_t own = return_slot(__builtin_frame_address(0));

	within.before = *(volatile uintptr_t *)own;
	if (within.does)
		within.does();
	if (walker)
		within.after = (uintptr_t)walker((long)own, 0, 0, 0, 0, 0);
	if (a > within.deeper)
		return original(a, b, c, d, e, f);
	return slot(a + 1, b, c, d, e, f) + 1;
}

static void put_stub(unsigned index, void *target, unsigned failure,
		     enum stub_way way)
{
	struct stub_config config = {
		.base = (uintptr_t)base,
		.index = index,
		.function = (uintptr_t)target,
		.arguments = 6,
		.failure = failure,
		.way = way,
	};
	struct agent_stub stub;

	ck_assert_int_eq(stub_make(&config, &stub), 0);
	write_code(base + AGENT_STUBS_OFFSET + index * AGENT_STUB_SIZE, &stub,
		   sizeof(stub));
}

/* ---- calls within others ---- */

static uintptr_t thread_word(void)
{
	uintptr_t pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

static struct shared_nest nests_seen[3];
static bool nest_is_told;

static long calls_itself(long depth, long b, long c, long d, long e, long f)
{
	struct shared_nest *nest = &nests_seen[depth];
	long result = depth;

	(void)shared_find_nest(&shared, thread_word(), nest);
	if (depth == 1 && nest_is_told)
		shared_nest_told(&shared, nest, false);
	if (depth < 2)
		result += slot(depth + 1, b, c, d, e, f);
	return result;
}

/* Each says that it is within another, unless that one has been told of. */
START_TEST(calls_within_others_say_so)
{
	struct shared_nest after;
	const struct agent_frame *frame;

	set_up(AGENT_RECORDS);
	put_stub(0, calls_itself, 0, STUB_RECORDS);
	for (nest_is_told = false;; nest_is_told = true) {
		memset(&seen, 0, sizeof(seen));
		memset(nests_seen, 0, sizeof(nests_seen));
		ck_assert_int_eq(slot(0, 0, 0, 0, 0, 0), 3);
		read_all();
		ck_assert_uint_eq(seen.count, 3);
		for (unsigned i = 0; i < 3; i++) {
			const struct agent_record *record = &seen.records[i];

			ck_assert_uint_eq(record->arguments[0], 2 - i);
			ck_assert_uint_eq(nests_seen[2 - i].slot, record->slot);
			ck_assert_uint_eq(nests_seen[2 - i].block,
					  record->block);
		}
		ck_assert_int_eq(seen.records[0].inner, !nest_is_told);
		ck_assert(seen.records[1].inner);
		ck_assert(!seen.records[2].inner);
		ck_assert(shared_find_nest(&shared, thread_word(), &after));
		ck_assert_uint_eq(after.slot, 0);
		if (nest_is_told)
			break;
	}
	frame = (const struct agent_frame *)(nests_seen[0].slot -
					     AGENT_FRAME_RETURN);
	ck_assert_uint_eq((uintptr_t)&frame->return_address,
			  nests_seen[0].slot);
	tear_down();
}
END_TEST

/* ---- calls that stand for others ---- */

static struct {
	void (*first)(void); /* what is done before the inner call */
	uintptr_t caller;
} stands;

#define GROUP (1u << AGENT_GROUP_SHIFT)
#define OTHER (2u << AGENT_GROUP_SHIFT)

/* The compiler makes a jump of the last call, however it is told to optimize. */
#ifdef __clang__
#define OPTIMIZED
#define JUMP __attribute__((musttail))
#else
#define OPTIMIZED __attribute__((optimize("O2")))
#define JUMP
#endif

static OPTIMIZED __attribute__((noinline)) long goes_on(long a, long b, long c,
							long d, long e, long f)
{
	JUMP return slot(a, b, c, d, e, f);
}

static __attribute__((noinline)) long stands_for(long a, long b, long c, long d,
						 long e, long f)
{
	long result;

	stands.caller = (uintptr_t)__builtin_return_address(0);
	if (stands.first)
		stands.first();
	result = slot(a, b, c, d, e, f);
	__asm__ volatile("" : "+r"(result));
	return result;
}

static function *volatile outer_slot;

static __attribute__((noinline)) long call_outer(void)
{
	long result = outer_slot(1, 2, 3, 4, 5, 6);

	__asm__ volatile("" : "+r"(result));
	return result;
}

static void learn_both(void)
{
	/* Where nothing is hooked the callers are the functions themselves. */
	slot = is_watched;
	outer_slot = stands_for;
	call_outer();
	shared_add_row(&shared, watched_original.caller,
		       agent_rule(AGENT_RULE_OUTERMOST, 0, 0));
	if (stands.caller)
		shared_add_row(&shared, stands.caller,
			       agent_rule(AGENT_RULE_OUTERMOST, 0, 0));
	slot = (function *)stub_address((uintptr_t)base, 0);
	outer_slot = (function *)stub_address((uintptr_t)base, 1);
	own_entry()->within = 0;
}

static void forget_outer(void)
{
	shared_forget_outer(&shared, thread_word());
}

static bool set_up_standing(void *outer, unsigned inner_group)
{
	memset(&stands, 0, sizeof(stands));
	if (!watch(0))
		return false;
	put_stub(0, is_watched, inner_group, STUB_WATCHES);
	put_stub(1, outer, AGENT_REPLACES | GROUP, STUB_WATCHES);
	ck_assert(call_watched(1)); /* the thread has its place */
	learn_stack();
	learn_both();
	read_watched();
	memset(&watched, 0, sizeof(watched));
	return true;
}

static void expect_calls(unsigned long count)
{
	memset(&watched, 0, sizeof(watched));
	ck_assert_int_eq(call_outer(), 2);
	read_watched();
	ck_assert_uint_eq(watched.entries, count);
	ck_assert_uint_eq(watched.returns, count);
	ck_assert_uint_eq(shared_lost(&shared), 0);
}

START_TEST(what_is_called_within_one_of_its_group_is_not_told)
{
	if (set_up_standing(stands_for, GROUP)) {
		expect_calls(1);
		ck_assert_uint_eq(watched.entry.stub, 1);
		ck_assert_uint_eq(watched.back.result, 2);
		/* It is over, whatever the thread has of it. */
		ck_assert_uint_ne(own_entry()->within, 0);
		outer_slot = stands_for;
		expect_calls(1);
		ck_assert_uint_eq(watched.entry.stub, 0);
	}
	tear_down();
}
END_TEST

/* … but where something has come in between. */
START_TEST(returns_that_were_replaced_say_whose_they_are)
{
	if (set_up_standing(stands_for, GROUP)) {
		const uint64_t entry = AGENT_WATCH_FIXED + 6 + 2;

		ck_assert_int_eq(call_outer(), 2);
		ck_assert_uint_eq(read_in_order(), entry + AGENT_WATCH_SHORT);
		ck_assert_uint_eq(told.count, 2);
		expect_return(1, 0, 2);

		stands.first = forget_outer;
		ck_assert_int_eq(call_outer(), 2);
		ck_assert_uint_eq(read_in_order(),
				  2 * entry + AGENT_WATCH_SHORT +
					  AGENT_WATCH_RETURN_WORDS);
		ck_assert_uint_eq(told.count, 4);
		expect_return(2, 1, 2);
		expect_return(3, 0, 2);
	}
	tear_down();
}
END_TEST

START_TEST(what_is_called_within_another_group_is_told)
{
	if (set_up_standing(stands_for, OTHER)) {
		expect_calls(2);
		put_stub(0, is_watched, 0, STUB_WATCHES);
		expect_calls(2);
	}
	tear_down();
}
END_TEST

START_TEST(what_is_called_within_is_told_when_calltrap_says_so)
{
	if (set_up_standing(stands_for, GROUP)) {
		stands.first = forget_outer;
		expect_calls(2);
		ck_assert_uint_eq(watched.entry.stub, 0);
		stands.first = NULL;
		expect_calls(1);
	}
	tear_down();
}
END_TEST

static void walk_over(void)
{
	walker(0, 0, 0, 0, 0, 0);
}

static long looks_at_nothing(long at, long b, long c, long d, long e, long f)
{
	(void)at, (void)b, (void)c, (void)d, (void)e, (void)f;
	return 0;
}

/* Its return isn't seen any more. */
START_TEST(what_is_called_behind_a_walk_is_told)
{
	if (set_up_standing(stands_for, GROUP)) {
		put_stub(2, looks_at_nothing, AGENT_WALKS, STUB_WALKS);
		walker = (function *)stub_address((uintptr_t)base, 2);
		stands.first = walk_over;
		memset(&watched, 0, sizeof(watched));
		ck_assert_int_eq(call_outer(), 2);
		read_watched();
		ck_assert_uint_eq(watched.entries, 2);
		ck_assert_uint_eq(watched.entry.stub, 0);
		walker = NULL;
	}
	tear_down();
}
END_TEST

/* They have one place for their return. */
START_TEST(what_one_of_its_group_goes_on_to_is_not_told)
{
	if (set_up_standing(goes_on, GROUP)) {
		expect_calls(1);
		ck_assert_uint_eq(watched.entry.stub, 1);
		ck_assert(!watched.entry.tail_call);
	}
	tear_down();
}
END_TEST

START_TEST(a_nest_stands_until_it_is_told_of)
{
	struct shared_nest nest;

	set_up(AGENT_RECORDS);
	put_stub(0, calls_itself, 0, STUB_RECORDS);
	nest_is_told = false;
	slot(2, 0, 0, 0, 0, 0);
	nest = nests_seen[2];
	ck_assert_uint_ne(nest.slot, 0);
	ck_assert(!shared_nest_stands(&shared, &nest));
	shared.memory->threads[nest.entry].within = nest.slot;
	ck_assert(!shared_nest_stands(&shared, &nest));
	read_all();
	ck_assert(shared_nest_stands(&shared, &nest));
	shared_nest_told(&shared, &nest, true);
	ck_assert_uint_eq(shared.memory->threads[nest.entry].within, 0);
	shared.memory->threads[nest.entry].within = nest.slot;
	shared_nest_told(&shared, &nest, false);
	ck_assert_uint_eq(shared.memory->threads[nest.entry].within,
			  AGENT_NEST_TOLD);
	shared_nests_forget(&shared);
	ck_assert_uint_eq(shared.memory->threads[nest.entry].within, 0);
	tear_down();
}
END_TEST

/* ---- threads that stand within a hook ---- */

struct standing {
	void (*calls)(void); /* makes one, and counts it */
	void (*stand)(void); /* what is done within it, … */
	void (*go_on)(void); /* … and behind it */
	void (*read)(uint64_t now);
};

/* The processor's trap flag stops a call behind each of its instructions in turn. */
static struct {
	struct standing does;
	unsigned step, at; /* so many have been made; that one is it */
	uint64_t now;      /* of calltrap's clock */
	unsigned long made;
	bool wrong; /* no assertions: check's own code would be stepped through */
} stepped;

#define TRAP_FLAG 0x100

static void let_time_go_by(void)
{
	for (unsigned i = 0; i < 4; i++) {
		stepped.does.read(stepped.now);
		stepped.now += 1000000001;
	}
}

/* Calltrap reads for longer than it waits for a record, before and behind a call. */
static void stand_for_long(void)
{
	let_time_go_by();
	stepped.does.calls();
	let_time_go_by();
	stepped.does.calls();
}

static void stand_at_step(int signal, siginfo_t *info, void *context)
{
	ucontext_t *there = context;

	(void)signal, (void)info;
	if (stepped.step++ != stepped.at)
		return;
	there->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	stepped.does.stand();
}

static void set_flag(void)
{
	__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" : : : "cc");
}

static void clear_flag(void)
{
	__asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" : : : "cc");
}

/* Returns how many calls were made. */
static unsigned long stand_everywhere(const struct standing *does)
{
	const struct sigaction action = { .sa_sigaction = stand_at_step,
					  .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction before;

	memset(&stepped, 0, sizeof(stepped));
	stepped.does = *does;
	stepped.now = 1000000000;
	sigaction(SIGTRAP, &action, &before);
	do {
		stepped.step = 0;
		stepped.at++;
		set_flag();
		stepped.does.calls();
		clear_flag();
		stepped.does.go_on();
	} while (stepped.step > stepped.at);
	sigaction(SIGTRAP, &before, NULL);
	ck_assert_uint_gt(stepped.at, 50);
	ck_assert(!stepped.wrong);
	return stepped.made;
}

static void call_once(void)
{
	__atomic_fetch_add(&stepped.made, 1, __ATOMIC_RELAXED);
	slot(1, 0, 0, 0, 0, 0);
}

static void read_all_at(uint64_t now)
{
	shared_read(&shared, now, see, see_entry, NULL);
}

static void set_up_replaced(uint64_t mode)
{
	memset(&within, 0, sizeof(within));
	memset(&seen, 0, sizeof(seen));
	set_up(mode);
	if (!gate->tid_offset)
		gate->tid_offset =
			16; /* any number of the thread's own will do */
	put_stub(0, replaced, AGENT_REPLACES, STUB_NOTES);
	put_stub(1, looks, AGENT_WALKS, STUB_WALKS);
	walker = NULL;
	place_of_returns =
		(uintptr_t)base + ((struct agent_header *)base)->back;
}

static void use_walker(void)
{
	walker = (function *)stub_address((uintptr_t)base, 1);
}

START_TEST(a_call_whose_return_is_replaced_is_recorded)
{
	set_up_replaced(AGENT_RECORDS);
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	ck_assert_uint_eq(within.before, place_of_returns);
	read_all();
	ck_assert_uint_eq(seen.count, 1);
	ck_assert_uint_eq(seen.records[0].result, 654321);
	ck_assert_uint_eq(seen.records[0].arguments[5], 6);
	ck_assert_uint_eq(seen.entries, 1);
	ck_assert_uint_eq(seen.entry.argument_count, 6);
	ck_assert_uint_eq(seen.entry.arguments[5], 6);
	ck_assert_uint_eq(seen.entry.frame_count, 1);
	ck_assert(!seen.entry.tail_call);
	ck_assert_uint_eq(seen.entry.frames[0], seen.records[0].return_address);
	ck_assert_uint_eq(seen.entry.slot, seen.records[0].slot);
	ck_assert_uint_eq(seen.entry.time, seen.records[0].began);
	ck_assert(
		seen.records[0].return_address -
			(uintptr_t)
				a_call_whose_return_is_replaced_is_recorded_fn <
		4096);
	ck_assert_uint_eq(shared_lost(&shared), 0);
	tear_down();
}
END_TEST

/* Whatever it is about to write. */
START_TEST(a_call_is_told_once_wherever_its_thread_stands_for_long)
{
	const struct standing standing = { call_once, stand_for_long,
					   let_time_go_by, read_all_at };
	unsigned long made;

	set_up(AGENT_RECORDS);
	if (_i)
		put_stub(0, original, AGENT_REPLACES, STUB_NOTES);
	memset(&seen, 0, sizeof(seen));
	made = stand_everywhere(&standing);
	ck_assert_uint_eq(seen.count, made);
	ck_assert_uint_eq(seen.entries, _i ? made : 0);
	ck_assert_uint_eq(seen.sum, made);
	ck_assert_uint_eq(shared_lost(&shared), 0);
	tear_down();
}
END_TEST

/* As calltrap finds the thread with that block to be the only one that records. */
static void let_alone(unsigned block)
{
	__atomic_store_n(&shared.memory->sole, UINT64_C(1) << 32 | block,
			 __ATOMIC_SEQ_CST);
}

#define ALONE 1600

START_TEST(who_is_alone_reads_the_clock_for_some_calls)
{
	if (watch(0)) {
		unsigned long i;

		learn();
		ck_assert(call_watched(1));
		read_watched();
		memset(&watched, 0, sizeof(watched));
		let_alone(1);
		for (i = 0; i < ALONE / 100; i++) {
			ck_assert(call_watched(100));
			read_watched();
		}
		ck_assert_uint_eq(watched.entries, ALONE);
		ck_assert_uint_eq(watched.returns, ALONE);
		ck_assert_uint_eq(watched.falls, 0);
		/* Both times of one call in AGENT_TIMED_OF, more or less. */
		ck_assert_uint_ge(watched.timed, ALONE / AGENT_TIMED_OF);
		ck_assert_uint_le(watched.timed, 4 * ALONE / AGENT_TIMED_OF);
		ck_assert_uint_ne(shared.memory->sole, 0);
		/* Another was: all are timed from then on. */
		let_alone(2);
		ck_assert(call_watched(1));
		ck_assert_uint_eq(shared.memory->sole, 0);
		read_watched();
		watched.timed = 0;
		ck_assert(call_watched(10));
		read_watched();
		ck_assert_uint_eq(watched.timed, 20);
		ck_assert_uint_eq(watched.falls, 0);
	}
	tear_down();
}
END_TEST

/* From places on the stack that differ, so that most walks are told of. */
static __attribute__((noinline)) bool call_from_depth(size_t bytes)
{
	char room[bytes];
	bool right;

	__asm__ volatile("" : : "r"(room) : "memory");
	right = call_watched(1);
	__asm__ volatile("" : : "r"(room) : "memory");
	return right;
}

static void call_watched_once(void)
{
	const unsigned long number =
		__atomic_fetch_add(&stepped.made, 1, __ATOMIC_RELAXED);

	stepped.wrong |= !call_from_depth(16 * (number % 61 + 1));
}

/* Whoever else is there, or alone. */
START_TEST(a_watched_call_is_told_once_wherever_its_thread_stands_for_long)
{
	const struct standing standing = { call_watched_once, stand_for_long,
					   let_time_go_by, read_watched_at };
	unsigned long made;

	if (watch(0)) {
		learn();
		read_watched();
		memset(&watched, 0, sizeof(watched));
		if (_i)
			let_alone(1);
		made = stand_everywhere(&standing);
		ck_assert_uint_eq(watched.entries, made);
		ck_assert_uint_eq(watched.returns, made);
		ck_assert_uint_eq(shared_lost(&shared), 0);
	}
	tear_down();
}
END_TEST

/* ---- handlers that jump out of a hook ---- */

#define OTHERS (1ul << 20)

static struct {
	volatile bool may;
	jmp_buf out;
	unsigned long others; /* calls that nobody jumps out of */
} jumped;

static void call_or_jump(void)
{
	if (!setjmp(jumped.out)) {
		jumped.may = true;
		slot(1, 0, 0, 0, 0, 0);
	}
	jumped.may = false;
}

/* As longjmp() is watched. */
static void stand_and_jump(void)
{
	if (!jumped.may)
		return;
	walker((long)&jumped, 0, 0, 0, 0, 0);
	longjmp(jumped.out, 1);
}

static void go_on_behind_jump(void)
{
	slot(OTHERS, 0, 0, 0, 0, 0);
	slot(OTHERS, 0, 0, 0, 0, 0);
	jumped.others += 2;
	let_time_go_by();
}

START_TEST(who_is_jumped_out_of_loses_no_call)
{
	const struct standing standing = { call_or_jump, stand_and_jump,
					   go_on_behind_jump, read_all_at };

	set_up_replaced(AGENT_RECORDS);
	put_stub(0, original, AGENT_REPLACES, STUB_NOTES);
	use_walker();
	jumped.others = 0;
	(void)stand_everywhere(&standing);
	ck_assert_uint_eq(shared_lost(&shared), 0);
	ck_assert_uint_eq(seen.sum / OTHERS, jumped.others);
	walker = NULL;
	tear_down();
}
END_TEST

/* ---- handlers that fork ---- */

static struct {
	bool late; /* the child goes on behind calls of its parent's */
	bool *may; /* shared with it: now */
	pid_t parent, child;
} forked;

static void await_child(void)
{
	if (forked.child <= 0)
		return;
	__atomic_store_n(forked.may, true, __ATOMIC_RELEASE);
	stepped.wrong |= waitpid(forked.child, NULL, 0) != forked.child;
	forked.child = 0;
}

static void stand_and_fork(void)
{
	*forked.may = false;
	forked.child = fork();
	while (!forked.child && !__atomic_load_n(forked.may, __ATOMIC_ACQUIRE))
		sched_yield();
	if (!forked.late)
		await_child();
}

static void go_on_behind_fork(void)
{
	if (getpid() != forked.parent)
		_exit(0);
	stepped.does.calls();
	stepped.does.calls();
	await_child();
	stepped.does.calls();
	stepped.does.calls();
	let_time_go_by();
}

/* Where it was to reserve room in the ring right then, it does, and leaves it as it is:
   what is given up then may be nothing. */
#define HOLES_MOST 40

static void begin_forking(bool late)
{
	forked.late = late;
	forked.parent = getpid();
	forked.may = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(forked.may, MAP_FAILED);
}

START_TEST(what_a_forked_child_was_about_to_tell_its_parent_tells)
{
	const struct standing standing = { call_once, stand_and_fork,
					   go_on_behind_fork, read_all_at };
	unsigned long made;

	set_up(AGENT_RECORDS | AGENT_COUNTS);
	if (_i & 2)
		put_stub(0, original, AGENT_REPLACES, STUB_NOTES);
	memset(&seen, 0, sizeof(seen));
	begin_forking(_i & 1);
	made = stand_everywhere(&standing);
	ck_assert_uint_eq(seen.count, made);
	ck_assert_uint_eq(seen.sum, made);
	ck_assert_uint_le(shared_lost(&shared), HOLES_MOST);
	munmap(forked.may, 4096);
	tear_down();
}
END_TEST

START_TEST(a_forked_child_changes_nothing_of_its_parents_walks)
{
	const struct standing standing = { call_watched_once, stand_and_fork,
					   go_on_behind_fork, read_watched_at };
	unsigned long made;

	if (watch(0)) {
		learn();
		read_watched();
		memset(&watched, 0, sizeof(watched));
		begin_forking(_i);
		made = stand_everywhere(&standing);
		ck_assert_uint_eq(watched.entries, made);
		ck_assert_uint_eq(watched.returns, made);
		ck_assert_uint_le(shared_lost(&shared), HOLES_MOST);
		munmap(forked.may, 4096);
	}
	tear_down();
}
END_TEST

/* ---- floating-point numbers ---- */

typedef double real_function(double, long, double, double, float, double,
			     double, double, double);

static uint64_t floats_within[AGENT_FLOATS];

/* All such registers are others when it returns, but for its result. */
static __attribute__((noinline)) double real(double a, long b, double c,
					     double d, float e, double f,
					     double g, double h, double i)
{
	double result = a + (double)b + c + d + (double)e + f + g + h + i;
	struct shared_nest nest;

	if (shared_find_nest(&shared, thread_word(), &nest) && nest.slot)
		memcpy(floats_within,
		       ((const struct agent_frame *)(nest.slot -
						     AGENT_FRAME_RETURN))
			       ->floats,
		       sizeof(floats_within));
	__asm__ volatile("pcmpeqd %%xmm1, %%xmm1\n\t"
			 "movdqa %%xmm1, %%xmm2\n\tmovdqa %%xmm1, %%xmm3"
			 :
			 :
			 : "xmm1", "xmm2", "xmm3");
	return result;
}

#define REALS (3u << AGENT_FLOATS_SHIFT | AGENT_FLOAT_RESULT)

static double call_real(void)
{
	real_function *hooked =
		(real_function *)stub_address((uintptr_t)base, 0);

	return hooked(1.5, 7, -2.25, 1e300, 0.5F, 4, 5, 6, -1e300);
}

static double as_real(uint64_t bits)
{
	double ret;

	memcpy(&ret, &bits, sizeof(ret));
	return ret;
}

static void check_floats(const uint64_t *floats, unsigned count)
{
	ck_assert_uint_eq(count, 3);
	ck_assert(as_real(floats[0]) == 1.5);
	ck_assert(as_real(floats[1]) == -2.25);
	ck_assert(as_real(floats[2]) == 1e300);
}

static void check_real_record(void)
{
	const struct agent_record *record = &seen.records[0];

	ck_assert_uint_eq(seen.count, 1);
	ck_assert(record->is_float);
	ck_assert(as_real(record->result) == call_real());
	ck_assert_int_eq(record->error, 0);
	ck_assert_uint_eq(shared_lost(&shared), 0);
}

START_TEST(floating_point_numbers_are_recorded)
{
	double wanted;

	set_up(AGENT_RECORDS);
	wanted = real(1.5, 7, -2.25, 1e300, 0.5F, 4, 5, 6, -1e300);
	put_stub(0, real, REALS, STUB_RECORDS);
	memset(&seen, 0, sizeof(seen));
	memset(floats_within, 0, sizeof(floats_within));
	ck_assert(call_real() == wanted);
	read_all();
	check_real_record();
	check_floats(seen.records[0].floats, seen.records[0].float_count);
	check_floats(floats_within, 3);
	ck_assert_uint_eq(seen.records[0].argument_count, 6);
	ck_assert_uint_eq(seen.records[0].arguments[0], 7);
	tear_down();
}
END_TEST

/* Its entry has them, and its return the result. */
START_TEST(floating_point_numbers_are_told_at_both_ends)
{
	set_up_replaced(AGENT_RECORDS);
	put_stub(0, real, REALS | AGENT_REPLACES, STUB_NOTES);
	ck_assert(call_real() ==
		  real(1.5, 7, -2.25, 1e300, 0.5F, 4, 5, 6, -1e300));
	read_all();
	check_real_record();
	ck_assert_uint_eq(seen.entries, 1);
	check_floats(seen.entry.floats, seen.entry.float_count);
	ck_assert_uint_eq(seen.entry.argument_count, 6);
	ck_assert_uint_eq(seen.entry.arguments[0], 7);
	ck_assert_uint_eq(seen.records[0].float_count, 0);
	tear_down();
}
END_TEST

/* ---- calls that are counted when they begin ---- */

static struct {
	unsigned long calls; /* that were left to the trap */
	double stand_for;
	unsigned rates;  /* a bit for each rate that was said */
	uintptr_t found; /* its return address, as the function finds it */
	bool ends;       /* it jumps out of the function */
	jmp_buf out;
} told_of;

static __attribute__((noinline)) long counted_only(long a, long b, long c,
						   long d, long e, long f)
{
	told_of.found = (uintptr_t)__builtin_return_address(0);
	if (told_of.ends)
		longjmp(told_of.out, 1);
	return original(a, b, c, d, e, f);
}

/* In the place of the trap, which knows where the return address lies. */
__asm__(".text\nat_door:\n\tlea (%rsp), %rdi\n\tmov $1, %esi\n"
	"\tsub $8, %rsp\n\tcall tell_of\n\tadd $8, %rsp\n\tmov $77, %eax\n\tret\n");
extern char at_door[];
void tell_of(uintptr_t slot_of_return);

void tell_of(uintptr_t slot_of_return)
{
	struct call call = { 0 };
	enum agent_choice choice;
	uintptr_t pointer;
	unsigned rate;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	choice = shared_take_choice(&shared, pointer,
				    gate->tid_offset ?
					    (pid_t)syscall(SYS_gettid) :
					    0,
				    slot_of_return, &rate);
	ck_assert_int_eq(choice, AGENT_CHOICE_KEPT);
	told_of.calls++;
	told_of.rates |= 1u << rate;
	call.chosen = (struct call_chosen){ CALL_KEPT, rate };
	told_of.stand_for += call_stands_for(&call);
}

static void set_up_tallied(void)
{
	const uint64_t door = (uintptr_t)at_door;

	memset(&told_of, 0, sizeof(told_of));
	set_up(AGENT_COUNTS);
	put_stub(0, (void *)(uintptr_t)counted_only, 0, STUB_TALLIES);
	write_code(base + AGENT_STUBS_OFFSET +
			   offsetof(struct agent_stub, door),
		   &door, sizeof(door));
}

static void call_tallied(unsigned long times, bool beats)
{
	while (times--) {
		const long result = slot(1, 2, 3, 4, 5, 6);

		ck_assert(result == 654321 || result == 77);
		if (times % 64 == 0 && beats)
			shared_live(&shared);
	}
}

START_TEST(each_call_is_counted_or_told_of)
{
	const unsigned long many = 1000000;
	unsigned rate;

	set_up_tallied();
	call_tallied(100, true);
	ck_assert_uint_eq(told_of.calls, 100);
	ck_assert_uint_eq(counted(0), 0);
	for (rate = 1; rate < 12; rate += 5) {
		const unsigned long told_before = told_of.calls;
		const unsigned long counted_before = counted(0);
		double expected = (double)many / (1u << rate);

		told_of.stand_for = 0;
		told_of.rates = 0;
		shared_set_tally_rate(&shared, 0, rate);
		call_tallied(many, true);
		ck_assert_uint_eq(told_of.calls - told_before + counted(0) -
					  counted_before,
				  many);
		ck_assert_uint_eq(calls_of_original, counted(0));
		ck_assert_uint_eq(told_of.rates, 1u << rate);
		expected = (double)(told_of.calls - told_before);
		/* Six times what it is off by as a rule. */
		ck_assert_double_lt(fabs(told_of.stand_for - (double)many),
				    6 * (double)many / sqrt(expected));
	}
	tear_down();
}
END_TEST

/* No frame of ours is there, and nothing else stands for where it returns to. */
START_TEST(what_is_but_counted_returns_by_itself)
{
	unsigned i;

	set_up_tallied();
	call_tallied(1, true);
	shared_set_tally_rate(&shared, 0, 31);
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	ck_assert(told_of.found -
			  (uintptr_t)what_is_but_counted_returns_by_itself_fn <
		  4096);
	told_of.ends = true;
	for (i = 0; i < 2 * AGENT_RETURNS; i++)
		if (!setjmp(told_of.out))
			(void)slot(1, 2, 3, 4, 5, 6);
	ck_assert_uint_eq(counted(0), 1 + 2 * AGENT_RETURNS);
	ck_assert_uint_eq(told_of.calls, 1);
	tear_down();
}
END_TEST

/* Nobody is sent to a trap that may not be served, and no call is missed for that. */
START_TEST(without_a_sign_of_life_all_are_counted)
{
	set_up_tallied();
	gate->patience *= 64; /* an hour; a minute is fresh */
	shared.memory->beat -= gate->patience / 64;
	call_tallied(10, false);
	ck_assert_uint_eq(told_of.calls, 0);
	ck_assert_uint_eq(counted(0), 10);
	ck_assert_uint_eq(gate->on, 1);
	shared_beat(&shared);
	call_tallied(10, false);
	ck_assert_uint_eq(told_of.calls, 10);
	shared.memory->beat -= gate->patience + 1;
	call_tallied(10, false);
	ck_assert_uint_eq(told_of.calls, 10);
	ck_assert_uint_eq(gate->on, 0);
	tear_down();
}
END_TEST

START_TEST(who_walks_over_the_stack_finds_what_was_there)
{
	set_up_replaced(AGENT_RECORDS);
	use_walker();
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	ck_assert_uint_eq(within.before, place_of_returns);
	ck_assert_uint_ne(within.after, place_of_returns);
	read_all();
	ck_assert_uint_eq(seen.count, 0); /* nobody sees it return */
	ck_assert_uint_eq(seen.entries, 1);
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	ck_assert_uint_eq(within.before, place_of_returns);
	tear_down();
}
END_TEST

static void shut(void)
{
	gate->on = 0;
}

START_TEST(behind_a_closed_gate_calls_return)
{
	set_up_replaced(AGENT_RECORDS);
	within.does = shut;
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	ck_assert_uint_eq(within.before, place_of_returns);
	gate->on = 1;
	use_walker();
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	ck_assert_uint_eq(within.before, place_of_returns);
	ck_assert_uint_ne(within.after, place_of_returns);
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	ck_assert_uint_ne(within.before, place_of_returns);
	tear_down();
}
END_TEST

/* Calltrap and its guardian were killed; the next one comes at once. */
static void repair(void)
{
	struct space space = { 0 };

	procmem_init(&space.memory, getpid());
	ck_assert_uint_eq(remains_repair_code(&space), 0);
	procmem_fini(&space.memory);
}

START_TEST(the_gate_of_a_dead_calltrap_is_shut)
{
	set_up_replaced(AGENT_RECORDS);
	within.does = repair;
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	ck_assert_uint_eq(within.before, place_of_returns);
	ck_assert_uint_eq(gate->on, 0);
	within.does = NULL;
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	ck_assert_uint_ne(within.before, place_of_returns);
	tear_down();
}
END_TEST

START_TEST(traps_may_stand_until_the_last_is_lifted)
{
	struct space space = { 0 };
	struct agent_kept *kept;

	set_up(AGENT_COUNTS);
	kept = (void *)(base + AGENT_KEPT_OFFSET);
	procmem_init(&space.memory, getpid());
	space.mark_size =
		procfs_auxv_bytes(getpid(), space.mark, sizeof(space.mark));
	space.awaited = (uintptr_t)&kept->traps;
	ck_assert_uint_eq(kept->traps, 1);
	space.mark[0]++; /* another program */
	space_await_none(&space);
	ck_assert_uint_eq(kept->traps, 1);
	space.mark[0]--;
	space_await_none(&space);
	ck_assert_uint_eq(kept->traps, 0);
	kept->traps = 1;
	space_await_none(&space); /* once */
	ck_assert_uint_eq(kept->traps, 1);
	procmem_fini(&space.memory);
	tear_down();
}
END_TEST

/* What becomes of it when the call that was to have its memory has ended so. */
static enum agent_state reserved_with(int64_t result)
{
	struct tracer tracer = { 0 };
	struct space space = {
		.tracer = &tracer,
		.arch = arch_native,
		.scratch.guest = { .place = 0x1000, .size = 256 },
	};
	struct agent agent = {
		.space = &space,
		.state = AGENT_RESERVING,
		.base = 0x7000000,
		.at_once = true,
		.reserves = true,
	};
	struct task task = { 0 };
	const struct syscall_stop stop = { .ip = 0x1010, .result = result };

	ck_assert(agent_pass_call(&agent, &task, &stop));
	return agent.state;
}

/* Another thread may have been given it meanwhile. */
START_TEST(a_place_that_was_taken_is_looked_for_elsewhere)
{
	ck_assert_int_eq(reserved_with(-EEXIST), AGENT_OUTSIDE);
	ck_assert_int_eq(reserved_with(-ENOMEM), AGENT_REFUSED);
}
END_TEST

/* Who walks over stacks may need what is only taken away when none is. */
START_TEST(returns_that_cant_be_read_are_awaited)
{
	struct agent_header *header;
	struct space space = { 0 };
	struct returns returns;

	set_up_replaced(AGENT_RECORDS);
	header = (struct agent_header *)base;
	procmem_init(&space.memory, getpid());
	returns_init(&returns, &space, (uintptr_t)base, header->back);
	ck_assert(!returns_outstanding(&returns));
	ck_assert_int_eq(munmap(base + AGENT_RETURNS_OFFSET, 4096), 0);
	ck_assert(returns_outstanding(&returns));
	procmem_fini(&space.memory);
}
END_TEST

/* More than there are places for; those that find none are counted, too. */
START_TEST(calls_within_calls_return_one_by_one)
{
	const long depth = AGENT_RETURNS + 100;

	set_up_replaced(AGENT_COUNTS);
	within.deeper = depth;
	ck_assert_int_eq(slot(1, 0, 0, 0, 0, 0), depth + 1 + depth);
	ck_assert_uint_eq(counted(0), depth + 1);
	within.deeper = 0;
	ck_assert_int_eq(slot(1, 0, 0, 0, 0, 0), 1);
	tear_down();
}
END_TEST

/* What replaced jumps to: the same return, for both. */
__asm__(".text\njumps_on:\n\tjmp *jumps_to(%rip)\n"
	".local jumps_to\n.comm jumps_to,8,8\n");
extern char jumps_on[];
extern void *jumps_to;

START_TEST(tail_callers_return_together)
{
	set_up_replaced(AGENT_RECORDS);
	put_stub(1, jumps_on, AGENT_REPLACES, STUB_NOTES);
	jumps_to = (void *)(uintptr_t)stub_address((uintptr_t)base, 0);
	slot = (function *)stub_address((uintptr_t)base, 1);
	within.deeper = -1;
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	read_all();
	ck_assert_uint_eq(seen.count, 2);
	ck_assert_uint_eq(seen.records[0].stub, 0);
	ck_assert_uint_eq(seen.records[1].stub, 1);
	ck_assert_uint_eq(seen.records[0].slot, seen.records[1].slot);
	ck_assert_uint_eq(seen.records[0].return_address,
			  seen.records[1].return_address);
	ck_assert_uint_ne(seen.records[0].return_address, place_of_returns);
	ck_assert_uint_eq(seen.entries, 2);
	ck_assert(seen.entry.tail_call);
	ck_assert_uint_eq(seen.entry.frames[0], seen.records[0].return_address);
	tear_down();
}
END_TEST

/*
 * Returns as ret does, but is interrupted when it has read where to: by a
 * handler, or by another thread, that throws (which is two walks) within.
 */
__asm__(".text\nreturns_late:\n\tpush %rbx\n\tmov 8(%rsp), %rbx\n"
	"\tlea 8(%rsp), %rdi\n\tcall interrupt_return\n\tmov %rbx, %rdx\n"
	"\tpop %rbx\n\tmov $7, %eax\n\tlea 8(%rsp), %rsp\n\tjmp *%rdx\n");
extern char returns_late[];
void interrupt_return(uintptr_t at);

static unsigned walks_late;

void interrupt_return(uintptr_t at)
{
	unsigned i;

	within.before = *(volatile uintptr_t *)at;
	for (i = 0; i < walks_late; i++)
		within.after = (uintptr_t)walker((long)at, 0, 0, 0, 0, 0);
	if (within.does)
		within.does();
}

static void expect_late_return(unsigned walks)
{
	walks_late = walks;
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 7);
	ck_assert_uint_eq(within.before, place_of_returns);
	if (walks)
		ck_assert_uint_ne(within.after, place_of_returns);
}

START_TEST(who_has_begun_to_return_comes_back)
{
	unsigned walks;

	set_up_replaced(AGENT_RECORDS);
	put_stub(0, returns_late, AGENT_REPLACES, STUB_NOTES);
	use_walker();
	for (walks = 0; walks < 4; walks++)
		expect_late_return(walks);
	tear_down();
}
END_TEST

START_TEST(tail_callers_that_have_begun_to_return_come_back)
{
	unsigned walks;

	set_up_replaced(AGENT_RECORDS);
	put_stub(0, returns_late, AGENT_REPLACES, STUB_NOTES);
	put_stub(2, jumps_on, AGENT_REPLACES, STUB_NOTES);
	jumps_to = (void *)(uintptr_t)stub_address((uintptr_t)base, 0);
	slot = (function *)stub_address((uintptr_t)base, 2);
	use_walker();
	for (walks = 0; walks < 4; walks++)
		expect_late_return(walks);
	tear_down();
}
END_TEST

/* The one that was put back is another call's, or about to be. */
static void is_anothers(void)
{
	struct agent_returns *returns = (void *)(base + AGENT_RETURNS_OFFSET);
	unsigned i;

	for (i = 0; i < AGENT_RETURNS; i++)
		returns->list[i].address = returns->list[i].caller = 1;
}

START_TEST(who_has_begun_to_return_goes_nowhere_else)
{
	set_up_replaced(AGENT_RECORDS);
	put_stub(0, returns_late, AGENT_REPLACES, STUB_NOTES);
	use_walker();
	within.does = is_anothers;
	expect_late_return(1);
	tear_down();
}
END_TEST

/* Calltrap has left, and the next one is there. */
static void begins_anew(void)
{
	gate->since = ticks_now();
}

static uint64_t ticks_counted(void)
{
	struct agent_counter counter;

	shared_counter(&shared, 0, &counter);
	return counter.ticks;
}

START_TEST(what_began_under_an_earlier_calltrap_isnt_counted)
{
	set_up_replaced(AGENT_COUNTS);
	within.does = begins_anew;
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	ck_assert_uint_eq(within.before, place_of_returns);
	ck_assert_uint_eq(ticks_counted(), 0);
	within.does = NULL;
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	ck_assert_uint_gt(ticks_counted(), 0);
	tear_down();
}
END_TEST

static pid_t made;

static void forks(void)
{
	made = fork();
}

START_TEST(a_forked_child_returns)
{
	int status;

	set_up_replaced(AGENT_RECORDS);
	within.does = forks;
	if (slot(1, 2, 3, 4, 5, 6) != 654321)
		_exit(1);
	if (!made)
		_exit(0);
	ck_assert_int_gt(made, 0);
	ck_assert_int_eq(waitpid(made, &status, 0), made);
	ck_assert_int_eq(status, 0);
	tear_down();
}
END_TEST

static __attribute__((noinline)) uint64_t time_of_replaced(void)
{
	const uint64_t before = ticks_now();

	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	return ticks_now() - before;
}

/* The only one that there is. */
static uint64_t *return_word(void)
{
	struct agent_returns *returns = (void *)(base + AGENT_RETURNS_OFFSET);
	unsigned i;

	for (i = 0; i < AGENT_RETURNS; i++)
		if (returns->slots[i])
			return &returns->slots[i];
	return NULL;
}

/* Another thread is about to put the address back, and gets no processor. */
static void is_claimed(void)
{
	*return_word() ^= AGENT_RETURN_SET ^ AGENT_RETURN_CLAIMED;
}

START_TEST(a_claim_that_never_ends_is_waited_for_once)
{
	uint64_t first, shortest = UINT64_MAX;
	unsigned i;

	set_up_replaced(AGENT_RECORDS);
	within.does = is_claimed;
	first = time_of_replaced();
	ck_assert_uint_eq(within.before, place_of_returns);
	ck_assert_uint_eq(*return_word() & AGENT_RETURN_STATES,
			  AGENT_RETURN_STUCK);
	within.does = NULL;
	for (i = 0; i < 20; i++) {
		const uint64_t took = time_of_replaced();

		ck_assert_uint_ne(within.before, place_of_returns);
		if (took < shortest)
			shortest = took;
	}
	ck_assert_uint_lt(shortest, first / 20);
	*return_word() = 0; /* it has got one */
	(void)time_of_replaced();
	ck_assert_uint_eq(within.before, place_of_returns);
	tear_down();
}
END_TEST

START_TEST(who_walks_doesnt_wait_for_claims_on_its_own_stack)
{
	unsigned i;

	set_up_replaced(AGENT_RECORDS);
	use_walker();
	within.does = is_claimed;
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
		ck_assert_uint_eq(within.before, place_of_returns);
		ck_assert_uint_ne(within.after, place_of_returns);
		*return_word() = 0;
	}
	tear_down();
}
END_TEST

static struct agent_return *running_return(void)
{
	struct agent_returns *returns = (void *)(base + AGENT_RETURNS_OFFSET);

	return &returns->list[return_word() - returns->slots];
}

static void is_of_another_thread(void)
{
	running_return()->thread++;
	running_return()->stack_low = running_return()->stack_high = 0;
}

/* … that ends above the one that walks. */
static void is_on_a_known_stack(void)
{
	running_return()->thread++;
	running_return()->stack_low = *return_word() &
				      ~(uint64_t)AGENT_RETURN_STATES;
	running_return()->stack_high = UINT64_MAX;
}

/* … which is where the one that walks stands, too. */
static void is_on_a_coroutines_stack(void)
{
	running_return()->thread++;
	running_return()->stack_low = 4096;
	running_return()->stack_high = UINT64_MAX;
}

START_TEST(what_another_thread_has_called_is_its_own)
{
	set_up_replaced(AGENT_RECORDS);
	use_walker();
	within.does = is_of_another_thread;
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	ck_assert_uint_eq(within.before, place_of_returns);
	ck_assert_uint_ne(within.after, place_of_returns);
	within.does = is_on_a_known_stack;
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	ck_assert_uint_eq(within.before, place_of_returns);
	ck_assert_uint_eq(within.after, place_of_returns);
	within.does = is_on_a_coroutines_stack;
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	ck_assert_uint_eq(within.before, place_of_returns);
	ck_assert_uint_ne(within.after, place_of_returns);
	tear_down();
}
END_TEST

/* A handler that walks, on a stack of its own. */
static void walk_elsewhere(int signal)
{
	const struct agent_returns *returns =
		(void *)(base + AGENT_RETURNS_OFFSET);
	const uint64_t at = returns->slots[return_word() - returns->slots] &
			    ~(uint64_t)AGENT_RETURN_STATES;

	(void)signal;
	use_walker();
	within.after = (uintptr_t)walker((long)at, 0, 0, 0, 0, 0);
	walker = NULL;
}

static void is_interrupted(void)
{
	raise(SIGUSR1);
}

static void walk_on_stack(void *stack, size_t size)
{
	const stack_t other = { .ss_sp = stack, .ss_size = size };
	const struct sigaction action = { .sa_handler = walk_elsewhere,
					  .sa_flags = SA_ONSTACK };

	ck_assert_int_eq(sigaltstack(&other, NULL), 0);
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	within.after = place_of_returns;
	within.does = is_interrupted;
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	ck_assert_uint_eq(within.before, place_of_returns);
	ck_assert_uint_ne(within.after, place_of_returns);
}

START_TEST(handlers_walk_on_stacks_of_their_own)
{
	char above[131072];
	static char below[131072];

	set_up_replaced(AGENT_RECORDS);
	walk_on_stack(above, sizeof(above));
	walk_on_stack(below, sizeof(below));
	tear_down();
}
END_TEST

/* Calltrap has left, and the program may make no more system calls. */
static void gives_up_system_calls(void)
{
	shared_empty(&shared);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		_exit(0); /* it may not */
}

static void walk_without_system_calls(void)
{
	if (!set_up_sampled())
		_exit(0);
	put_stub(0, replaced,
		 AGENT_REPLACES |
			 agent_act(AGENT_ACQUIRES, 0, AGENT_NO_ARGUMENT),
		 STUB_SAMPLES);
	put_stub(1, looks, AGENT_WALKS, STUB_WALKS);
	memset(&within, 0, sizeof(within));
	place_of_returns =
		(uintptr_t)base + ((struct agent_header *)base)->back;
	within.does = gives_up_system_calls;
	use_walker();
	slot(1, 2, 3, 4, 5, 6);
	syscall(SYS_exit, within.before != place_of_returns ||
				  within.after == place_of_returns);
}

/* Told so many each 100 us, until it doesn't change any more. */
static uint64_t pace_of(struct agent_pace *pace, size_t told)
{
	uint64_t now = pace->read, pause = 0;
	unsigned i;

	for (i = 0; i < 8; i++) {
		now += 100 * 1000;
		pause = agent_pace(pace, now, told);
	}
	return pause;
}

START_TEST(rings_are_read_the_sooner_the_more_calls_come)
{
	struct agent_pace pace = { .read = 1000 };

	ck_assert_uint_eq(pace_of(&pace, 0), AGENT_PAUSE_MOST);
	ck_assert_uint_eq(pace_of(&pace, 1), AGENT_PAUSE_MOST);
	ck_assert_uint_eq(pace_of(&pace, 64), 800 * 1000);
	/* Such are read by who does little else. */
	ck_assert_uint_eq(pace_of(&pace, 1000), AGENT_PAUSE_MOST);
	ck_assert_uint_eq(pace_of(&pace, 100), 512 * 1000);
	ck_assert_uint_eq(agent_pace(&pace, pace.read + 1, 0), 1024 * 1000);
	ck_assert_uint_eq(agent_pace(&pace, pace.read + 1, 0),
			  AGENT_PAUSE_MOST);
}
END_TEST

START_TEST(who_walks_over_a_known_stack_asks_nobody)
{
	int status;
	pid_t child = fork();

	if (!child)
		walk_without_system_calls();
	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

static jmp_buf far_back;

static void jumps_back(void)
{
	longjmp(far_back, 1);
}

START_TEST(a_call_that_is_jumped_out_of_leaves_nothing)
{
	volatile unsigned i = 0;

	set_up_replaced(AGENT_RECORDS);
	within.does = jumps_back;
	if (setjmp(far_back))
		i++;
	if (i < 1000)
		slot(1, 2, 3, 4, 5, 6);
	within.does = NULL;
	ck_assert_int_eq(slot(1, 2, 3, 4, 5, 6), 654321);
	read_all();
	ck_assert_uint_eq(seen.count, 1);
	tear_down();
}
END_TEST

START_TEST(what_one_busy_second_has_needed_is_given_back)
{
	const size_t many = 10000;
	struct watched_list list = {
		.calls = calloc(many, sizeof(*list.calls)),
		.count = many,
		.room = many,
	};

	for (size_t i = 0; i < many; i++)
		list.calls[i].time = many - i;
	agent_watch_order(&list);
	list.count = 3;
	agent_watch_trim(&list, NS_PER_SECOND);
	for (size_t i = 0; i < many; i++)
		ck_assert_uint_eq(list.calls[i].time, i + 1);
	agent_watch_order(&list);
	agent_watch_trim(&list, 2 * NS_PER_SECOND - 1);
	ck_assert_uint_eq(list.calls[many / 2].time, many / 2 + 1);
	agent_watch_trim(&list, 2 * NS_PER_SECOND);
	ck_assert_uint_eq(list.calls[many / 2].time, 0);
	for (size_t i = 0; i < list.count; i++)
		ck_assert_uint_eq(list.calls[i].time, i + 1);
	free(list.calls);
	free(list.spare);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent");
	TCase *tests = tcase_create("agent");

	/* Some need 2,000 turns of a timer: on a busy machine that takes long. */
	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, a_call_is_recorded);
	tcase_add_test(tests, records_are_read_in_parts);
	tcase_add_test(tests,
		       what_stands_behind_an_unfinished_record_is_read_once);
	tcase_add_test(tests, calls_within_others_say_so);
	tcase_add_test(tests,
		       what_is_called_within_one_of_its_group_is_not_told);
	tcase_add_test(tests, returns_that_were_replaced_say_whose_they_are);
	tcase_add_test(tests, what_is_called_within_another_group_is_told);
	tcase_add_test(tests,
		       what_is_called_within_is_told_when_calltrap_says_so);
	tcase_add_test(tests, what_is_called_behind_a_walk_is_told);
	tcase_add_test(tests, what_one_of_its_group_goes_on_to_is_not_told);
	tcase_add_test(tests, a_nest_stands_until_it_is_told_of);
	tcase_add_test(tests, registers_are_kept);
	tcase_add_test(tests, the_image_has_its_version);
	tcase_add_test(tests, an_errand_keeps_all_registers);
	tcase_add_test(tests, boot_has_room);
	tcase_add_test(tests, boot_keeps_signals_waiting);
	tcase_add_loop_test(tests, boot_goes_back_to_where_it_was_sent_from, 0,
			    AGENT_BOOTS);
	tcase_add_test(tests, what_the_program_has_opened_stays_open);
	tcase_add_test(tests, what_is_mapped_at_once_is_closed_at_once);
	tcase_add_test(tests, no_block_is_added_where_there_is_no_room);
	tcase_add_test(tests, nothing_happens_behind_a_closed_gate);
	tcase_add_test(tests, the_gate_is_closed_without_a_sign_of_life);
	tcase_add_test(tests, a_forked_child_is_left_alone);
	tcase_add_test(tests, failures_are_counted);
	tcase_add_test(tests, durations_are_counted);
	tcase_add_test(tests, threads_count_each_call_once);
	tcase_add_test(tests, threads_record_each_call_once);
	tcase_add_test(tests, what_finds_no_room_is_counted);
	tcase_add_test(tests, watched_calls_are_recorded);
	tcase_add_test(tests, returns_say_whose_they_are);
	tcase_add_test(tests, short_records_of_nothing_are_lost);
	tcase_add_loop_test(tests, entries_have_frames_and_pieces, 0, 3);
	tcase_add_test(tests, outer_frames_are_those_of_the_walk_that_was_told);
	tcase_add_test(tests, an_entry_has_the_return_right_behind_it);
	tcase_add_loop_test(tests, outer_frames_of_another_walk_are_lost, 0, 3);
	tcase_add_test(tests, what_was_begun_is_no_call);
	tcase_add_loop_test(tests, pieces_that_cannot_be_are_lost, 0, 2);
	tcase_add_test(tests, calls_are_recorded_with_their_stacks);
	tcase_add_test(tests, a_walk_is_told_once);
	tcase_add_test(tests, walks_of_one_home_lie_side_by_side);
	tcase_add_test(tests, outer_frames_are_told_once);
	tcase_add_test(tests, a_walk_that_is_compared_stays);
	tcase_add_test(tests, a_walk_that_was_passed_over_is_told_again);
	tcase_add_test(tests, walks_that_are_missed_are_told_again);
	tcase_add_loop_test(tests, who_has_the_block_next_tells_all_frames, 0,
			    2);
	tcase_add_test(tests, rules_have_places);
	tcase_add_test(tests, rings_are_read_in_parts);
	tcase_add_test(tests, what_one_busy_second_has_needed_is_given_back);
	tcase_add_test(tests, records_among_entries_are_told_by_their_stub);
	tcase_add_test(tests, watched_calls_that_find_no_room_are_counted);
	tcase_add_test(tests, who_waits_for_room_goes_on_when_the_gate_is_shut);
	tcase_add_test(tests, who_waits_costs_no_processor_while_it_is_absent);
	tcase_add_test(tests, without_a_sign_of_life_nobody_goes_to_a_trap);
	tcase_add_test(tests, a_trap_that_nobody_serves_is_waited_at);
	tcase_add_test(tests, a_trap_of_the_program_kills_it);
	tcase_add_test(tests, who_handles_traps_is_told_of_its_own);
	tcase_add_test(tests, who_ignores_traps_goes_on_with_that);
	tcase_add_test(tests, handlers_run_where_the_programs_own_would);
	tcase_add_test(tests, a_child_waits_at_a_trap_as_well);
	tcase_add_test(tests, many_threads_count_each_call_once);
	tcase_add_test(tests, what_is_never_finished_is_counted);
	tcase_add_test(tests, threads_come_and_go);
	tcase_add_test(tests, handlers_make_calls_too);
	tcase_add_test(tests, handlers_jump_out_of_hooks);
	tcase_add_test(tests, rings_are_emptied_but_for_where_they_end);
	tcase_add_test(tests, garbage_is_survived);
	tcase_add_test(tests, a_file_that_shrinks_is_refused);
	tcase_add_test(tests, the_first_instruction_is_copied);
	tcase_add_test(tests, a_call_is_no_first_instruction);
	tcase_add_test(tests, what_may_be_called_is_known);
	tcase_add_test(tests, what_is_copied_is_known_by_name);
	tcase_add_test(tests, what_returns_in_its_own_way_is_known_by_name);
	tcase_add_test(tests, what_only_waits_is_known_by_name);
	tcase_add_test(tests, who_asks_a_database_only_waits);
	tcase_add_test(tests, rate_changes_at_once);
	tcase_add_test(tests, what_is_chosen_is_told_and_marked);
	tcase_add_test(tests, bytes_are_marked_at_random);
	tcase_add_test(tests, what_is_asked_for_within_another_call_is_none);
	tcase_add_test(tests, sizes_count_as_what_they_are);
	tcase_add_test(tests, what_is_over_stands_for_nothing);
	tcase_add_test(tests, all_calls_of_hooks_are_known);
	tcase_add_test(tests, within_a_call_is_not_far_below_it);
	tcase_add_test(tests, what_is_chosen_is_known_at_the_trap);
	tcase_add_test(tests, marks_find_no_place);
	tcase_add_test(tests, marks_are_found_where_nobody_counts_them);
	tcase_add_test(tests, what_is_kept_again_is_marked_while_it_is_told);
	tcase_add_test(tests, a_call_whose_return_is_replaced_is_recorded);
	tcase_add_loop_test(
		tests, a_call_is_told_once_wherever_its_thread_stands_for_long,
		0, 2);
	tcase_add_test(tests, who_is_alone_reads_the_clock_for_some_calls);
	tcase_add_loop_test(
		tests,
		a_watched_call_is_told_once_wherever_its_thread_stands_for_long,
		0, 2);
	tcase_add_test(tests, who_is_jumped_out_of_loses_no_call);
	tcase_add_loop_test(
		tests, what_a_forked_child_was_about_to_tell_its_parent_tells,
		0, 4);
	tcase_add_loop_test(tests,
			    a_forked_child_changes_nothing_of_its_parents_walks,
			    0, 2);
	tcase_add_test(tests, floating_point_numbers_are_recorded);
	tcase_add_test(tests, floating_point_numbers_are_told_at_both_ends);
	tcase_add_test(tests, each_call_is_counted_or_told_of);
	tcase_add_test(tests, what_is_but_counted_returns_by_itself);
	tcase_add_test(tests, without_a_sign_of_life_all_are_counted);
	tcase_add_test(tests, who_walks_over_the_stack_finds_what_was_there);
	tcase_add_test(tests, behind_a_closed_gate_calls_return);
	tcase_add_test(tests, the_gate_of_a_dead_calltrap_is_shut);
	tcase_add_test(tests, traps_may_stand_until_the_last_is_lifted);
	tcase_add_test(tests, a_place_that_was_taken_is_looked_for_elsewhere);
	tcase_add_test(tests, each_trap_of_a_loop_is_tried);
	tcase_add_test(tests, returns_that_cant_be_read_are_awaited);
	tcase_add_test(tests, calls_within_calls_return_one_by_one);
	tcase_add_test(tests, tail_callers_return_together);
	tcase_add_test(tests,
		       what_began_under_an_earlier_calltrap_isnt_counted);
	tcase_add_test(tests, who_has_begun_to_return_comes_back);
	tcase_add_test(tests, tail_callers_that_have_begun_to_return_come_back);
	tcase_add_test(tests, who_has_begun_to_return_goes_nowhere_else);
	tcase_add_test(tests, a_forked_child_returns);
	tcase_add_test(tests, a_call_that_is_jumped_out_of_leaves_nothing);
	tcase_add_test(tests, a_claim_that_never_ends_is_waited_for_once);
	tcase_add_test(tests,
		       who_walks_doesnt_wait_for_claims_on_its_own_stack);
	tcase_add_test(tests, what_another_thread_has_called_is_its_own);
	tcase_add_test(tests, memory_that_came_elsewhere_is_not_taken_for_ours);
	tcase_add_test(tests, handlers_walk_on_stacks_of_their_own);
	tcase_add_test(tests, who_walks_over_a_known_stack_asks_nobody);
	tcase_add_test(tests, rings_are_read_the_sooner_the_more_calls_come);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
