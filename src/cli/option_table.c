/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/option_table.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/duration.h"
#include "cli/growth_option.h"
#include "cli/pids.h"
#include "stack/unwind.h"

static void *field_of(struct command_line *line,
		      const struct option_entry *entry)
{
	return (char *)line->options + entry->field;
}

/* The option as it was given: -F, --pool. */
static const char *shown(const struct option_entry *entry, char ret[24])
{
	if (entry->short_name)
		snprintf(ret, 24, "-%c", entry->short_name);
	else
		snprintf(ret, 24, "--%s", entry->long_name);
	return ret;
}

static int apply_flag(struct command_line *line,
		      const struct option_entry *entry,
		      const char *argument UNUSED)
{
	*(bool *)field_of(line, entry) = true;
	return 0;
}

static int apply_number(struct command_line *line,
			const struct option_entry *entry, const char *argument)
{
	unsigned long n;
	char name[24];
	char *end;

	/* strtoul() would take blanks and a sign. */
	errno = 0;
	n = strtoul(argument, &end, 10);
	if (*argument < '0' || *argument > '9' || *end || errno ||
	    n < entry->min || n > entry->max)
		return complain(-EINVAL, "%s '%s': a number from %u to %u is "
				"expected", shown(entry, name), argument,
				entry->min, entry->max);
	*(unsigned *)field_of(line, entry) = n;
	return 0;
}

static int apply_text(struct command_line *line,
		      const struct option_entry *entry, const char *argument)
{
	char name[24];

	if (!*argument)
		return complain(-EINVAL, "%s '': a %s is missing; see %s",
				shown(entry, name), entry->argument,
				option_help(line->options->verb));
	*(const char **)field_of(line, entry) = argument;
	return 0;
}

static int refuse_filter(const struct option_entry *entry,
			 const char *argument, char *message, size_t column)
{
	complain(0, "-%c '%s': column %zu: %s", entry->short_name, argument,
		 column, message);
	free(message);
	return -EINVAL;
}

static int apply_filter(struct command_line *line,
			const struct option_entry *entry, const char *argument)
{
	struct filter *filter = *(struct filter **)field_of(line, entry);
	char *message;
	size_t column;

	if (filter_add(filter, argument, &message, &column))
		return refuse_filter(entry, argument, message, column);
	return 0;
}

static int apply_library(struct command_line *line,
			 const struct option_entry *entry,
			 const char *argument)
{
	char *message;
	size_t column;

	if (filter_add_library(line->options->libraries, argument, &message,
			       &column))
		return refuse_filter(entry, argument, message, column);
	return 0;
}

static int apply_pids(struct command_line *line,
		      const struct option_entry *entry UNUSED,
		      const char *argument)
{
	return pids_add_list(line->options, argument);
}

static int apply_name(struct command_line *line,
		      const struct option_entry *entry UNUSED,
		      const char *argument)
{
	if (!*argument)
		return complain(-EINVAL, "--name '': a process name is "
					 "missing");
	line->names = xreallocarray(line->names, line->name_count + 1,
				    sizeof(*line->names));
	line->names[line->name_count++] = argument;
	return 0;
}

/* Words that stand for numbers, from 0 on. */
static int choose(struct command_line *line, const struct option_entry *entry,
		  const char *argument, const char *const *words, size_t count)
{
	CLEANUP(strbuf_fini) struct strbuf all = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (!strcmp(argument, words[i])) {
			*(unsigned *)field_of(line, entry) = i;
			return 0;
		}
		strbuf_printf(&all, "%s%s", i ? ", " : "", words[i]);
	}
	return complain(-EINVAL, "--%s '%s': one of %s is expected",
			entry->long_name, argument, strbuf_text(&all));
}

static int apply_by(struct command_line *line,
		    const struct option_entry *entry, const char *argument)
{
	static const char *const words[] = {
		[HEAP_BY_STACK] = "stack",     [HEAP_BY_FUNCTION] = "function",
		[HEAP_BY_LINE] = "line",       [HEAP_BY_LIBRARY] = "library",
		[HEAP_BY_THREAD] = "thread",   [HEAP_BY_SIZE] = "size",
		[HEAP_BY_COMPONENT] = "component",
	};

	line->by_given = true;
	return choose(line, entry, argument, words, ARRAY_SIZE(words));
}

static int apply_order(struct command_line *line,
		       const struct option_entry *entry, const char *argument)
{
	static const char *const words[] = {
		[HEAP_ORDER_BYTES] = "bytes",
		[HEAP_ORDER_BLOCKS] = "blocks",
		[HEAP_ORDER_RATE] = "rate",
		[HEAP_ORDER_AGE] = "age",
	};

	return choose(line, entry, argument, words, ARRAY_SIZE(words));
}

static int apply_value(struct command_line *line,
		       const struct option_entry *entry, const char *argument)
{
	static const char *const words[] = {
		[HEAP_INUSE_BYTES] = "inuse-bytes",
		[HEAP_INUSE_BLOCKS] = "inuse-blocks",
		[HEAP_ALLOC_BYTES] = "alloc-bytes",
		[HEAP_ALLOC_BLOCKS] = "alloc-blocks",
	};

	return choose(line, entry, argument, words, ARRAY_SIZE(words));
}

static int apply_clock(struct command_line *line,
		       const struct option_entry *entry UNUSED,
		       const char *argument UNUSED)
{
	if (line->options->log.clock < LOG_CLOCK_EPOCH)
		line->options->log.clock++;
	return 0;
}

/* Adds the files of a list like a:b to those that were given before. */
static int apply_files(struct command_line *line,
		       const struct option_entry *entry, const char *argument)
{
	char ***files = field_of(line, entry);
	size_t count = 0;
	char name[24];

	if (strspn(argument, ":") == strlen(argument))
		return complain(-EINVAL, "%s '%s': a FILE is missing; see %s",
				shown(entry, name), argument,
				option_help(line->options->verb));
	while (*files && (*files)[count])
		count++;
	for (const char *s = argument; *(s += strspn(s, ":"));) {
		size_t length = strcspn(s, ":");

		*files = xreallocarray(*files, count + 2, sizeof(**files));
		(*files)[count++] = xstrndup(s, length);
		(*files)[count] = NULL;
		s += length;
	}
	return 0;
}

static const struct {
	const char *name;
	unsigned bit;
} debug_domains[] = {
	{ "stop", DIAG_STOP },
	{ "trap", DIAG_TRAP },
	{ "module", DIAG_MODULE },
	{ "probe", DIAG_PROBE },
	{ "prototype", DIAG_PROTOTYPE },
	{ "session", DIAG_SESSION },
};

/* 0 when there is no such domain. */
static unsigned domain_named(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(debug_domains); i++)
		if (strlen(debug_domains[i].name) == length &&
		    !memcmp(debug_domains[i].name, name, length))
			return debug_domains[i].bit;
	return 0;
}

/* An octal mask; 0 when it isn't one, or has bits of no domain. */
static unsigned octal_mask(const char *text)
{
	unsigned long mask;
	char *end;

	if (*text < '0' || *text > '7')
		return 0;
	mask = strtoul(text, &end, 8);
	return *end || mask > 077 ? 0 : mask;
}

static unsigned named_mask(const char *text)
{
	unsigned mask = 0;

	for (;; text++) {
		size_t length = strcspn(text, ",");
		unsigned bit = domain_named(text, length);

		if (!bit)
			return 0;
		mask |= bit;
		text += length;
		if (!*text)
			return mask;
	}
}

static int apply_debug(struct command_line *line,
		       const struct option_entry *entry UNUSED,
		       const char *argument)
{
	unsigned mask = octal_mask(argument);

	if (!mask)
		mask = named_mask(argument);
	if (!mask)
		return complain(-EINVAL, "-D '%s': an octal mask from 1 to "
				"77, or some of stop,trap,module,probe,"
				"prototype,session is expected", argument);
	line->options->debug |= mask;
	return 0;
}

static int apply_duration(struct command_line *line,
			  const struct option_entry *entry,
			  const char *argument)
{
	char *message;

	if (!duration_parse(argument, field_of(line, entry), &message))
		return 0;
	complain(0, "--%s '%s': %s", entry->long_name, argument, message);
	free(message);
	return -EINVAL;
}

#define HEADING(text, verbs) { 0, NULL, NULL, text, NULL, 0, 0, 0, verbs }
#define TRACE (1U << VERB_TRACE)
#define HEAP (1U << VERB_HEAP)
#define HEAP_DIFF (1U << VERB_HEAP_DIFF)
#define SPECIAL(s, l, argument, apply, text) \
	{ s, l, argument, text, apply, 0, 0, 0, 0 }
#define FIELD(s, l, argument, apply, member, text) \
	{ s, l, argument, text, apply, offsetof(struct options, member), 0, 0, 0 }
#define FLAG(s, l, member, text) FIELD(s, l, NULL, apply_flag, member, text)
#define NUMBER(s, l, member, min, max, text)       \
	{ s, l, "N", text, apply_number,           \
	  offsetof(struct options, member), min, max, 0 }

const struct option_entry option_table[] = {
	HEADING("What to trace", TRACE | HEAP),
	SPECIAL('p', NULL, "PID", apply_pids,
		"a running process, or several: -p 12,13"),
	SPECIAL(0, "name", "NAME", apply_name,
		"all running processes of that name"),
	FLAG('f', "follow", follow, "child processes as well"),
	FIELD('u', NULL, "USER", apply_text, user, "run COMMAND as USER"),
	FIELD(0, "for", "DURATION", apply_duration, duration,
	      "stop by itself: 500ms, 1.5s, 10m, 2h"),

	HEADING("Which calls", TRACE),
	FIELD('e', NULL, "FILTER", apply_filter, calls,
	      "calls of these functions; default @MAIN, all\n"
	      "library calls that the program itself makes"),
	FIELD('x', NULL, "FILTER", apply_filter, entries,
	      "whoever calls these functions, libraries too"),
	SPECIAL('l', "library", "PATTERN", apply_library,
		"calls into the libraries that match"),
	FLAG('S', NULL, system_calls, "system calls, too"),
	FLAG('L', NULL, only_named, "no calls but those of -e, -x, -l and -S"),
	FLAG('g', NULL, only_named, "the same as -L"),
	FIELD('F', "config", "FILE", apply_files, configs,
	      "prototypes, or a directory of them (may repeat)"),

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

	HEADING("What to gather", HEAP),
	FIELD(0, "pool", "FILE", apply_files, pools,
	      "further families of functions that acquire and\n"
	      "release: a file, or the name of one that comes\n"
	      "with calltrap (may repeat)"),
	SPECIAL(0, "growth", "WHAT", apply_growth,
		"instead, what makes the process grow: heap (brk),\n"
		"mmap, or both: heap,mmap. With leaks: as well"),
	FLAG('S', NULL, system_calls,
	     "--growth: seen at system calls, not at functions\n"
	     "of the C library"),
	NUMBER(0, "depth", depth, 1, UNWIND_DEPTH_MAX,
	       "frames kept of each stack; default 64"),
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
	FLAG('C', "demangle", log.demangle, "C++ and Rust names as written"),

	HEADING("Files for other programs (%p makes one per process)", HEAP),
	FIELD(0, "folded", "FILE", apply_text, export.folded,
	      "stacks for flamegraph.pl, speedscope, inferno"),
	FIELD(0, "pprof", "FILE", apply_text, export.pprof,
	      "a profile for pprof: what is in use, and all\n"
	      "that was allocated"),
	FIELD(0, "callgrind", "FILE", apply_text, export.callgrind,
	      "for callgrind_annotate and kcachegrind"),
	FIELD(0, "json", "FILE", apply_text, export.json,
	      "all that the report has, as JSON"),
	FIELD(0, "svg", "FILE", apply_text, export.svg,
	      "a flame graph for a browser"),
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
	FIELD(0, "folded", "FILE", apply_text, export.folded,
	      "stacks with both numbers, for flamegraph.pl"),
	FIELD(0, "svg", "FILE", apply_text, export.svg,
	      "a flame graph of the difference, for a browser"),

	HEADING("About calltrap", TRACE | HEAP | HEAP_DIFF),
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
	}
	return "calltrap --help";
}
