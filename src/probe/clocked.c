/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "probe/private.h"
#include "sysdeps/linux/procfs.h"

/*
 * What lies between two stops of a task is the call, the way out of one stop and into
 * the next, and waits for a processor: the task's, and ours. Of few calls no clock tells
 * how much of that is which; the kernel's books do: how long the task ran, how long it
 * waited, how often it got a processor, how often it slept. To read them costs as much
 * as a stop, so it is done where one call stands for many.
 */

static bool read_clock(pid_t tid, struct kernel_clock *ret)
{
	struct procfs_status status;

	if (!procfs_schedule(tid, &ret->its) ||
	    !procfs_schedule(0, &ret->ours) || procfs_status(tid, &status))
		return false;
	ret->slept = status.waits;
	return true;
}

static double difference(uint64_t now, uint64_t then)
{
	return (double)(int64_t)(now - then);
}

/* How long waits are: one of those that are long, where there are many. */
static void note_waits(struct kernel_books *books,
		       const struct kernel_clock *now)
{
	const struct kernel_clock *last = &books->last;
	const double turns = difference(now->its.turns, last->its.turns);

	if (last->known && turns > 0)
		books->longest_ns = fmax(books->longest_ns,
					 difference(now->its.waited_ns,
						    last->its.waited_ns) /
						 turns);
	books->last = *now;
}

static void begin(struct moment *moment)
{
	struct kernel_clock *clock = &moment->clock;
	struct kernel_books *books = &moment->calls->books;

	clock->known = read_clock(moment->tid, clock);
	clock->stops = moment->stops.count;
	if (!clock->known)
		return;
	if (!books->first.known)
		books->first = *clock;
	note_waits(books, clock);
}

void clocked_begin(struct moment *moment)
{
	moment->clock.runs_free = true;
	begin(moment);
}

/* Has been on a processor from each stop to the next one. */
static bool kept_processor(const struct kernel_clock *then,
			   const struct kernel_clock *now)
{
	return now->its.turns - then->its.turns <= now->stops - then->stops;
}

/* Each stop is a sleep, too. */
static bool has_slept(const struct kernel_clock *then,
		      const struct kernel_clock *now)
{
	return now->slept - then->slept > now->stops - then->stops;
}

/* A stop's own waits for processors, in the mean. */
static double wait_of_stop(const struct kernel_books *books)
{
	return books->stops ? (double)books->waited_ns / (double)books->stops :
			      0;
}

/* So many stops tell whether they wait. */
#define STOPS_FIRST 16

static bool stops_wait(const struct moment *moment)
{
	const struct kernel_books *books = &moment->calls->books;

	return books->stops < STOPS_FIRST ||
	       wait_of_stop(books) * 2 > (double)moment->price->resolution;
}

/* One of so many, at random: programs repeat themselves. */
#define ONE_OF 8

/* … where it takes nothing but a look now and then whether it is still so. */
#define ONE_OF_IDLE 256

/* So many of each function: of most there are no more. */
#define CALLS_FIRST 64

/* … also where nothing waits, as they may take … */
#define CALLS_LEAST 2

/* … so long that it costs next to nothing to clock them all. */
#define LONG_NS 400000.0

/* What is known of calls that are caught there. */
struct clocked_point {
	taddr_t address;
	unsigned calls; /* that were clocked */
	double ns;      /* the last ones have taken, in the mean */
	UT_hash_handle hh;
};

static struct clocked_point *find(const struct probe_space *space,
				  taddr_t address)
{
	struct clocked_point *found;

	HASH_FIND(hh, space->clocked, &address, sizeof(address), found);
	return found;
}

static struct clocked_point *need(struct probe_space *space, taddr_t address)
{
	struct clocked_point *point = find(space, address);

	if (point)
		return point;
	point = xcalloc(1, sizeof(*point));
	point->address = address;
	HASH_ADD(hh, space->clocked, address, sizeof(point->address), point);
	return point;
}

void clocked_forget(struct probe_space *space)
{
	struct clocked_point *point, *next;

	HASH_ITER(hh, space->clocked, point, next) {
		HASH_DEL(space->clocked, point);
		free(point);
	}
}

static void note_length(struct clocked_point *point, double ns)
{
	point->ns += (ns - point->ns) / (point->calls < 4 ? 2 : 8);
}

void clocked_begin_some(struct moment *moment, taddr_t address)
{
	struct clocked_point *point;
	unsigned first;
	bool wait;

	if (!moment->space->prober->config.clocked)
		return;
	wait = stops_wait(moment);
	first = wait ? CALLS_FIRST : CALLS_LEAST;
	point = need(moment->space, address);
	moment->clock.certain = point->calls < first || point->ns > LONG_NS;
	if (!moment->clock.certain &&
	    moment->time * 0x9e3779b97f4a7c15ull >=
		    UINT64_MAX / (wait ? ONE_OF : ONE_OF_IDLE))
		return;
	moment->clock.point = address;
	point->calls++;
	begin(moment);
}

static double waited(const struct kernel_clock *then,
		     const struct kernel_clock *now)
{
	return difference(now->its.waited_ns, then->its.waited_ns);
}

static double we_waited(const struct kernel_clock *then,
			const struct kernel_clock *now)
{
	return difference(now->ours.waited_ns, then->ours.waited_ns);
}

/*
 * Who runs without stops waits so long for each nanosecond on a processor, at most, as
 * the task does. Whichever call it was in when it lost that, all of them have their share: few
 * of those that are brief are ever caught waiting.
 */
static double share_of_waits(const struct kernel_books *books,
			     const struct kernel_clock *now)
{
	const struct kernel_clock *first = &books->first;
	const double ran = difference(now->its.ran_ns, first->its.ran_ns);

	return ran > 0 ? waited(first, now) / ran : 0;
}

/* The most that a call can have waited itself: the stop that it begins with has, too. */
static double own_waits(const struct kernel_books *books,
			const struct kernel_clock *then,
			const struct kernel_clock *now, double ran)
{
	if (then->runs_free)
		return fmax(0, ran) * share_of_waits(books, now);
	return kept_processor(then, now) || has_slept(then, now) ?
		       0 :
		       waited(then, now);
}

/* So long calls like it wait in the mean, some of them for long, which may not be seen. */
static double chance(const struct kernel_books *books,
		     const struct kernel_clock *then,
		     const struct kernel_clock *now, double ran)
{
	if (has_slept(then, now))
		return wait_of_stop(books);
	return then->runs_free ? own_waits(books, then, now, ran) / 2 : 0;
}

/* Neither ran nor waited: so long, give or take the rest. */
struct asleep {
	double ns, blur;
};

/* We may have come late to the stop: then that is in what is left. */
static struct asleep time_asleep(const struct kernel_clock *then,
				 const struct kernel_clock *now, double ns)
{
	const double woken = waited(then, now);
	const double left =
		ns - difference(now->its.ran_ns, then->its.ran_ns) - woken;
	const double least = fmax(0, left - we_waited(then, now));

	if (!has_slept(then, now) || left <= 0)
		return (struct asleep){ 0 };
	/* It was woken for what it waited then, or for the stop. */
	return (struct asleep){
		.ns = (least + left + woken) / 2,
		.blur = (left - least + woken) / 2,
	};
}

/* Then older ones count half. */
#define STOPS_MOST 256

static void note_stop(struct kernel_books *books,
		      const struct kernel_clock *then,
		      const struct kernel_clock *now)
{
	note_waits(books, now);
	if (!kept_processor(then, now))
		return;
	if (books->stops >= STOPS_MOST) {
		books->stops /= 2;
		books->waited_ns /= 2;
	}
	books->stops += now->stops - then->stops;
	books->waited_ns +=
		(uint64_t)fmax(0, waited(then, now) + we_waited(then, now));
}

void clocked_end(const struct moment *moment, const struct call *call,
		 struct event_cost *cost)
{
	struct kernel_books *books = &moment->calls->books;
	const struct kernel_clock *then = &call->clock;
	const double ns =
		difference(moment->time, call->time) - (double)cost->stopped_ns;
	struct kernel_clock now = { .stops = moment->stops.count };
	struct asleep asleep;
	double bare, ran;

	if (!then->known || !books->first.known || !moment->price->ran ||
	    !read_clock(moment->tid, &now))
		return;
	now.known = true;
	note_stop(books, then, &now);
	bare = (double)moment->price->ran * difference(now.stops, then->stops);
	ran = difference(now.its.ran_ns, then->its.ran_ns) - bare;
	asleep = time_asleep(then, &now, ns);
	if (then->point)
		note_length(need(moment->space, then->point), ran + asleep.ns);
	cost->late_ns = (int64_t)(waited(then, &now) + we_waited(then, &now)) -
			(int64_t)(cost->resolution_ns + cost->waits_ns);
	cost->mean_ns = (uint64_t)(int64_t)(ns - ran - asleep.ns);
	cost->switched_ns = (uint64_t)fmax(0, ns - ran - asleep.ns);
	/* With nothing in its caches it runs on for longer. */
	cost->resolution_ns = (uint64_t)(bare * 3 / 2 + asleep.blur);
	cost->waits_ns = 0;
	cost->own_waits_ns = (uint64_t)(own_waits(books, then, &now, ran) / 2);
	cost->chance_ns = (uint64_t)chance(books, then, &now, ran);
	cost->wait_ns = (uint64_t)books->longest_ns;
}
