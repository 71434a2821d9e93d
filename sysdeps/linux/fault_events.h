/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FAULT_EVENTS_H
#define CALLTRAP_FAULT_EVENTS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "sysdeps/linux/fault_sample.h"

/*
 * The page faults of one task: perf_event_open(2). The kernel writes a sample
 * of each into a ring. Before that is full the task gets a signal, which stops
 * it for its tracer: so nothing is lost, however fast it is. Faults in system
 * calls stop nobody, since a signal could be seen in what the call returns:
 * SIGALRM wakes the thread that has opened the events, which may be too late.
 */
struct fault_events {
	int samples;     /* descriptors; or -1 */
	int metronome;   /* of the signal */
	int waker;       /* of SIGALRM */
	unsigned period; /* a signal for so many faults */
	bool in_kernel;  /* faults in system calls are seen as well */
	void *ring_page;
	size_t ring_bytes; /* of all that is mapped */
	struct perf_ring ring;
	uint64_t sampled;    /* samples that were read */
	uint64_t told_lost;  /* by the kernel */
	uint64_t throttled;  /* times that it was */
	uint64_t unreadable; /* samples that make no sense */
};

/*
 * Ignored by programs that don't ask for it, so one that comes late harms
 * nobody.
 */
#define FAULT_SIGNAL SIGWINCH

/* Of no task. */
static inline struct fault_events fault_events_none(void)
{
	return (struct fault_events){ .samples = -1,
				      .metronome = -1,
				      .waker = -1 };
}

/*
 * The ring takes so many bytes at most: 32 KiB, or that times a power of two;
 * a sixteenth of it without privileges.
 * unwrapped: see struct perf_ring. Fails as perf_event_open(2) and mmap(2) do;
 * -EACCES and -EPERM: it's not allowed; -ENOBUFS: not with one more ring.
 */
int fault_events_open(struct fault_events *events, pid_t tid, size_t room,
		      uint8_t *unwrapped) MUST_CHECK;
void fault_events_close(struct fault_events *events);

/*
 * Who gets the signal: the task itself, FAULT_SIGNAL, as it is at first; or
 * (tid 0, for one that has blocked that) the calling thread, SIGALRM: it is to
 * read the ring, and may come too late.
 */
void fault_events_signal(struct fault_events *events, pid_t tid);

/* Nobody gets a signal any more, and no fault is recorded. */
void fault_events_stop(struct fault_events *events);

/* Whether a FAULT_SIGNAL with this siginfo says that the ring is to be read. */
bool fault_events_is_signal(const struct fault_events *events,
			    const siginfo_t *info);

/* The next sample; good until the next call. False when there is none now. */
bool fault_events_next(struct fault_events *events, struct fault_sample *ret);

/* How many faults there were, whether their samples were lost or not. */
uint64_t fault_events_count(const struct fault_events *events);

#endif
