/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_VITALS_H
#define CALLTRAP_VITALS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/types.h"

/* What the kernel says of a process's memory, and of what it may have. */
struct vitals {
	uint64_t virtual_bytes;
	uint64_t resident_bytes;
	uint64_t swapped_bytes;
	/* What the resident ones are: 0 and 0, where there is no telling. */
	uint64_t anonymous_bytes, file_bytes;
	/* … and what calltrap has there of its own: who knows fills it in. */
	uint64_t own_bytes;
	uint64_t minor_faults, major_faults; /* since its start */
	/* For how long it has run, and used a processor: nanoseconds, in steps
	   of some ten milliseconds. .age_ns 0: neither is known */
	uint64_t age_ns, processor_ns;
	uint64_t descriptors; /* 0: not known */
	uint64_t threads;
	uint64_t mappings;       /* 0: not known; vitals_count_mappings() */
	uint64_t machine_bytes;  /* all that there is; 0: not known */
	uint64_t limit_bytes;    /* of its cgroup, the lowest one up to the
				    root; 0: none */
	uint64_t cgroup_bytes;   /* used by the cgroup that has that limit */
	uint64_t room_bytes;     /* how much more its cgroup, or one above it,
				    may take before somebody is killed for
				    it, roughly; UINT64_MAX: no limit */
	char room_path[256];     /* which of them that is */
	uint64_t oom_kills;      /* in its own cgroup */
	unsigned cgroup_version; /* 1, 2; 0: not known */
	char kills_path[512];    /* where these are counted; "": nowhere */
};

/*
 * root: "" (tests have prepared files below another one). -ERR_GONE when
 * there is no such process, or it has ended.
 */
int vitals_read(const char *root, pid_t pid, struct vitals *ret) MUST_CHECK;

/* What the process would have in memory without us. */
uint64_t vitals_resident(const struct vitals *vitals);

/* Takes 1 ms for some thousand. 0 when that can't be known. */
uint64_t vitals_count_mappings(const char *root, pid_t pid);

/* What concerns its cgroup alone, for a tenth of the time. */
void vitals_read_room(const char *root, pid_t pid, struct vitals *ret);

/* What the machine could give without swapping: what is free, and what files have
   that nobody needs just now. 0: not known. */
uint64_t vitals_available_bytes(const char *root);

/* Counts the kills anew: the process may have gone by one. */
void vitals_read_kills(const char *root, struct vitals *vitals);

#endif
