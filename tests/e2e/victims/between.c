/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * between WHERE: a thread that runs, and looks whether anything of it is changed
 * between two instructions: registers, flags, vectors, what lies below its stack
 * pointer; where it is in a system call most of the time, whether that is cut short.
 * Another one sleeps, and looks whether it is woken. WHERE: "plain"; "calls", in
 * system calls; "pipe" and "big", writing more than a pipe holds, also on a stack that
 * is none of a thread's; "signals", with a timer's handler; "jumps", which jumps out of
 * that; "late", of signals that come once it was stopped; "closer", beside one that closes
 * what it doesn't know, and opens others; "newcomer", beside a thread that
 * blocks all signals and gets no processor, for a while; "dispatched", with system calls allowed to the C library's code alone; "handler",
 * "coroutine", "pool" (of many stacks in one mapping, in a process that has no other
 * thread) and "edge" (of what the first thread is allowed), for ever on a stack that has
 * little room. Until a line comes; ends with 7 when all is right.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/prctl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define SPINS  20000
#define STACK  16384
#define CANARY 4096
#define MARK   0x5a
#define POOL   (1 << 20)
#define LIMIT  (256 << 10)

static volatile int over, alone, begins;
static volatile unsigned long rounds, handled;
static unsigned long wrong, woken;

/* Words below the stack pointer: the red zone, and more that nobody needs. */
#define ZONE 64
#define RED  16

/* What is written down of each round: registers, flags, these words. */
struct seen {
	uint64_t registers[14]; /* rax rbx rcx rdx rsi rdi r8 ... r15 */
	uint64_t frame, flags, vectors[4], zone[ZONE];
	uint64_t sp[2];
} seen __attribute__((visibility("hidden")));
uint64_t spins __attribute__((visibility("hidden")));

void spin(void);
__asm__(".globl spin\n"
	".type spin, %function\n"
	"spin:\n"
	"	push %rbx\n	push %rbp\n	push %r12\n	push %r13\n"
	"	push %r14\n	push %r15\n"
	"	mov %rsp, seen+672(%rip)\n"
	"	.set i, 1\n"
	"	.rept 64\n"
	"	movabs $0x7100000000000000 + i, %rax\n"
	"	mov %rax, -8*i(%rsp)\n"
	"	.set i, i + 1\n"
	"	.endr\n"
	"	movabs $0x1122334455667700, %rax\n"
	"	movq %rax, %xmm0\n	inc %rax\n	movq %rax, %xmm7\n"
	"	inc %rax\n	movq %rax, %xmm8\n	inc %rax\n"
	"	movq %rax, %xmm15\n"
	"	movabs $0xa100000000000001, %rax\n"
	"	movabs $0xa100000000000002, %rbx\n"
	"	movabs $0xa100000000000003, %rcx\n"
	"	movabs $0xa100000000000004, %rdx\n"
	"	movabs $0xa100000000000005, %rsi\n"
	"	movabs $0xa100000000000006, %rdi\n"
	"	movabs $0xa100000000000007, %r8\n"
	"	movabs $0xa100000000000008, %r9\n"
	"	movabs $0xa100000000000009, %r10\n"
	"	movabs $0xa10000000000000a, %r11\n"
	"	movabs $0xa10000000000000b, %r12\n"
	"	movabs $0xa10000000000000c, %r13\n"
	"	movabs $0xa10000000000000d, %r14\n"
	"	movabs $0xa10000000000000e, %r15\n"
	"	movabs $0xa10000000000000f, %rbp\n"
	"	std\n"
	"	stc\n"
	"1:	decq spins(%rip)\n" /* leaves the carry as it is */
	"	jnz 1b\n"
	"	mov %rax, seen(%rip)\n"
	"	mov %rbx, seen+8(%rip)\n"
	"	mov %rcx, seen+16(%rip)\n"
	"	mov %rdx, seen+24(%rip)\n"
	"	mov %rsi, seen+32(%rip)\n"
	"	mov %rdi, seen+40(%rip)\n"
	"	mov %r8, seen+48(%rip)\n"
	"	mov %r9, seen+56(%rip)\n"
	"	mov %r10, seen+64(%rip)\n"
	"	mov %r11, seen+72(%rip)\n"
	"	mov %r12, seen+80(%rip)\n"
	"	mov %r13, seen+88(%rip)\n"
	"	mov %r14, seen+96(%rip)\n"
	"	mov %r15, seen+104(%rip)\n"
	"	mov %rbp, seen+112(%rip)\n"
	"	.set i, 1\n"
	"	.rept 64\n"
	"	mov -8*i(%rsp), %rax\n"
	"	mov %rax, seen+160+8*(i-1)(%rip)\n"
	"	.set i, i + 1\n"
	"	.endr\n"
	"	mov %rsp, seen+680(%rip)\n"
	"	pushfq\n"
	"	pop %rax\n"
	"	mov %rax, seen+120(%rip)\n"
	"	cld\n"
	"	movq %xmm0, seen+128(%rip)\n"
	"	movq %xmm7, seen+136(%rip)\n"
	"	movq %xmm8, seen+144(%rip)\n"
	"	movq %xmm15, seen+152(%rip)\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n"
	"	pop %rbp\n	pop %rbx\n"
	"	ret\n"
	".size spin, . - spin\n");

_Static_assert(sizeof(struct seen) == 688, "as spin() has it");

static void spin_once(void)
{
	unsigned i, bad = 0;

	memset(&seen, 0, sizeof(seen));
	spins = SPINS;
	spin();
	for (i = 0; i < 14; i++)
		bad += seen.registers[i] != 0xa100000000000001ul + i;
	bad += seen.frame != 0xa10000000000000f;
	bad += (seen.flags & 0x401) != 0x401; /* direction, carry */
	for (i = 0; i < 4; i++)
		bad += seen.vectors[i] != 0x1122334455667700ul + i;
	/* Handlers' frames are written behind the red zone. */
	for (i = 0; i < (handled ? RED : ZONE); i++)
		bad += seen.zone[i] != 0x7100000000000001ul + i;
	bad += seen.sp[0] != seen.sp[1];
	wrong += bad != 0;
	free(malloc(16));
	rounds++;
}

static void look_for_line(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	over = poll(&input, 1, 0) > 0;
}

static void spin_for_ever(void)
{
	while (!over) {
		spin_once();
		if (alone && rounds % 256 == 0)
			look_for_line();
	}
}

static int note_libc(struct dl_phdr_info *info, size_t size, void *range)
{
	unsigned long *to = range;
	int i;

	(void)size;
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_flags & PF_X) {
			to[0] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			to[1] = info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

/* Of a system call from elsewhere it dies (SIGSYS). */
static void spin_dispatched(void)
{
	static char blocks = SYSCALL_DISPATCH_FILTER_BLOCK;
	unsigned long range[2];

	if (!dl_iterate_phdr(note_libc, range) ||
	    prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, range[0],
		  range[1], &blocks))
		exit(1);
	spin_for_ever();
}

/* More than a pipe holds, and less: none may be cut short. */
static void call_for_ever(void)
{
	static char bytes[65536];
	int ends[2];

	if (pipe(ends))
		exit(1);
	while (!over) {
		const size_t size = sizeof(bytes) >> rounds % 16;

		if (write(ends[1], bytes, size) != (ssize_t)size ||
		    read(ends[0], bytes, size) != (ssize_t)size)
			wrong++;
		free(malloc(16));
		rounds++;
	}
}

/* By a child, which ends with the pipe. */
static void read_all(int end)
{
	static char bytes[16384];

	while (read(end, bytes, sizeof(bytes)) > 0)
		;
	_exit(0);
}

static void write_for_ever(void)
{
	static char bytes[1 << 20];
	int ends[2];

	if (pipe(ends))
		exit(1);
	if (!fork()) {
		close(ends[1]);
		read_all(ends[0]);
	}
	close(ends[0]);
	while (!over) {
		wrong += write(ends[1], bytes, sizeof(bytes)) != sizeof(bytes);
		free(malloc(16));
		rounds++;
	}
}

static void on_timer(int signal)
{
	(void)signal;
	free(malloc(16));
	handled++;
}

static void spin_with_signals(void)
{
	const struct itimerval every = { { 0, 300 }, { 0, 300 } };
	const struct itimerval none = { { 0, 0 }, { 0, 0 } };

	signal(SIGALRM, on_timer);
	setitimer(ITIMER_REAL, &every, NULL);
	spin_for_ever();
	setitimer(ITIMER_REAL, &none, NULL);
	wrong += !handled;
}

static sigjmp_buf out;
static volatile sig_atomic_t can_jump; /* there is a place to go to */

static void on_timeout(int signal)
{
	(void)signal;
	if (!can_jump)
		return;
	handled++;
	siglongjmp(out, 1);
}

/* Unless it has told the signal to wait. */
static void spin_with_jumps(int signal)
{
	sigset_t waiting;
	volatile int i;

	sigemptyset(&waiting);
	sigaddset(&waiting, signal);
	sigsetjmp(out, 1);
	can_jump = 1;
	while (!over) {
		for (i = 0; i < 200000; i++)
			;
		syscall(SYS_getppid);
		sigprocmask(SIG_BLOCK, &waiting, NULL);
		free(malloc(16));
		rounds++;
		sigprocmask(SIG_UNBLOCK, &waiting, NULL);
	}
}

static void spin_with_timeouts(void)
{
	const struct itimerval every = { { 0, 300 }, { 0, 300 } };

	signal(SIGALRM, on_timeout);
	setitimer(ITIMER_REAL, &every, NULL);
	spin_with_jumps(SIGALRM);
	signal(SIGALRM, SIG_IGN);
	wrong += !handled;
}

static int is_stopped(int stat)
{
	char line[512] = "";
	const char *rest;

	if (pread(stat, line, sizeof(line) - 1, 0) <= 0)
		exit(1);
	rest = strrchr(line, ')');
	return rest && rest[2] == 't';
}

/* The first thread's stop is the first one of all, if it is seen at all. */
static void *send_late(void *first)
{
	char path[64];
	int stat, i;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
	stat = open(path, O_RDONLY);
	while (!over && !is_stopped(stat))
		;
	for (i = 0; i < 20; i++) {
		pthread_kill(*(pthread_t *)first, SIGUSR1);
		usleep(100);
	}
	return NULL;
}

static void spin_with_late_signals(void)
{
	pthread_t first = pthread_self(), sender;

	signal(SIGUSR1, on_timeout);
	pthread_create(&sender, NULL, send_late, &first);
	spin_with_jumps(SIGUSR1);
	pthread_join(sender, NULL);
}

/* Some of what it opens have numbers that others have just had. */
static void *close_for_ever(void *unused)
{
	char name[] = "/tmp/between.XXXXXX";
	struct stat file;
	int i, count = 1;

	close(mkstemp(name));
	while (!over) {
		close_range(3, ~0u, 0);
		for (i = 0; i < count; i++)
			open(name, O_RDWR);
		for (i = 0; i < 50; i++)
			wrong += fstat(3 + i % count, &file) || file.st_size;
		count = 9 - count;
	}
	unlink(name);
	return unused;
}

static void spin_beside_closer(void)
{
	pthread_t closer;

	pthread_create(&closer, NULL, close_for_ever, NULL);
	spin_for_ever();
	pthread_join(closer, NULL);
}

static int is_traced(void)
{
	char line[256];
	int tracer = 0;
	FILE *status = fopen("/proc/self/status", "r");

	while (fgets(line, sizeof(line), status) &&
	       sscanf(line, "TracerPid: %d", &tracer) != 1)
		;
	fclose(status);
	return tracer != 0;
}

static void *begin_slowly(void *unused)
{
	const struct sched_param none = { 0 };

	sched_setscheduler(0, SCHED_IDLE, &none);
	while (!begins && !over)
		;
	return unused;
}

/* All on one processor; signals are blocked as the C library does it in new threads. */
static void spin_beside_newcomer(void)
{
	pthread_t newcomer;
	sigset_t all, own;
	cpu_set_t one;
	int traced = 0;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &own);
	pthread_create(&newcomer, NULL, begin_slowly, NULL);
	pthread_sigmask(SIG_SETMASK, &own, NULL);
	while (!over && traced < 3) {
		spin_once();
		traced += rounds % 256 == 0 && is_traced();
	}
	begins = 1;
	pthread_join(newcomer, NULL);
	spin_for_ever();
}

/* Its lower end is other data's. */
static char *small_stack(void)
{
	char *memory = mmap(NULL, CANARY + STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(memory, MARK, CANARY);
	return memory + CANARY;
}

static void look_at_canary(const char *stack)
{
	size_t i;

	for (i = 1; i <= CANARY; i++)
		wrong += stack[-(ssize_t)i] != MARK;
}

/* So near to its end as the loop itself allows. */
static void spin_deep(const char *stack)
{
	volatile char room[256];

	room[0] = 0;
	if ((const char *)room - stack > 2048)
		spin_deep(stack);
	else
		spin_for_ever();
	room[1] = 1;
}

static char *stack;

static void on_deep(int signal)
{
	(void)signal;
	spin_deep(stack);
}

static void spin_in_handler(void)
{
	struct sigaction action = { .sa_handler = on_deep,
				    .sa_flags = SA_ONSTACK };
	stack_t other = { .ss_size = STACK };

	other.ss_sp = stack = small_stack();
	sigaltstack(&other, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	look_at_canary(stack);
}

static ucontext_t back;

static void deep(void)
{
	spin_deep(stack);
}

/* Right below it lies that of another one. */
static char *stack_of_pool(void)
{
	char *memory = mmap(NULL, POOL, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(memory, MARK, POOL / 2);
	return memory + POOL / 2;
}

static void spin_at_edge(void)
{
	struct rlimit limit;
	char line[512];
	unsigned long end;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[stack]") &&
		    sscanf(line, "%*x-%lx", &end) == 1)
			stack = (char *)end - LIMIT;
	fclose(maps);
	getrlimit(RLIMIT_STACK, &limit);
	limit.rlim_cur = LIMIT;
	setrlimit(RLIMIT_STACK, &limit);
	spin_deep(stack);
}

static void write_in_coroutine(void)
{
	static char memory[1 << 18];
	ucontext_t coroutine;

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = memory;
	coroutine.uc_stack.ss_size = sizeof(memory);
	coroutine.uc_link = &back;
	makecontext(&coroutine, write_for_ever, 0);
	swapcontext(&back, &coroutine);
}

static void spin_in_coroutine(char *its_stack)
{
	ucontext_t coroutine;

	stack = its_stack;
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = STACK;
	coroutine.uc_link = &back;
	makecontext(&coroutine, deep, 0);
	swapcontext(&back, &coroutine);
	look_at_canary(stack);
}

/* For the line; nothing else is to wake it. */
static void *sleep_until_told(void *unused)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	(void)unused;
	while (poll(&input, 1, -1) < 0)
		woken++;
	over = 1;
	return NULL;
}

int main(int argc, char **argv)
{
	const char *where = argc > 1 ? argv[1] : "plain";
	sigset_t all, own;
	pthread_t sleeper;

	/* The dynamic linker needs more stack than others have. */
	spin_once();
	look_for_line();
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &own);
	alone = !strcmp(where, "pool");
	if (!alone)
		pthread_create(&sleeper, NULL, sleep_until_told, NULL);
	pthread_sigmask(SIG_SETMASK, &own, NULL);
	puts("ready");
	fflush(stdout);
	if (!strcmp(where, "calls"))
		call_for_ever();
	else if (!strcmp(where, "signals"))
		spin_with_signals();
	else if (!strcmp(where, "dispatched"))
		spin_dispatched();
	else if (!strcmp(where, "pipe"))
		write_for_ever();
	else if (!strcmp(where, "big"))
		write_in_coroutine();
	else if (!strcmp(where, "jumps"))
		spin_with_timeouts();
	else if (!strcmp(where, "late"))
		spin_with_late_signals();
	else if (!strcmp(where, "closer"))
		spin_beside_closer();
	else if (!strcmp(where, "newcomer"))
		spin_beside_newcomer();
	else if (!strcmp(where, "handler"))
		spin_in_handler();
	else if (!strcmp(where, "coroutine"))
		spin_in_coroutine(small_stack());
	else if (alone)
		spin_in_coroutine(stack_of_pool());
	else if (!strcmp(where, "edge"))
		spin_at_edge();
	else
		spin_for_ever();
	if (!alone)
		pthread_join(sleeper, NULL);
	printf("rounds %lu wrong %lu woken %lu\n", rounds, wrong, woken);
	return wrong || woken || !rounds ? 9 : 7;
}
