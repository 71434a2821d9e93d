/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/gauge.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "sysdeps/linux/affinity.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/ptrace.h"

/* The first ones are slow: nothing of what they need is in a cache. */
#define STOPS_FIRST 8
#define STOPS       96
/* On a busy machine fewer must do, for so long and no longer. */
#define STOPS_FEW     16
#define PATIENCE      (NS_PER_SECOND / 100)
#define LAST_PATIENCE (NS_PER_SECOND / 10)

static void keep_to(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
}

/* Nothing here may rely on what other threads of calltrap were doing. */
static void stop_for_ever(pid_t parent, int processor)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	keep_to(processor);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(1);
	while (getppid() == parent)
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGTRAP);
	_exit(1);
}

static bool wait_for(pid_t child)
{
	int status;
	pid_t found;

	do
		found = waitpid(child, &status, __WALL);
	while (found < 0 && errno == EINTR);
	return found == child && WIFSTOPPED(status);
}

/* All ways of a gauge; how long they have waited for a processor in all, and the child
   had one. */
struct timing {
	struct price_ways ways;
	uint64_t sum, waited, ran;
};

/* Times between two of these are differences. */
static void read_books(pid_t child, struct timing *timing)
{
	struct procfs_schedule own, its;

	if (!procfs_schedule(0, &own) || !procfs_schedule(child, &its))
		return;
	timing->waited = own.waited_ns + its.waited_ns - timing->waited;
	timing->ran = its.ran_ns - timing->ran;
}

static void time_stops(pid_t child, struct timing *timing)
{
	uint64_t began = clock_now(), resumed = began, way;
	unsigned stops;

	if (!wait_for(child))
		return;
	for (stops = 0; stops < STOPS_FIRST + STOPS; stops++) {
		if (resumed - began >
		    (timing->ways.count < STOPS_FEW ? LAST_PATIENCE : PATIENCE))
			break;
		if (stops == STOPS_FIRST)
			read_books(child, timing);
		resumed = clock_now();
		if (ptrace_continue(child, 0) || !wait_for(child))
			break;
		way = clock_now() - resumed;
		if (stops < STOPS_FIRST)
			continue;
		timing->sum += way;
		price_ways_add(&timing->ways, way, 0);
	}
	read_books(child, timing);
}

static struct stop_price gauge_on(int processor)
{
	struct timing timing = { .sum = 0 };
	struct stop_price price;
	pid_t parent = getpid(), child = fork();

	if (!child)
		stop_for_ever(parent, processor);
	if (child < 0)
		return (struct stop_price){ 0 };
	time_stops(child, &timing);
	(void)kill(child, SIGKILL);
	while (wait_for(child))
		;
	price = price_ways_bare(&timing.ways, timing.sum, timing.waited);
	if (timing.ways.count)
		price.ran = timing.ran / timing.ways.count;
	return price;
}

/* One that we may run on as well, or -1. */
static int find_other(const cpu_set_t *allowed, int processor)
{
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (i != processor && CPU_ISSET(i, allowed))
			return i;
	return -1;
}

void gauge_take(struct price_gauge *ret)
{
	struct affinity affinity;
	int here = sched_getcpu(), other;

	*ret = (struct price_gauge){ 0 };
	affinity_init(&affinity);
	if (here < 0 || !CPU_ISSET(here, &affinity.allowed))
		return;
	affinity_keep_to(&affinity, here);
	ret->same = gauge_on(here);
	other = find_other(&affinity.allowed, here);
	ret->other = other < 0 ? ret->same : gauge_on(other);
	affinity_keep_to(&affinity, -1);
	if (!ret->other.typical)
		ret->other = ret->same;
	if (!ret->same.typical)
		ret->same = ret->other;
	if (ret->other.least < ret->same.least)
		ret->other.least = ret->same.least;
}
