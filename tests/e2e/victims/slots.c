/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots THREADS CALLS [descriptors | exec | files | fork | handlers | later | limit
 *                      | locked | seccomp | slots | storm | tsc | user]
 *
 * Each thread calls labs() so often, through the GOT, and every 50th time by a
 * pointer instead (0 CALLS: until a line comes); when a line has come, and
 * ends at the next one. (slots: no pointers. tsc: no
 * thread may read the time stamp counter; later: only half of its calls long.
 * handlers: a timer's handler calls
 * it, too; storm: one of each thread does, whenever it has been stopped. user: as
 * another user than root.) Says how many calls there were; 7 = all were right.
 */
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 64

static long calls;
static volatile long made, wrong, handled;
static volatile int over;
static int by_pointer = 1, storming, forbidding;
static __thread timer_t timer;
static long (*volatile pointer)(long);

static void call(long i)
{
	long found = by_pointer && i % 50 == 49 ? pointer(-i) : labs(-i);

	if (found != i)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

/* Soon, but not before the thread has got on. */
static void set_timer(void)
{
	const struct itimerspec soon = { .it_value.tv_nsec = 20000 };

	timer_settime(timer, 0, &soon, NULL);
}

static void make_timer(void)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGALRM,
		._sigev_un._tid = gettid(),
	};

	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		_exit(5);
	set_timer();
}

static void *run(void *context)
{
	long i;

	if (storming)
		make_timer();
	for (i = 0; calls ? i < calls : !over; i++) {
		if (forbidding && i == calls / 2)
			prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
		call(i);
	}
	if (storming)
		timer_delete(timer);
	__atomic_fetch_add(&made, i, __ATOMIC_RELAXED);
	return context;
}

static void run_threads(int count)
{
	pthread_t threads[THREADS];
	pthread_attr_t small;
	char line[64];
	int i;

	/* An ordinary user may lock 8 MiB, which is one stack. */
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 << 10);
	for (i = 0; i < count; i++)
		pthread_create(&threads[i], &small, run, NULL);
	if (!calls && !fgets(line, sizeof(line), stdin))
		_exit(2);
	over = 1;
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* Children go on with all that their parent has. */
static void make_children(void)
{
	int i, status;

	for (i = 0; i < 20; i++) {
		pid_t child = fork();

		if (!child) {
			for (long k = 0; k < 1000; k++)
				call(k);
			_exit(wrong ? 1 : 3);
		}
		if (waitpid(child, &status, 0) != child ||
		    !WIFEXITED(status) || WEXITSTATUS(status) != 3)
			wrong++;
		for (long k = 0; k < calls; k++)
			call(k);
		made += calls;
	}
}

static void handle(int signal)
{
	(void)signal;
	call(20);
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
	if (storming)
		set_timer();
}

static void take_signals(void)
{
	const struct itimerval often = { { 0, 200 }, { 0, 200 } };

	signal(SIGALRM, handle);
	if (!storming)
		setitimer(ITIMER_REAL, &often, NULL);
}

static void set_limit(int what, rlim_t most)
{
	struct rlimit limit = { most, most };

	setrlimit(what, &limit);
}

static void wait_for_line(const char *what)
{
	char line[64];

	printf("%s\n", what);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		_exit(2);
}

/* Everything is allowed. */
static void filter_calls(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K,
					    SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

#define ANOTHER 65534

/* As servers do when they have begun. */
static void change_user(void)
{
	if (setresgid(ANOTHER, ANOTHER, ANOTHER) ||
	    setresuid(ANOTHER, ANOTHER, ANOTHER))
		exit(1);
}

/* As libgcrypt does. */
static void lock_keys(void)
{
	static char keys[16384];

	if (mlock(keys, sizeof(keys)))
		exit(1);
}

/* Which is little as yet, and of its threads. */
static void lock_what_comes(void)
{
	void *volatile any = malloc(1000);
	pthread_attr_t attr;

	free(any);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	if (pthread_setattr_default_np(&attr) || mlockall(MCL_FUTURE))
		exit(1);
}

static void prepare(const char *how)
{
	if (!strcmp(how, "user"))
		change_user();
	/* Room for what it has itself. */
	if (!strcmp(how, "limit"))
		set_limit(RLIMIT_AS, 40 << 20);
	/* Who makes a larger one is killed. */
	if (!strcmp(how, "files"))
		set_limit(RLIMIT_FSIZE, 1 << 20);
	/* Nothing more can be opened, nor made. */
	if (!strcmp(how, "descriptors"))
		set_limit(RLIMIT_NOFILE, 3);
	if (!strcmp(how, "locked"))
		mlockall(MCL_CURRENT | MCL_FUTURE);
	if (!strcmp(how, "keys"))
		lock_keys();
	if (!strcmp(how, "future"))
		lock_what_comes();
	if (!strcmp(how, "seccomp"))
		filter_calls();
}

int main(int argc, char **argv)
{
	const char *how = argc > 3 ? argv[3] : "";
	int count = atoi(argv[1]);

	calls = atol(argv[2]);
#ifdef TAKES_ADDRESS /* in code: then its stub has no slot of its own */
	pointer = labs;
#else
	pointer = (long (*)(long))dlsym(RTLD_DEFAULT, "labs");
#endif
	by_pointer = strcmp(how, "slots");
	storming = !strcmp(how, "storm");
	forbidding = !strcmp(how, "later");
	if (!strcmp(how, "tsc"))
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	prepare(how);
	wait_for_line("ready");
	if (storming || !strcmp(how, "handlers"))
		take_signals();
	if (!strcmp(how, "fork"))
		make_children();
	else
		run_threads(count);
	if (!strcmp(how, "handlers"))
		setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	printf("made %ld\n", made + handled);
	wait_for_line("done");
	if (!strcmp(how, "exec")) {
		argv[3] = "";
		execv("/proc/self/exe", argv);
	}
	return wrong ? 9 : 7;
}
