/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe/prober.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/loop.h"
#include "unit.h"

/* Sources of events beside stops, and how the run loop drains them. */

#define MS (NS_PER_SECOND / 1000)

struct buffer {
	struct event_source source;
	uint64_t every; /* how long after it was drained it is due; 0: never */
	unsigned drained, begun, ended, early;
	unsigned within; /* how deep we are in .drain */
};

static struct stage {
	struct filter *filter;
	struct prober *prober;
	struct tracer tracer;
	struct buffer buffer;
	volatile sig_atomic_t wake;
	pid_t child;
} s;

static struct buffer *buffer_of(struct event_source *source)
{
	return (struct buffer *)source;
}

static void on_begin(struct event_source *source, struct task *task UNUSED)
{
	buffer_of(source)->begun++;
}

static void on_end(struct event_source *source, struct task *task UNUSED)
{
	buffer_of(source)->ended++;
}

/* What it tells of may make somebody ask for a drain. */
static void on_drain(struct event_source *source, uint64_t now)
{
	struct buffer *buffer = buffer_of(source);

	ck_assert_uint_eq(buffer->within, 0);
	buffer->within++;
	sources_drain(&s.tracer);
	buffer->within--;
	buffer->drained++;
	buffer->early += source->due && now < source->due;
	source->due = buffer->every ? now + buffer->every : 0;
}

static bool on_signal(struct event_source *source, struct task *task UNUSED,
		      int signal)
{
	if (signal == SIGUSR2)
		s.wake = buffer_of(source)->every == 0;
	return signal == SIGUSR2;
}

static const struct event_source_ops ops = {
	.task_begin = on_begin,
	.task_end = on_end,
	.drain = on_drain,
	.signal = on_signal,
};

static void nap(unsigned ms)
{
	const struct timespec time = { .tv_nsec = ms * MS };

	(void)nanosleep(&time, NULL);
}

/* SIGUSR2 would end it, if the source didn't take it for its own. */
static void be_child(unsigned signals)
{
	raise(SIGSTOP);
	for (; signals; signals--) {
		raise(SIGUSR2);
		nap(4);
	}
	nap(100);
	_exit(7);
}

static void begin(unsigned signals)
{
	struct space *space;
	int status;

	s.child = fork();
	ck_assert_int_ge(s.child, 0);
	if (!s.child)
		be_child(signals);
	ck_assert_int_eq(waitpid(s.child, &status, WUNTRACED), s.child);
	ck_assert(WIFSTOPPED(status));
	space = space_new(&s.tracer, s.child);
	(void)task_new(&s.tracer, s.child,
		       tracee_new(&s.tracer, s.child, space));
	ck_assert_int_eq(ptrace_seize(s.child, 0), 0);
	kill(s.child, SIGCONT);
}

static void setup(void)
{
	memset(&s, 0, sizeof(s));
	s.filter = filter_new();
	s.prober = prober_new(&(struct prober_config){ .calls = s.filter,
						       .libraries = s.filter,
						       .entries = s.filter,
						       .wake = &s.wake });
	s.tracer.client = prober_client(s.prober);
	s.buffer.source.ops = &ops;
	source_add(&s.tracer, &s.buffer.source);
}

static void teardown(void)
{
	prober_free(s.prober);
	filter_free(s.filter);
}

/* Nothing else happens meanwhile, and stops aren't kept waiting. */
START_TEST(drained_when_due)
{
	s.buffer.every = MS;
	s.buffer.source.due = 1;
	begin(20);
	ck_assert_int_eq(loop_run(&s.tracer, &s.wake), 0);
	ck_assert_uint_eq(s.buffer.begun, 1);
	ck_assert_uint_eq(s.buffer.ended, 1);
	ck_assert_uint_ge(s.buffer.drained, 20);
	ck_assert_uint_eq(s.buffer.early, 0);
	ck_assert_uint_ge(s.tracer.counts.stops, 20);
}
END_TEST

/* For 100 ms no stop comes; the machine may be busy. */
START_TEST(drained_without_stops)
{
	s.buffer.every = MS;
	s.buffer.source.due = 1;
	begin(0);
	ck_assert_int_eq(loop_run(&s.tracer, &s.wake), 0);
	ck_assert_uint_gt(s.buffer.drained, s.tracer.counts.stops + 5);
}
END_TEST

START_TEST(drained_when_woken)
{
	unsigned woken = 0;

	begin(5);
	while (loop_run(&s.tracer, &s.wake) == -EINTR) {
		s.wake = 0;
		ck_assert_uint_eq(s.buffer.drained, ++woken);
	}
	ck_assert_uint_eq(woken, 5);
}
END_TEST

/* Whoever has had SIGCHLD unblocked has it so afterwards. */
START_TEST(mask_unchanged)
{
	sigset_t mask;

	s.buffer.every = MS;
	s.buffer.source.due = 1;
	begin(2);
	ck_assert_int_eq(loop_run(&s.tracer, &s.wake), 0);
	ck_assert(!sigprocmask(SIG_BLOCK, NULL, &mask));
	ck_assert(!sigismember(&mask, SIGCHLD));
}
END_TEST

START_TEST(earliest)
{
	struct buffer other = { .source = { .ops = &ops } };

	source_add(&s.tracer, &other.source);
	ck_assert_uint_eq(sources_due(&s.tracer), 0);
	other.source.due = 2;
	ck_assert_uint_eq(sources_due(&s.tracer), 2);
	s.buffer.source.due = UINT64_MAX;
	ck_assert_uint_eq(sources_due(&s.tracer), 2);
	sources_drain_due(&s.tracer);
	ck_assert_uint_eq(other.drained, 1);
	ck_assert_uint_eq(s.buffer.drained, 0);
	sources_drain(&s.tracer);
	ck_assert_uint_eq(other.drained, 2);
	ck_assert_uint_eq(s.buffer.drained, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("source");
	TCase *tcase = tcase_create("source");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, drained_when_due);
	tcase_add_test(tcase, drained_without_stops);
	tcase_add_test(tcase, drained_when_woken);
	tcase_add_test(tcase, mask_unchanged);
	tcase_add_test(tcase, earliest);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
