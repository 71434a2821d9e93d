/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_WATCH_PRIVATE_H
#define CALLTRAP_WATCH_PRIVATE_H

#include "heap/act_observer.h"
#include "heap/call_acts.h"
#include "heap/watch.h"

struct watch {
	struct sink sink;
	struct watch_options options;
	struct family_pick *pick;
	struct call_acts acts;
	struct watched *processes;
	struct watched *latest; /* of them; or NULL */
	unsigned rate;
};

/* watched.c: the processes of a watch. */

/* NULL: it isn't known. */
struct watched *watched_find(const struct watch *watch, pid_t pid);

/* It isn't known yet. complete: it hasn't run yet. */
struct watched *watched_add(struct watch *watch, pid_t pid, bool complete,
			    uint64_t time);
void watched_forget(struct watch *watch, struct watched *process);

/* Looks at all that the kernel says of it, as watch_sample(); or only at what
   tracing it has cost. */
void watched_sample(const struct watch *watch, struct watched *process,
		    uint64_t now, bool now_and_then);
void watched_sample_cost(const struct watch *watch, struct watched *process);

/* Looks whether it could run; what it does next has not been booked yet. */
void watched_look_held(const struct watch *watch, struct watched *process);

/* Its calls since then may not have been seen. */
void watched_missed(const struct watch *watch, const struct watched *process,
		    uint64_t since, uint64_t now);

/* To the observer, if there is one. */
void watched_tell(const struct watch *watch, const struct watched *process,
		  enum watch_news news, uint64_t since, uint64_t now);

#endif
