/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks of every kind, all of which end in a call of probe_here(). What they
 * look like is in the source; test_stacks.py knows it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone, used))
#define NO_TAIL_CALL __asm__ volatile("" ::: "memory")

KEEP void probe_here(void)
{
	NO_TAIL_CALL;
}

/* ---- callers that use all registers and much of the stack ---- */

KEEP void third(volatile char *room)
{
	probe_here();
	room[0]++;
}

KEEP int second(int a, int b, int c, int d, int e, int f)
{
	volatile char room[3000];

	room[0] = a;
	third(room);
	return room[0] + a * b + c * d + e * f;
}

KEEP int first(int n)
{
	int i, sum = 0;

	for (i = 0; i < n; i++)
		sum += second(sum, i, sum + i, n, n - i, sum ^ i);
	return sum;
}

static void plain(void)
{
	first(2);
}

/* ---- a tail call: it has no frame ---- */

KEEP void tail_target(int n)
{
	probe_here();
	NO_TAIL_CALL;
	(void)n;
}

KEEP __attribute__((optimize("O2"))) void tail_caller(int n)
{
	tail_target(n + 1);
}

KEEP void before_tail(void)
{
	tail_caller(1);
	NO_TAIL_CALL;
}

/* ---- inlined functions ---- */

static inline __attribute__((always_inline)) void inner_inlined(void)
{
	probe_here(); /* line of inner_inlined */
	NO_TAIL_CALL;
}

static inline __attribute__((always_inline)) void outer_inlined(void)
{
	inner_inlined(); /* line of outer_inlined */
}

KEEP void not_inlined(void)
{
	outer_inlined(); /* line of not_inlined */
}

/* ---- deep recursion ---- */

KEEP int recurse(int depth)
{
	if (!depth)
		probe_here();
	else
		depth += recurse(depth - 1);
	NO_TAIL_CALL;
	return depth;
}

static void deep(void)
{
	recurse(199);
}

/* ---- signals: a fault, the first instruction, another stack ---- */

KEEP void on_signal(int number)
{
	(void)number;
	probe_here();
	_exit(0);
}

KEEP void faults(volatile int *nowhere)
{
	*nowhere = 1;
	NO_TAIL_CALL;
}

KEEP void before_fault(void)
{
	faults(NULL);
	NO_TAIL_CALL;
}

static void handler(void)
{
	signal(SIGSEGV, on_signal);
	before_fault();
}

extern void faults_at_once(void);
__asm__(".text\n"
	".type faults_at_once, %function\n"
	"faults_at_once:\n"
	".cfi_startproc\n"
#ifdef __aarch64__
	"	udf #0\n"
#else
	"	ud2\n"
#endif
	"	ret\n"
	".cfi_endproc\n"
	".size faults_at_once, .-faults_at_once\n");

KEEP void before_fault_at_once(void)
{
	faults_at_once();
	NO_TAIL_CALL;
}

static void first_instruction(void)
{
	signal(SIGILL, on_signal);
	before_fault_at_once();
}

static void other_stack(void)
{
	static char room[65536];
	stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_ONSTACK };

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	before_fault();
}

/* ---- signals while the kernel's own code runs in the process ---- */

static volatile int alarms;

KEEP void on_alarm(int number)
{
	(void)number;
	probe_here();
	alarms++;
}

KEEP void asks_the_time(void)
{
	struct timespec ts;

	while (alarms < 300)
		clock_gettime(CLOCK_MONOTONIC, &ts);
}

static void vdso(void)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	asks_the_time();
	setitimer(ITIMER_REAL, &never, NULL);
	/* One more may have come before that. */
	printf("alarms %d\n", alarms);
}

/* ---- a coroutine ---- */

static ucontext_t here, there;

KEEP void in_coroutine(void)
{
	probe_here();
	NO_TAIL_CALL;
}

KEEP void coroutine(void)
{
	in_coroutine();
	NO_TAIL_CALL;
}

static void coroutines(void)
{
	static char room[65536];

	getcontext(&there);
	there.uc_stack.ss_sp = room;
	there.uc_stack.ss_size = sizeof(room);
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
	swapcontext(&here, &there);
}

/* ---- a thread's first function ---- */

KEEP void *thread_start(void *context)
{
	probe_here();
	NO_TAIL_CALL;
	return context;
}

static void thread(void)
{
	pthread_t id;

	pthread_create(&id, NULL, thread_start, NULL);
	pthread_join(id, NULL);
}

/* ---- a smashed stack ---- */

KEEP void smashes(void)
{
	char *frame = __builtin_frame_address(0);

	memset(frame, 'A', 2 * sizeof(void *));
	probe_here();
	_exit(0);
}

/* A frame pointer that leads in circles. */
KEEP void circles(void)
{
	void **frame = __builtin_frame_address(0);

	frame[0] = frame;
	frame[1] = (char *)__builtin_return_address(0);
	probe_here();
	_exit(0);
}

static void smashed(void)
{
	smashes();
}

static void circled(void)
{
	circles();
}

/* ---- code made at run time, with a frame pointer and a name ---- */

static void write_perf_map(const void *code, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "w");
	fprintf(file, "%lx %zx made_at_run_time\n", (unsigned long)code, size);
	fclose(file);
}

#ifdef BETWEEN
extern char etext[];

/* Between two segments of the program, which are far apart then. */
#define ROOM_AT ((void *)(((uintptr_t)etext + 0x1ffff) & ~(uintptr_t)0xffff))
#define ROOM_FLAGS MAP_FIXED_NOREPLACE
#else
#define ROOM_AT NULL
#define ROOM_FLAGS 0
#endif

static void jit(void)
{
	/* push fp; mov sp, fp; call *reg (or *8(fp)); pop fp; ret */
#ifdef __x86_64__
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7,
					0x5d, 0xc3 };
#elif defined(__aarch64__)
	static const uint32_t code[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0000,
					 0xa8c17bfd, 0xd65f03c0 };
#else
	static const uint8_t code[] = { 0x55, 0x89, 0xe5, 0xff, 0x55, 0x08,
					0x5d, 0xc3 };
#endif
	uint8_t *room = mmap(ROOM_AT, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS | ROOM_FLAGS, -1, 0);

	memcpy(room + 16, code, sizeof(code));
	__builtin___clear_cache((char *)room, (char *)room + 4096);
	write_perf_map(room + 16, sizeof(code));
	((void (*)(void (*)(void)))(uintptr_t)(room + 16))(probe_here);
}

/* ---- the program's file is gone ---- */

static void deleted(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	unlink(path);
	puts("ready");
	fflush(stdout);
	while (getchar() == '\n')
		first(1);
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "plain", plain },
	{ "tail", before_tail },
	{ "inlined", not_inlined },
	{ "deep", deep },
	{ "handler", handler },
	{ "first", first_instruction },
	{ "altstack", other_stack },
	{ "vdso", vdso },
	{ "coroutine", coroutines },
	{ "thread", thread },
	{ "smashed", smashed },
	{ "circled", circled },
	{ "jit", jit },
	{ "deleted", deleted },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, argv[1]))
			kinds[i].run();
	return 0;
}
