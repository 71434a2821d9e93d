/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/option_table.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "cli/growth_option.h"
#include "cli/option_apply.h"
#include "stack/unwind.h"

/* clang-format off */
static const char *const when_full_words[] = {
	[WHEN_FULL_WAIT] = "wait",
	[WHEN_FULL_DROP] = "drop",
	NULL,
};

static const char *const engine_words[] = {
	[ENGINE_TRAP] = "trap",
	[ENGINE_AGENT] = "agent",
	[ENGINE_AUTO] = "auto",
	NULL,
};

static const char *const touch_words[] = {
	[TOUCH_ALL] = "all",
	[TOUCH_NONE] = "none",
	NULL,
};

static const char *const by_words[] = {
	[HEAP_BY_STACK] = "stack",   [HEAP_BY_FUNCTION] = "function",
	[HEAP_BY_LINE] = "line",     [HEAP_BY_LIBRARY] = "library",
	[HEAP_BY_THREAD] = "thread", [HEAP_BY_SIZE] = "size",
	[HEAP_BY_COMPONENT] = "component",
	[HEAP_BY_SCRIPT] = "script",
	NULL,
};

static const char *const diff_by_words[] = {
	[HEAP_DIFF_BY_STACK] = "stack",
	[HEAP_DIFF_BY_LIBRARY] = "library",
	[HEAP_DIFF_BY_COMPONENT] = "component",
	NULL,
};

static const char *const order_words[] = {
	[HEAP_ORDER_BYTES] = "bytes",
	[HEAP_ORDER_BLOCKS] = "blocks",
	[HEAP_ORDER_RATE] = "rate",
	[HEAP_ORDER_AGE] = "age",
	NULL,
};

static const char *const live_by_words[] = {
	[LIVE_BY_SITE] = "site",
	[LIVE_BY_LIBRARY] = "library",
	[LIVE_BY_THREAD] = "thread",
	[LIVE_BY_FAMILY] = "family",
	NULL,
};

static const char *const live_order_words[] = {
	[LIVE_ORDER_VERDICT] = "verdict",
	[LIVE_ORDER_HELD] = "held",
	[LIVE_ORDER_CHANGE] = "change",
	[LIVE_ORDER_RATE] = "rate",
	[LIVE_ORDER_AGE] = "age",
	NULL,
};

static const char *const value_words[] = {
	[HEAP_INUSE_BYTES] = "inuse-bytes",
	[HEAP_INUSE_BLOCKS] = "inuse-blocks",
	[HEAP_ALLOC_BYTES] = "alloc-bytes",
	[HEAP_ALLOC_BLOCKS] = "alloc-blocks",
	[HEAP_PEAK_BYTES] = "peak-bytes",
	[HEAP_PEAK_BLOCKS] = "peak-blocks",
	[HEAP_TEMPORARY_BLOCKS] = "temporary-blocks",
	NULL,
};

static const char *const freeze_words[] = {
	[FREEZE_NONE] = "none",
	[FREEZE_STOP] = "stop",
	[FREEZE_CLONE] = "clone",
	NULL,
};

static const char *const growth_words[] = { "heap", "mmap", "faults", "leaks",
					    NULL };

static const char *const debug_words[] = { "stop",  "trap",	  "module",
				    "probe", "prototype", "session", NULL };

static const char *const convert_words[] = {
	[HEAP_FILE_JSON] = "json",
	[HEAP_FILE_SVG] = "svg",
	[HEAP_FILE_FOLDED] = "folded",
	[HEAP_FILE_PPROF] = "pprof",
	[HEAP_FILE_CALLGRIND] = "callgrind",
	[HEAP_FILE_SPEEDSCOPE] = "speedscope",
	[HEAP_FILE_DHAT] = "dhat",
	[HEAP_FILE_MASSIF] = "massif",
	[HEAP_FILE_FIREFOX] = "firefox",
	[HEAP_FILE_HTML] = "html",
	[HEAP_FILE_OBJECTS] = "objects",
#define CONVERTED(what) [HEAP_FILES + (what) - CONVERT_FOOTPRINT]
	CONVERTED(CONVERT_FOOTPRINT) = "footprint",
	CONVERTED(CONVERT_CALLS) = "calls",
	CONVERTED(CONVERT_CSV) = "csv",
	CONVERTED(CONVERT_STATS) = "stats",
	CONVERTED(CONVERT_RECORDING) = "recording",
#undef CONVERTED
	NULL,
};

#define HEADING(text, verbs) { 0, NULL, NULL, text, NULL, 0, 0, 0, verbs, NULL }
#define TRACE (1U << VERB_TRACE)
#define HEAP (1U << VERB_HEAP)
#define HEAP_DIFF (1U << VERB_HEAP_DIFF)
#define MEMORY (1U << VERB_MEMORY)
#define RECORD (1U << VERB_RECORD)
#define TOP (1U << VERB_TOP)
#define CONVERT (1U << VERB_CONVERT)
#define REPLAY (1U << VERB_REPLAY)
#define DOCTOR (1U << VERB_DOCTOR)
#define SPECIAL(s, l, argument, apply, text) \
	{ s, l, argument, text, apply, 0, 0, 0, 0, NULL }
#define FIELD(s, l, argument, apply, member, text) \
	WORDS(s, l, argument, apply, member, NULL, text)
#define WORDS(s, l, argument, apply, member, words, text)           \
	{ s, l, argument, text, apply, offsetof(struct options, member), \
	  0, 0, 0, words }
#define FLAG(s, l, member, text) FIELD(s, l, NULL, apply_flag, member, text)
#define NUMBER(s, l, member, min, max, text)       \
	{ s, l, "N", text, apply_number,           \
	  offsetof(struct options, member), min, max, 0, NULL }

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
	WORDS(0, "when-full", "WHAT", apply_when_full, when_full,
	      when_full_words,
	      "what is traced when nobody takes the output:\n"
	      "wait, or drop what isn't taken, counted"),

	HEADING("What to watch", TOP),
	SPECIAL('p', NULL, "PID", apply_pids,
		"a running process, or several: -p 12,13"),
	SPECIAL(0, "name", "NAME", apply_name,
		"all running processes of that name"),
	FLAG('f', "follow", follow, "child processes as well"),
	FIELD(0, "for", "DURATION", apply_duration, duration,
	      "leave by itself: 500ms, 1.5s, 10m, 2h"),

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

	HEADING("How calls are caught", TRACE | HEAP | RECORD),
	WORDS(0, "engine", "WHAT", apply_word, engine,
	      engine_words,
	      "how calls are caught: auto (in the process itself\n"
	      "where that can be done), trap, or agent"),

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
	FIELD(0, "max-overhead", "PERCENT", apply_percent, max_overhead,
	      "leave out what arguments point to, then stacks, so\n"
	      "that calls cost no more of the program's time"),
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
	FIELD(0, "from", "FILE", apply_list, from,
	      "the report of a recording, instead of a process;\n"
	      "of several their sum, too (may repeat)"),

	HEADING("What to make of it", CONVERT),
	WORDS(0, "to", "FORMAT", apply_convert, convert,
	      convert_words,
		"footprint, calls, csv, stats, recording, pprof,\n"
		"folded, callgrind, json, objects, svg, ..."),
	FIELD('o', "output", "FILE", apply_text, report.path,
	      "write there, instead of to standard output"),

	HEADING("What to replay it with", REPLAY),
	FIELD(0, "with", "FILE", apply_files, with,
	      "an allocator's library, as for LD_PRELOAD; the C\n"
	      "library's is always tried, first"),
	NUMBER(0, "runs", runs, 1, 10000,
	       "how often with each; default 3"),
	WORDS(0, "touch", "PAGES", apply_word, touch,
	      touch_words,
	      "all (the default): write to each page of a block\n"
	      "when it is acquired; or none"),
	FLAG(0, "pace", pace,
	     "each call when it was made, with the pauses\n"
	     "between; they are left out otherwise"),
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

	HEADING("What to gather", HEAP | RECORD | TOP),
	FIELD(0, "pool", "FILE", apply_files, pools,
	      "further families of functions that acquire and\n"
	      "release: a file, or the name of one that comes\n"
	      "with calltrap (may repeat)"),
	NUMBER(0, "depth", depth, 1, UNWIND_DEPTH_MAX,
	       "frames kept of each stack; default 64"),
	FLAG(0, "script", script,
	     "stacks of the script (Perl, PHP, Python, Ruby)\n"
	     "instead of its interpreter's"),

	HEADING("What else to gather", HEAP),
	WORDS(0, "growth", "WHAT", apply_growth, report.growth,
	      growth_words,
		"instead, what makes the process grow, a list of\n"
		"heap (brk), mmap, faults; with leaks: as well"),
	FLAG('S', NULL, system_calls,
	     "--growth: seen at system calls, not at functions\n"
	     "of the C library"),
	FIELD(0, "sample", "BYTES", apply_bytes, sample,
	      "keep one block in so many bytes, on average, as\n"
	      "512k, and estimate all numbers from these"),
	FIELD(0, "max-overhead", "PERCENT", apply_percent, max_overhead,
	      "... as many as can be had for so much of the\n"
	      "program's processor time, as 2%, under any load"),
	FIELD(0, "components", "FILE", apply_text, components,
	      "groups of libraries and functions, by name"),
	FIELD(0, "per", "FUNCTION", apply_filter, entries,
	      "what each call of it acquires and waits for, as a\n"
	      "function that answers a request (may repeat)"),

	HEADING("What to show", HEAP),
	FIELD('o', "output", "FILE", apply_text, report.path,
	      "write there; %p in it makes a file per process"),
	FIELD(0, "every", "DURATION", apply_duration, every,
	      "print a report each time, too"),
	FIELD(0, "tag", "TAG", apply_text, tag,
	      "... a line instead: time, [MEM_DUMP TAG], who\n"
	      "holds how much"),
	WORDS(0, "by", "WHAT", apply_by, report.by,
	      by_words,
	      "what a row is: stack, function, line, library,\n"
	      "thread, size, component, script (its line, and\n"
	      "what type the object has)"),
	FLAG(0, "source", report.source,
	     "the source text of rows by line, with numbers"),
	WORDS(0, "sort", "WHAT", apply_word, report.order,
	      order_words,
	      "what comes first: bytes, blocks, rate, age"),
	FIELD(0, "older-than", "DURATION", apply_duration, report.older_than,
	      "only blocks that have lived longer count"),
	FIELD(0, "suppress", "FILE", apply_files, suppressions,
	      "stacks not to report, by patterns for their\n"
	      "functions and libraries (may repeat)"),
	NUMBER(0, "error-exitcode", leak_status, 1, 255,
	       "exit with that status when a leak is likely"),
	FIELD(0, "alloc-fn", "FUNCTION", apply_list, wrappers,
	      "a wrapper of an allocator, besides those that are\n"
	      "found: who calls it is named; with * and ? (may\n"
	      "repeat)"),
	FLAG(0, "histogram", report.histogram, "the sizes of blocks"),
	FLAG(0, "no-reach", no_reach,
	     "don't look in the end at what the process can\n"
	     "still reach"),
	NUMBER(0, "top", report.top, 0, INT_MAX,
	       "rows; default 10, 0 = all"),
	FLAG('C', "demangle", log.demangle,
	     "C++ and Rust names as written in --calls, too"),

	HEADING("What to show", TOP),
	WORDS(0, "by", "WHAT", apply_word, live_by, live_by_words,
	      "what a row is at first: site, library, thread,\n"
	      "family"),
	WORDS(0, "sort", "WHAT", apply_word, live_order, live_order_words,
	      "what comes first: verdict, held, change, rate,\n"
	      "age"),
	FIELD(0, "every", "DURATION", apply_duration, every,
	      "without a terminal that has a screen: a text so\n"
	      "often; default 1s"),
	NUMBER(0, "top", report.top, 0, INT_MAX,
	       "... with so many rows; default 10, 0 = all"),

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
	WORDS(0, "value", "WHAT", apply_word, export.value,
	      value_words,
	      "what stacks weigh: inuse-bytes, inuse-blocks,\n"
	      "alloc-bytes, alloc-blocks; what they held at\n"
	      "the peak: peak-bytes, peak-blocks; what was\n"
	      "given back at once: temporary-blocks"),
	FIELD(0, "objects", "FILE", apply_text,
	      export.files[HEAP_FILE_OBJECTS],
	      "each block that is held, a JSON object a line:\n"
	      "address, size, age, type, line"),
	NUMBER(0, "data", data, 1, 4096,
	       "with --objects: so many of its first bytes, too"),
	FIELD(0, "calls", "FILE", apply_text, heap_calls,
	      "each call of an allocator, as it happens"),
	FIELD(0, "per-json", "FILE", apply_text, per_json,
	      "each call of --per, a JSON object a line"),
	FIELD(0, "footprint", "FILE", apply_text, footprint,
	      "the same for programs that make them again"),

	HEADING("Whom to tell meanwhile", HEAP),
	FIELD(0, "http", "PORT", apply_text, http,
	      "serve a page, /metrics and /debug/pprof/, to this\n"
	      "machine alone; ADDR:PORT: at that address"),
	FIELD(0, "push", "URL", apply_text, push,
	      "post profiles to a server, as Pyroscope takes them"),
	FIELD(0, "push-every", "DURATION", apply_duration, push_every,
	      "how often; default 15s"),

	HEADING("What to compare", HEAP_DIFF),
	WORDS(0, "value", "WHAT", apply_word, export.value,
	      value_words,
	      "inuse-bytes, inuse-blocks, alloc-bytes,\n"
	      "alloc-blocks, peak-bytes, peak-blocks,\n"
	      "temporary-blocks"),
	WORDS(0, "by", "WHAT", apply_word, diff_by, diff_by_words,
	      "what a row is: stack, library, component"),
	NUMBER(0, "top", report.top, 0, INT_MAX,
	       "rows of each kind; default 10, 0 = all"),
	FIELD(0, "folded", "FILE", apply_text,
	      export.files[HEAP_FILE_FOLDED],
	      "stacks with both numbers, for flamegraph.pl"),
	FIELD(0, "svg", "FILE", apply_text,
	      export.files[HEAP_FILE_SVG],
	      "a flame graph of the difference, for a browser"),
	FIELD(0, "html", "FILE", apply_text, export.files[HEAP_FILE_HTML],
	      "a page with that and tables, for a browser"),

	HEADING("What to look at", MEMORY),
	SPECIAL('p', NULL, "PID", apply_pids,
		"a running process, or several: -p 12,13"),
	SPECIAL(0, "name", "NAME", apply_name,
		"all running processes of that name"),
	WORDS(0, "freeze", "HOW", apply_word, freeze,
	      freeze_words,
	      "none: the process runs on while it is read;\n"
	      "stop: all of its tasks are stopped meanwhile;\n"
	      "clone: until there is a copy of it, which is read\n"
	      "(for --leaks, --holders, --owners)"),
	FLAG(0, "leaks", leaks,
	     "which blocks it can't reach any more; its tasks\n"
	     "are stopped while its memory is copied"),
	FIELD(0, "holders", "WHOSE", apply_whose, holders,
	      "who holds the block at an address, 0x..., or all\n"
	      "objects of a type: the shortest ways to them"),
	FLAG(0, "owners", owners,
	     "who alone holds its blocks: variables, their\n"
	     "members, blocks below blocks, with their shares"),
	FIELD(0, "touched", "DURATION", apply_duration, touched,
	      "watch for so long how much is read or written of\n"
	      "what is resident: 10s, 5m; nothing is stopped"),
	FIELD(0, "save", "FILE", apply_text, snapshot,
	      "keep all that is known there, to be asked later:\n"
	      "calltrap memory FILE; %p makes one per process"),

	HEADING("What to show", MEMORY),
	FIELD('o', "output", "FILE", apply_text, report.path,
	      "write there; %p in it makes a file per process"),
	FIELD(0, "json", "FILE", apply_text,
	      export.files[HEAP_FILE_JSON],
	      "all that the report has, and more, as JSON"),
	FIELD(0, "folded", "FILE", apply_text,
	      export.files[HEAP_FILE_FOLDED],
	      "with --holders, --owners: for flamegraph.pl"),
	FIELD(0, "svg", "FILE", apply_text,
	      export.files[HEAP_FILE_SVG],
	      "with --holders, --owners: a flame graph of them"),
	NUMBER(0, "top", report.top, 0, INT_MAX,
	       "rows of each table; default 10, 0 = all"),

	HEADING("What to look at", DOCTOR),
	SPECIAL('p', NULL, "PID", apply_pids,
		"a running process, or several: -p 12,13"),
	SPECIAL(0, "name", "NAME", apply_name,
		"all running processes of that name"),
	FLAG(0, "json", doctor_json, "the same as JSON"),

	HEADING("About calltrap", TRACE | HEAP | HEAP_DIFF | MEMORY |
					 RECORD | TOP | CONVERT | REPLAY | DOCTOR),
	WORDS('D', "debug", "MASK", apply_debug, debug,
	      debug_words,
		"debug messages: an octal mask, or some of\n"
		"stop,trap,module,probe,prototype,session"),
	FLAG('h', "help", help, "print this"),
	FLAG('V', "version", version, "print the version"),
};
/* clang-format on */

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

const struct option_entry *option_short(enum verb verb, char name)
{
	const struct option_entry *entry;

	for_each_option(verb, entry)
		if (entry->short_name == name)
			return entry;
	return NULL;
}

const struct option_entry *option_long(enum verb verb, const char *name,
				       size_t length)
{
	const struct option_entry *entry;

	for_each_option(verb, entry)
		if (entry->long_name && strlen(entry->long_name) == length &&
		    !memcmp(entry->long_name, name, length))
			return entry;
	return NULL;
}

int option_word(const struct option_entry *entry, const char *word,
		size_t length)
{
	for (int i = 0; entry->words[i]; i++)
		if (strlen(entry->words[i]) == length &&
		    !memcmp(entry->words[i], word, length))
			return i;
	return -ENOENT;
}
