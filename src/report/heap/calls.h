/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_CALLS_H
#define CALLTRAP_HEAP_CALLS_H

#include "heap/act_observer.h"
#include "report/memory/config.h"

struct output_policy;

/*
 * Each call of an allocator, a line when it has returned:
 *
 *	SEC.NSEC [MEM_TRACE] TID:COMPONENT.NAME - FUNCTION PTR SIZE bytes NNN ns
 *	from F1 F2 … F10
 *
 * all in one line. What stands where is told in calltrap(1), --calls.
 */
struct heap_calls;

struct heap_calls_options {
	const char *path; /* "%p" becomes the process id: a file each */
	const struct heap_report_config *config; /* for names */
	bool demangle;
	/* The number of a component, as of heap_options; or NULL. */
	unsigned (*component)(void *context, stack_id stack,
			      const char *library);
	void *context;
	struct output_policy *policy; /* as of struct output */
};

/* A negative errno when the file can't be written. */
int heap_calls_new(const struct heap_calls_options *options,
		   struct heap_calls **ret) MUST_CHECK;
void heap_calls_free(struct heap_calls *calls);

enum heap_call_end {
	HEAP_CALL_RETURNED,
	HEAP_CALL_UNFINISHED,
};

/*
 * Negative errnos when the file can't be written any more; nothing is written
 * from then on, and 0 returned.
 */
int heap_calls_add(struct heap_calls *calls, const struct observed_act *act,
		   enum heap_call_end end) MUST_CHECK;

/* The process is gone: its file, if it has one of its own, is complete. */
int heap_calls_close(struct heap_calls *calls, pid_t pid) MUST_CHECK;
int heap_calls_flush(struct heap_calls *calls) MUST_CHECK;

#endif
