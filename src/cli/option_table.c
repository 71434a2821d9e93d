/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/option_table.h"

#include <limits.h>

#include "cli/growth_option.h"
#include "cli/option_apply.h"
#include "stack/unwind.h"

#define HEADING(text, verbs) { 0, NULL, NULL, text, NULL, 0, 0, 0, verbs }
#define TRACE (1U << VERB_TRACE)
#define HEAP (1U << VERB_HEAP)
#define HEAP_DIFF (1U << VERB_HEAP_DIFF)
#define MEMORY (1U << VERB_MEMORY)
#define RECORD (1U << VERB_RECORD)
#define CONVERT (1U << VERB_CONVERT)
#define REPLAY (1U << VERB_REPLAY)
#define DOCTOR (1U << VERB_DOCTOR)
#define SPECIAL(s, l, argument, apply, text) \
	{ s, l, argument, text, apply, 0, 0, 0, 0 }
#define FIELD(s, l, argument, apply, member, text) \
	{ s, l, argument, text, apply, offsetof(struct options, member), 0, 0, 0 }
#define FLAG(s, l, member, text) FIELD(s, l, NULL, apply_flag, member, text)
#define NUMBER(s, l, member, min, max, text)       \
	{ s, l, "N", text, apply_number,           \
	  offsetof(struct options, member), min, max, 0 }

const struct option_entry option_table[] = {
	HEADING("What to trace", TRACE | HEAP | RECORD),
	SPECIAL('p', NULL, "PID", apply_pids,
		"a running process, or several: -p 12,13"),
	SPECIAL(0, "name", "NAME", apply_name,
		"all running processes of that name"),
	FLAG('f', "follow", follow, "child processes as well"),
	FIELD('u', NULL, "USER", apply_text, user, "run COMMAND as USER"),
	FIELD(0, "for", "DURATION", apply_duration, duration,
	      "stop by itself: 500ms, 1.5s, 10m, 2h"),
	FIELD(0, "when-full", "WHAT", apply_when_full, when_full,
	      "what is traced when nobody takes the output:\n"
	      "wait, or drop what isn't taken, counted"),

	HEADING("Which calls", TRACE),
	FIELD('e', NULL, "FILTER", apply_filter, calls,
	      "calls of these functions; default @MAIN, all\n"
	      "library calls that the program itself makes"),
	FIELD('x', NULL, "FILTER", apply_filter, entries,
	      "whoever calls these functions, libraries too"),
	SPECIAL('l', "library", "PATTERN", apply_library,
		"calls into the libraries that match"),
	SPECIAL(0, "if", "EXPR", apply_condition,
		"only calls that this holds of: 'size >= 1M',\n"
		"'ret < 0 && errno != EAGAIN', 'time > 100ms'"),
	FLAG('S', NULL, system_calls, "system calls, too"),
	FLAG('L', NULL, only_named, "no calls but those of -e, -x, -l and -S"),
	FLAG('g', NULL, only_named, "the same as -L"),
	FIELD('F', "config", "FILE", apply_files, configs,
	      "prototypes, or a directory of them (may repeat)"),

	FIELD(0, "engine", "WHAT", apply_engine, engine,
	      "how calls are caught: trap, or agent, in the\n"
	      "process itself where that can be done"),

	HEADING("What to show", TRACE),
	FIELD('o', "output", "FILE", apply_text, log.path,
	      "write there; %p in it makes a file per process"),
	FIELD(0, "json", "FILE", apply_text, json,
	      "write calls and events there, too: a JSON object\n"
	      "a line; %p as for -o"),
	FLAG('c', NULL, count, "a table of counts and times at the end, only"),
	SPECIAL('t', NULL, NULL, apply_clock,
		"the time; -tt with microseconds, -ttt since 1970"),
	FLAG('r', NULL, log.relative, "the time since the line before"),
	FLAG('T', NULL, log.durations, "the time spent in each call"),
	FLAG('i', NULL, log.ip, "the address that each call returns to"),
	NUMBER('w', "where", log.where, 0, UNWIND_DEPTH_MAX - 1,
	       "the stack of each call, up to N frames"),
	FLAG(0, "script", script,
	     "file and line of the script that makes each call\n"
	     "(Perl, PHP, Python, Ruby)"),
	NUMBER('n', "indent", log.indent, 0, 20,
	       "indent nested calls by N columns each"),
	NUMBER('a', "align", log.align, 0, 10000,
	       "column of the results; default 50"),
	NUMBER('s', NULL, log.limits.string_bytes, 0, INT_MAX,
	       "show up to N bytes of a string; default 32"),
	NUMBER('A', NULL, log.limits.array_elements, 0, INT_MAX,
	       "show up to N elements of an array; default 4"),
	FLAG('C', "demangle", log.demangle, "C++ and Rust names as written"),
	FLAG('b', "no-signals", log.hide_signals, "no signals"),
	SPECIAL(0, "ltrace", "[=VERSION]", apply_ltrace,
		"everything to the letter as ltrace, for scripts;\n"
		"0.7.3 (Debian) or 0.7.91, the default"),

	HEADING("What to write", RECORD),
	FIELD('o', "output", "FILE", apply_text, recording,
	      "the recording; %p in it makes a file per process"),
	FIELD(0, "family", "FILE", apply_files, families,
	      "families of functions that acquire and release,\n"
	      "instead of malloc and mappings (may repeat)"),
	FLAG(0, "time-releases", time_releases,
	     "how long releases take, too: a further stop each"),

	HEADING("A recording", HEAP),
	FIELD(0, "record", "FILE", apply_text, recording,
	      "write one as well, as calltrap record does"),
	FIELD(0, "from", "FILE", apply_text, from,
	      "the report of a recording, instead of a process"),

	HEADING("What to make of it", CONVERT),
	SPECIAL(0, "to", "FORMAT", apply_convert,
		"footprint, calls, csv, stats, recording, pprof,\n"
		"folded, callgrind, json, svg, ..."),
	FIELD('o', "output", "FILE", apply_text, report.path,
	      "write there, instead of to standard output"),

	HEADING("What to replay it with", REPLAY),
	FIELD(0, "with", "FILE", apply_files, with,
	      "an allocator's library, as for LD_PRELOAD; the C\n"
	      "library's is always tried, first"),
	NUMBER(0, "runs", runs, 1, 10000,
	       "how often with each; default 3"),
	FIELD(0, "touch", "PAGES", apply_touch, touch,
	      "all (the default): write to each page of a block\n"
	      "when it is acquired; or none"),
	FIELD('o', "output", "FILE", apply_text, report.path,
	      "write there, instead of to standard output"),
	FIELD(0, "json", "FILE", apply_text,
	      export.files[HEAP_FILE_JSON],
	      "all that the table has, as JSON"),

	HEADING("Which part of a recording", HEAP | CONVERT | REPLAY),
	FIELD(0, "since", "DURATION", apply_duration, since,
	      "nothing that was before that, counted from the\n"
	      "beginning of the recording"),
	FIELD(0, "until", "DURATION", apply_duration, until,
	      "nothing that came after that"),

	HEADING("What to gather", HEAP | RECORD),
	FIELD(0, "pool", "FILE", apply_files, pools,
	      "further families of functions that acquire and\n"
	      "release: a file, or the name of one that comes\n"
	      "with calltrap (may repeat)"),
	NUMBER(0, "depth", depth, 1, UNWIND_DEPTH_MAX,
	       "frames kept of each stack; default 64"),

	HEADING("What else to gather", HEAP),
	SPECIAL(0, "growth", "WHAT", apply_growth,
		"instead, what makes the process grow, a list of\n"
		"heap (brk), mmap, faults; with leaks: as well"),
	FLAG('S', NULL, system_calls,
	     "--growth: seen at system calls, not at functions\n"
	     "of the C library"),
	FIELD(0, "components", "FILE", apply_text, components,
	      "groups of libraries and functions, by name"),

	HEADING("What to show", HEAP),
	FIELD('o', "output", "FILE", apply_text, report.path,
	      "write there; %p in it makes a file per process"),
	FIELD(0, "every", "DURATION", apply_duration, every,
	      "print a report each time, too"),
	FIELD(0, "by", "WHAT", apply_by, report.by,
	      "what a row is: stack, function, line, library,\n"
	      "thread, size, component"),
	FLAG(0, "source", report.source,
	     "the source text of rows by line, with numbers"),
	FIELD(0, "sort", "WHAT", apply_order, report.order,
	      "what comes first: bytes, blocks, rate, age"),
	FIELD(0, "older-than", "DURATION", apply_duration, report.older_than,
	      "only blocks that have lived longer count"),
	FIELD(0, "suppress", "FILE", apply_files, suppressions,
	      "stacks not to report, by patterns for their\n"
	      "functions and libraries (may repeat)"),
	FLAG(0, "histogram", report.histogram, "the sizes of blocks"),
	NUMBER(0, "top", report.top, 0, INT_MAX,
	       "rows; default 10, 0 = all"),
	FLAG('C', "demangle", log.demangle,
	     "C++ and Rust names as written in --calls, too"),

	HEADING("Files for other programs (%p makes one per process)", HEAP),
	FIELD(0, "folded", "FILE", apply_text,
	      export.files[HEAP_FILE_FOLDED],
	      "stacks for flamegraph.pl, speedscope, inferno"),
	FIELD(0, "pprof", "FILE", apply_text,
	      export.files[HEAP_FILE_PPROF],
	      "a profile for pprof: what is in use, and all\n"
	      "that was allocated"),
	FIELD(0, "callgrind", "FILE", apply_text,
	      export.files[HEAP_FILE_CALLGRIND],
	      "for callgrind_annotate and kcachegrind"),
	FIELD(0, "json", "FILE", apply_text,
	      export.files[HEAP_FILE_JSON],
	      "all that the report has, as JSON"),
	FIELD(0, "svg", "FILE", apply_text,
	      export.files[HEAP_FILE_SVG],
	      "a flame graph for a browser"),
	FIELD(0, "html", "FILE", apply_text, export.files[HEAP_FILE_HTML],
	      "a page with everything, for a browser"),
	FIELD(0, "speedscope", "FILE", apply_text,
	      export.files[HEAP_FILE_SPEEDSCOPE],
	      "for speedscope: in use and acquired"),
	FIELD(0, "firefox", "FILE", apply_text,
	      export.files[HEAP_FILE_FIREFOX],
	      "for the Firefox Profiler: what a range of time\n"
	      "has acquired and kept"),
	FIELD(0, "dhat", "FILE", apply_text, export.files[HEAP_FILE_DHAT],
	      "for valgrind's dh_view.html"),
	FIELD(0, "massif", "FILE", apply_text, export.files[HEAP_FILE_MASSIF],
	      "for ms_print and massif-visualizer"),
	FIELD(0, "value", "WHAT", apply_value, export.value,
	      "what stacks weigh: inuse-bytes, inuse-blocks,\n"
	      "alloc-bytes, alloc-blocks"),
	FIELD(0, "calls", "FILE", apply_text, heap_calls,
	      "each call of an allocator, as it happens"),
	FIELD(0, "footprint", "FILE", apply_text, footprint,
	      "the same for programs that make them again"),

	HEADING("What to compare", HEAP_DIFF),
	FIELD(0, "value", "WHAT", apply_value, export.value,
	      "inuse-bytes, inuse-blocks, alloc-bytes,\n"
	      "alloc-blocks"),
	NUMBER(0, "top", report.top, 0, INT_MAX,
	       "rows of each kind; default 10, 0 = all"),
	FIELD(0, "folded", "FILE", apply_text,
	      export.files[HEAP_FILE_FOLDED],
	      "stacks with both numbers, for flamegraph.pl"),
	FIELD(0, "svg", "FILE", apply_text,
	      export.files[HEAP_FILE_SVG],
	      "a flame graph of the difference, for a browser"),

	HEADING("What to look at", MEMORY),
	SPECIAL('p', NULL, "PID", apply_pids,
		"a running process, or several: -p 12,13"),
	SPECIAL(0, "name", "NAME", apply_name,
		"all running processes of that name"),
	FIELD(0, "freeze", "HOW", apply_freeze, freeze,
	      "none: the process runs on while it is read;\n"
	      "stop: all of its tasks are stopped meanwhile"),
	FLAG(0, "leaks", leaks,
	     "which blocks it can't reach any more; its tasks\n"
	     "are stopped while its memory is copied"),
	FIELD(0, "holders", "WHOSE", apply_text, holders,
	      "who holds the block at an address, 0x..., or all\n"
	      "objects of a class: the shortest ways to them"),

	HEADING("What to show", MEMORY),
	FIELD('o', "output", "FILE", apply_text, report.path,
	      "write there; %p in it makes a file per process"),
	FIELD(0, "json", "FILE", apply_text,
	      export.files[HEAP_FILE_JSON],
	      "all that the report has, and more, as JSON"),
	NUMBER(0, "top", report.top, 0, INT_MAX,
	       "rows of each table; default 10, 0 = all"),

	HEADING("What to look at", DOCTOR),
	SPECIAL('p', NULL, "PID", apply_pids,
		"a running process, or several: -p 12,13"),
	SPECIAL(0, "name", "NAME", apply_name,
		"all running processes of that name"),
	FLAG(0, "json", doctor_json, "the same as JSON"),

	HEADING("About calltrap", TRACE | HEAP | HEAP_DIFF | MEMORY |
					 RECORD | CONVERT | REPLAY | DOCTOR),
	SPECIAL('D', "debug", "MASK", apply_debug,
		"debug messages: an octal mask, or some of\n"
		"stop,trap,module,probe,prototype,session"),
	FLAG('h', "help", help, "print this"),
	FLAG('V', "version", version, "print the version"),
};

const size_t option_table_size = ARRAY_SIZE(option_table);

const struct option_entry *option_next(enum verb verb,
				       const struct option_entry *after)
{
	const struct option_entry *entry = after ? after + 1 : option_table;
	const struct option_entry *heading = option_table, *e;

	for (e = option_table; e < entry; e++)
		if (!e->apply)
			heading = e;
	for (; entry < option_table + option_table_size; entry++) {
		if (!entry->apply)
			heading = entry;
		if (heading->verbs & 1U << verb)
			return entry;
	}
	return NULL;
}

const char *option_help(enum verb verb)
{
	switch (verb) {
	case VERB_TRACE:
		break;
	case VERB_HEAP:
		return "calltrap heap --help";
	case VERB_HEAP_DIFF:
		return "calltrap heap diff --help";
	case VERB_MEMORY:
		return "calltrap memory --help";
	case VERB_RECORD:
		return "calltrap record --help";
	case VERB_CONVERT:
		return "calltrap convert --help";
	case VERB_REPLAY:
		return "calltrap replay --help";
	case VERB_DOCTOR:
		return "calltrap doctor --help";
	}
	return "calltrap --help";
}
