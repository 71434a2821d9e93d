/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OPTIONS_H
#define CALLTRAP_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "filter/filter.h"
#include "filter/predicate.h"
#include "report/heap/diff.h"
#include "report/heap/export.h"
#include "report/log/log.h"
#include "report/screen/live.h"

/* What calltrap is to do. */
enum verb {
	VERB_TRACE,
	VERB_HEAP,
	VERB_HEAP_DIFF, /* .command is the two files */
	VERB_MEMORY,
	VERB_RECORD,
	VERB_TOP,
	VERB_CONVERT, /* .command is the file */
	VERB_REPLAY,  /* … is the recording */
	VERB_DOCTOR,
};

/* What convert makes of a file. */
enum convert {
	CONVERT_NOT,
	CONVERT_FOOTPRINT,
	CONVERT_CALLS,
	CONVERT_CSV,
	CONVERT_STATS,
	CONVERT_RECORDING,
	CONVERT_FILE, /* one for other programs */
};

/* What happens when calltrap can't go on: nobody takes its output, or it is
   stopped by the terminal. */
enum when_full {
	WHEN_FULL_WAIT, /* what is traced waits */
	WHEN_FULL_DROP, /* it goes on; what is missed is counted */
};

/* memory: what keeps a process still while it is read. */
enum memory_freeze {
	FREEZE_NONE,
	FREEZE_STOP,  /* all tasks are stopped */
	FREEZE_CLONE, /* … until there is a copy, which is read */
};

/* replay: which pages of a block are touched when it is acquired. */
enum replay_touch {
	TOUCH_ALL,
	TOUCH_NONE,
};

/* How calls are caught. */
enum engine_choice {
	ENGINE_TRAP,  /* by stops alone */
	ENGINE_AGENT, /* in the process where that can be done */
	ENGINE_AUTO,  /* the same, where it is worth the way in; what can't be
			 done is no news */
};

/*
 * What the user asked for on the command line. Strings that are not freed
 * are the command line's own.
 */

struct options {
	enum verb verb;
	char *files[HEAP_FILES]; /* see file_names_tell_apart() */
	pid_t *pids;             /* -p and --name, without duplicates */
	size_t pid_count;
	char **command;              /* NULL-terminated, or NULL */
	const char *user;            /* -u */
	bool follow;                 /* -f */
	struct filter *calls;        /* -e, -l's callers; empty unless given */
	struct filter *libraries;    /* -l */
	struct filter *entries;      /* -x */
	struct predicate *condition; /* --if, all of them; or NULL */
	bool system_calls;           /* -S */
	bool only_named;             /* -L, -g: no default @MAIN */
	bool default_calls;          /* none of -e, -l, -L, -g: @MAIN applies */
	bool count;                  /* -c */
	bool script;                 /* --script */
	enum engine_choice engine;   /* --engine */
	enum when_full when_full;    /* --when-full */
	bool agent_waits;            /* … the same for the agent's rings */
	struct log_options log;
	enum memory_freeze freeze;         /* --freeze */
	bool leaks;                        /* --leaks */
	bool no_reach;                     /* --no-reach */
	bool doctor_json;                  /* doctor: --json */
	const char *holders;               /* --holders */
	bool owners;                       /* --owners */
	uint64_t touched;                  /* --touched; 0 = not given */
	const char *snapshot;              /* --save */
	struct heap_report_options report; /* heap: what is printed */
	struct heap_export_options export; /* … and written to files */
	const char *heap_calls;            /* --calls */
	const char *footprint;             /* --footprint */
	const char *per_json;              /* --per-json */
	const char *recording;             /* --record; record: -o */
	const char *http;                  /* --http [ADDR:]PORT */
	const char *push;                  /* --push URL */
	uint64_t push_every;               /* 0 = not given */
	bool time_releases;                /* --time-releases */
	uint64_t sample;                   /* --sample: bytes; 0 = not given */
	unsigned max_overhead;             /* %; 0 = not given */
	char **families;             /* --family, NULL-terminated; or NULL */
	char **from;                 /* --from, NULL-terminated; or NULL */
	uint64_t since, until;       /* --since, --until; 0 = not given */
	enum convert convert;        /* --to … */
	enum heap_file convert_file; /* … CONVERT_FILE */
	const char *converted;       /* where that goes */
	char **with;                 /* --with, NULL-terminated; or NULL */
	unsigned runs;               /* --runs; 0 = not given */
	enum replay_touch touch;     /* --touch */
	bool pace;                   /* --pace */
	uint64_t every;             /* --every: a report each time; 0 = never */
	const char *tag;            /* … a line with that; or NULL */
	enum heap_diff_by diff_by;  /* heap diff: --by … */
	enum live_by live_by;       /* top: --by … */
	enum live_order live_order; /* … and --sort */
	unsigned data;              /* --data: bytes of each block; 0: none */
	unsigned depth;             /* --depth: frames kept of a stack */
	char **pools;               /* --pool, NULL-terminated; or NULL */
	const char *json;           /* --json */
	const char *components;     /* --components */
	char **suppressions;        /* --suppress, NULL-terminated; or NULL */
	unsigned leak_status;       /* --error-exitcode; 0: as without leaks */
	char **wrappers;            /* --alloc-fn, NULL-terminated; or NULL */
	char **configs;    /* -F, each file or directory; NULL-terminated */
	uint64_t duration; /* --for, in nanoseconds; 0 = no end */
	unsigned debug;    /* -D: domains of diag.h */
	bool help;
	bool version;
};

/*
 * Reads the command line. On -EINVAL one line that says what is wrong (and,
 * for a filter, shows where) has been printed to standard error: exit with 2.
 * When the processes of --name can't be found: -ESRCH, printed as well.
 */
int options_parse(int argc, char **argv, struct options *ret) MUST_CHECK;
void options_fini(struct options *options);
void options_print_help(enum verb verb, FILE *out);

/* One block in so many bytes is kept, or more with --max-overhead; 0: each. */
uint64_t options_sample(const struct options *options);

#endif
