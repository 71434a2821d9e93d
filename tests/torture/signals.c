/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "torture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define QUEUED        (SIGRTMIN + 1)
#define TICK          (SIGRTMIN + 2)
#define TICK_VALUE    0x5eed
#define ALTSTACK_SIZE 65536
#define TICK_EVERY    1000000 /* ns */
#define PATIENCE      20      /* seconds for signals to arrive */

static __thread struct worker *self;

static bool is_on_altstack(void)
{
	char here;

	return (uintptr_t)&here - (uintptr_t)self->altstack < ALTSTACK_SIZE;
}

/* Real-time signals arrive in the order in which they were sent. */
static void on_queued(int signal, siginfo_t *info, void *context)
{
	unsigned number = info->si_value.sival_int;
	int saved = errno;

	(void)context;
	if (signal != QUEUED || info->si_signo != QUEUED ||
	    info->si_code != SI_QUEUE || info->si_pid != getpid() ||
	    info->si_uid != getuid())
		fail("queued signal: wrong siginfo: %d %d from %d",
		     info->si_signo, info->si_code, (int)info->si_pid);
	if (number != self->received)
		fail("queued signal %u came instead of %u", number,
		     self->received);
	if (!is_on_altstack())
		fail("the handler is not on its stack");
	self->received = number + 1;
	call(self->handler, LEAF);
	errno = saved;
}

/*
 * The next tick: not before the thread has had as much time for its work as the
 * last one has taken. One that is traced, among many, could do nothing else
 * than to handle ticks.
 */
static void set_timer(struct worker *worker)
{
	uint64_t time = now(), wait = time - worker->due;
	struct itimerspec once = { 0 };

	if (wait < TICK_EVERY)
		wait = TICK_EVERY;
	worker->due = time + wait;
	once.it_value.tv_sec = wait / 1000000000;
	once.it_value.tv_nsec = wait % 1000000000;
	if (timer_settime(worker->timer, 0, &once, NULL))
		fail("timer: %s", strerror(errno));
}

static void on_tick(int signal, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	if (signal != TICK || info->si_code != SI_TIMER ||
	    info->si_value.sival_int != TICK_VALUE)
		fail("timer: wrong siginfo: code %d, value %#x", info->si_code,
		     (unsigned)info->si_value.sival_int);
	if (!is_on_altstack())
		fail("the timer's handler is not on its stack");
	self->ticks++;
	if (self->ticks % 4 == 0)
		call(self->handler, DATA);
	if (self->has_timer)
		set_timer(self);
	errno = saved;
}

static void install(int signal, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_sigaction = handler };

	action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	sigfillset(&action.sa_mask);
	sigaction(signal, &action, NULL);
}

void signals_install(void)
{
	install(QUEUED, on_queued);
	install(TICK, on_tick);
}

static void start_timer(struct worker *worker)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_signo = TICK };

	event.sigev_value.sival_int = TICK_VALUE;
	event._sigev_un._tid = worker->tid;
	worker->due = now();
	worker->has_timer =
		!timer_create(CLOCK_MONOTONIC, &event, &worker->timer);
	if (worker->has_timer)
		set_timer(worker);
	else
		fail("timer: %s", strerror(errno));
}

void signals_begin(struct worker *worker, bool timer)
{
	stack_t stack = { .ss_size = ALTSTACK_SIZE };

	self = worker;
	worker->altstack = stack.ss_sp = malloc(ALTSTACK_SIZE);
	sigaltstack(&stack, NULL);
	if (timer)
		start_timer(worker);
}

static int queue_to(const struct worker *worker, unsigned number)
{
	siginfo_t info = { 0 };

	info.si_signo = QUEUED;
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_int = number;
	return syscall(SYS_rt_tgsigqueueinfo, getpid(), worker->tid, QUEUED,
		       &info);
}

/* To itself, if there is no other: then it arrives within the call. */
void do_signals(struct worker *worker)
{
	struct worker *other = worker->neighbour;
	unsigned i;

	for (i = 0; i < 8; i++) {
		if (!queue_to(other, worker->sent)) {
			worker->sent++;
			if (other == worker && worker->received != worker->sent)
				fail("signal %u did not come", worker->sent);
		} else if (errno != EAGAIN) {
			fail("sigqueue: %s", strerror(errno));
		}
		call(worker->stream, LEAF);
	}
}

/* All threads have sent what they had to. */
void signals_end(struct worker *worker)
{
	uint64_t deadline = now() + PATIENCE * 1000000000ull;
	struct timespec moment = { 0, 1000000 };

	while (worker->neighbour->received != worker->sent) {
		if (now() > deadline) {
			fail("thread %u got %u signals of %u",
			     worker->neighbour->index,
			     worker->neighbour->received, worker->sent);
			return;
		}
		nanosleep(&moment, NULL);
	}
}
