/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nests ROUNDS THREADS [handlers] [jumps] [forks] [comers]: each thread calls strdup() so
 * often, which calls this program's malloc(), which calls labs() (by a slot), keeps()
 * (by a trap, for ever), and, each third time, strdup() again, up to three deep. With
 * handlers a timer interrupts the threads; the handler calls labs(), keeps() and
 * strnlen(), and with jumps some jump out of it. With forks some malloc() fork a
 * child that calls labs(). With comers threads end after 16 rounds, and others follow.
 * What each is called with is a number, which all have in the order in which they are made
 * within a thread. Says "ready" and how many calls each function has had, and returns 7.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rounds, handlers, jumps, forks, comers;
static volatile int over;
static volatile long seen; /* they have no other effect */
static atomic_ulong duplicates, allocations, numbers, kept, lengths;

static _Thread_local struct {
	int depth;
	unsigned turn;
	size_t used;
	volatile int busy, may_jump;
	sigjmp_buf out;
	char arena[16384];
} own;

/* A jump leads back to its begin: so it keeps its trap. */
void keeps(int number);
__asm__(".globl keeps\n\t.type keeps, @function\n"
	"keeps:\tdecl %edi\n\tjz keeps\n\tret\n\t.size keeps, . - keeps");

static void call_some(int number)
{
	atomic_fetch_add(&numbers, 1);
	seen = labs(number);
	atomic_fetch_add(&kept, 1);
	keeps(number + 2);
}

static void have_child(void)
{
	pid_t child = fork();

	if (!child) {
		seen = labs(7);
		_exit(0);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0)
		;
}

static void duplicate(const char *text)
{
	atomic_fetch_add(&duplicates, 1);
	(void)strdup(text);
}

void *malloc(size_t size)
{
	char *block;

	atomic_fetch_add(&allocations, 1);
	if (own.used + size + 16 > sizeof(own.arena))
		own.used = 0;
	block = &own.arena[own.used];
	own.used += (size + 15) & -16;
	if (!own.busy)
		return block;
	call_some((int)size);
	if (forks && own.turn % 64 == 5 && own.depth == 0)
		have_child();
	if (own.turn % 3 == 0 && own.depth < 3) {
		own.depth++;
		duplicate("inner");
		own.depth--;
	}
	call_some((int)size + 1);
	return block;
}

void free(void *block)
{
	(void)block;
}

void *calloc(size_t count, size_t size)
{
	static char arena[1 << 20];
	static size_t used;
	size_t at = __atomic_fetch_add(&used, (count * size + 15) & -16,
				       __ATOMIC_RELAXED);

	return &arena[at];
}

void *realloc(void *block, size_t size)
{
	(void)block;
	(void)size;
	return NULL;
}

static void handle(int signal)
{
	(void)signal;
	if (!own.busy)
		return;
	call_some(100);
	atomic_fetch_add(&lengths, 1);
	seen = (long)strnlen("of a handler", 5);
	if (jumps && own.may_jump && own.turn % 4 == 0) {
		own.may_jump = 0;
		siglongjmp(own.out, 1);
	}
}

static void round_of(unsigned i)
{
	own.turn = i;
	own.depth = 0;
	if (jumps && sigsetjmp(own.out, 1))
		return;
	own.may_jump = 1;
	duplicate("outer text");
	own.may_jump = 0;
}

static void let_timer_in(int in)
{
	sigset_t timer;

	sigemptyset(&timer);
	sigaddset(&timer, SIGALRM);
	pthread_sigmask(in ? SIG_UNBLOCK : SIG_BLOCK, &timer, NULL);
}

static void *run(void *argument)
{
	unsigned i, most = comers ? 16 : (unsigned)rounds;

	own.busy = 1;
	let_timer_in(1);
	for (i = 0; i < most; i++)
		round_of(i);
	let_timer_in(0);
	own.busy = 0;
	return argument;
}

static void *interrupt(void *argument)
{
	const struct timespec pause = { .tv_nsec = 300000 };

	while (!over) {
		nanosleep(&pause, NULL);
		kill(getpid(), SIGALRM);
	}
	return argument;
}

static int has(int argc, char **argv, const char *word)
{
	int i;

	for (i = 3; i < argc; i++)
		if (!strcmp(argv[i], word))
			return 1;
	return 0;
}

static void run_threads(int count)
{
	pthread_t threads[64];
	int i;

	for (i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = handle,
				    .sa_flags = SA_RESTART };
	int count, i;
	pthread_t timer;

	if (argc < 3)
		return 1;
	rounds = atoi(argv[1]);
	count = atoi(argv[2]);
	handlers = has(argc, argv, "handlers");
	jumps = has(argc, argv, "jumps");
	forks = has(argc, argv, "forks");
	comers = has(argc, argv, "comers");
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	printf("ready\n");
	if (has(argc, argv, "waits"))
		(void)getchar();
	let_timer_in(0);
	sigaction(SIGALRM, &action, NULL);
	if (handlers)
		pthread_create(&timer, NULL, interrupt, NULL);
	for (i = 0; i < (comers ? rounds / 16 : 1); i++)
		run_threads(count);
	over = 1;
	if (handlers)
		pthread_join(timer, NULL);
	printf("count strdup %lu\ncount labs %lu\ncount keeps %lu\n",
	       duplicates, numbers, kept);
	printf("count strnlen %lu\ncount malloc %lu\ndone\n", lengths,
	       allocations);
	return 7;
}
