/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_VERB_H
#define CALLTRAP_HEAP_VERB_H

#include "cli/overhead.h"
#include "cli/progress.h"
#include "cli/serve.h"
#include "cli/session.h"
#include "cli/top.h"
#include "growth/faults.h"
#include "heap/per_calls.h"
#include "heap/watch.h"
#include "recording/act_stats.h"
#include "recording/recorder.h"
#include "report/heap/components.h"
#include "report/heap/journal.h"
#include "report/heap/per_file.h"
#include "report/heap/prefetch.h"
#include "report/heap/report.h"
#include "report/heap/suppressions.h"

/* The verb heap: what is acquired and not given back. */
/* Which component a call stack belongs to, asked at each release. */
struct component_of_stack {
	stack_id stack;
	unsigned component;
	UT_hash_handle hh;
};

struct heap_verb {
	struct component_of_stack *component_of;
	struct session *session;
	struct families *families;
	struct namer *namer;
	struct watch *watch;               /* freed as the session's sink */
	struct faults *faults;             /* or NULL */
	struct components *components;     /* or NULL */
	struct suppressions *suppressions; /* or NULL */
	struct wrappers *wrappers;
	struct heap_report_config config;
	struct heap_report *report;
	struct heap_journal *journal; /* freed as a sink, too; or NULL */
	struct per_calls *per;        /* likewise */
	struct per_file *per_file;    /* or NULL */
	struct recorder *recorder;    /* likewise */
	struct act_stats *stats;      /* convert --to stats; or NULL */
	struct strbuf stats_text;
	struct progress *progress;
	struct top *top;          /* or NULL */
	struct serve *serve;      /* or NULL */
	uint64_t next_look;       /* of .top */
	uint64_t next_serve;      /* of .serve */
	uint64_t next_sample;     /* monotonic */
	uint64_t until_sample;    /* then so long */
	uint64_t next_report;     /* 0: never */
	struct overhead overhead; /* .most 0: it may be any */
	uint64_t next_overhead;
	struct stop_sums overhead_stops; /* of all */
	uint64_t overhead_stop_ns;       /* one, of late */
	uint64_t overhead_calls,
		overhead_calls_ns;      /* that were kept by stops */
	struct heap_prefetch *prefetch; /* a report is made when these have
					   names, or NULL … */
	uint64_t patience;              /* … or then */
	sig_atomic_t reports;           /* requests that have been heeded */
	sig_atomic_t switches;
	struct heap_from *from; /* heap --from, or NULL */
	int error;              /* the report can't be written */
};

/* What the command line names is read, and what is written to is opened; what
   goes wrong has been told. */
int heap_verb_open(struct heap_verb *verb) MUST_CHECK;

/* --max-overhead: heap_overhead.c. Before any process is there, now and then,
   and in the end. */
void heap_overhead_begin(struct heap_verb *verb);
void heap_overhead_look(struct heap_verb *verb, uint64_t now);
void heap_overhead_tell(const struct heap_verb *verb);

void heap_verb_free_components(struct heap_verb *verb);

/* Where the report goes, for messages. */
const char *heap_verb_output(const struct heap_verb *verb);

/* A file can't be written. */
void heap_verb_unwritten(void *verb, const char *path, int err);

/* What watching a process has cost it by now. */
struct heap_cost heap_verb_cost(struct heap_verb *verb,
				const struct watched *process, uint64_t now);

/* A process has come to its end: its report. */
void heap_verb_ended(void *verb, const struct watched *process);
void heap_verb_report(struct heap_verb *verb, const struct watched *process,
		      const struct heap_cost *cost, uint64_t now);

/* Behind the last one: what there is to say of all of them. */
void heap_verb_finish_reports(struct heap_verb *verb);

/* What of heap_verb_open() has nothing to do with tracing. The families are
   there, or will be. */
int heap_verb_open_reports(struct heap_verb *verb) MUST_CHECK;
int heap_verb_open_journal(struct heap_verb *verb) MUST_CHECK;

/* Frees all but what the session's sinks are. */
void heap_verb_free(struct heap_verb *verb);

/* As of heap_options. */
unsigned heap_verb_component(void *verb, stack_id stack, const char *library);

#endif
