/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/options.h"

#include <string.h>

#include "base/strbuf.h"
#include "cli/option_table.h"

#define HELP_COLUMN 28

static const char trace_before[] =
	"Usage: calltrap [OPTION]... COMMAND [ARGUMENT]...\n"
	"  or:  calltrap [OPTION]... -p PID [-p PID]...\n"
	"  or:  calltrap heap [OPTION]... COMMAND | -p PID (calltrap heap "
	"--help)\n"
	"  or:  calltrap top [OPTION]... -p PID (calltrap top --help)\n"
	"  or:  calltrap memory [OPTION]... -p PID (calltrap memory --help)\n"
	"  or:  calltrap record [OPTION]... -o FILE COMMAND | -p PID\n"
	"  or:  calltrap doctor [-p PID] (what works here, and on that "
	"process)\n"
	"Show the library calls of a program that is started, or of running "
	"processes.\n";

static const char trace_after[] =
	"\n"
	"A FILTER is SYMBOL, SYMBOL@LIBRARY or @LIBRARY, or several joined by "
	"+ (these\n"
	"too) and - (but not these). SYMBOL and LIBRARY are names, globs or "
	"/regular\n"
	"expressions/; a LIBRARY is a file's name, a path or a SONAME, and MAIN "
	"is the\n"
	"program itself.\n"
	"\n"
	"Example: calltrap -ttTgx malloc+free -p PID\n";

static const char heap_before[] =
	"Usage: calltrap heap [OPTION]... -p PID\n"
	"  or:  calltrap heap [OPTION]... COMMAND [ARGUMENT]...\n"
	"  or:  calltrap heap [OPTION]... --from RECORDING\n"
	"  or:  calltrap heap diff [OPTION]... OLD NEW\n"
	"Show which memory a process acquires and never gives back, and who "
	"acquired it.\n";

static const char heap_after[] =
	"\n"
	"While it runs: Ctrl-C prints the report and detaches, Ctrl-\\ "
	"(SIGQUIT) prints\n"
	"it and goes on. SIGUSR1 stops to count what is acquired, though not "
	"what is\n"
	"given back, and begins again the next time.\n"
	"\n"
	"Example: calltrap heap -p PID --for 60s\n";

static const char heap_diff_before[] =
	"Usage: calltrap heap diff [OPTION]... OLD NEW\n"
	"Show how two profiles that calltrap heap --pprof wrote differ: which "
	"stacks are\n"
	"new, which hold more or less than before, and which are gone.\n";

static const char heap_diff_after[] =
	"\n"
	"Example: calltrap heap diff monday.pb.gz tuesday.pb.gz\n";

static const char memory_before[] =
	"Usage: calltrap memory [OPTION]... -p PID [-p PID]...\n"
	"  or:  calltrap memory [OPTION]... FILE\n"
	"  or:  calltrap memory [OPTION]... OLD NEW\n"
	"Show where the memory of a running process is, now: by kinds of "
	"mappings, and\n"
	"in the heap of the C library by blocks in use and free. Nothing is "
	"traced. Of\n"
	"a FILE that --save has written: where it was then; of two: how they "
	"differ.\n";

static const char memory_after[] = "\n"
				   "Example: calltrap memory -p PID\n";

static const char convert_before[] =
	"Usage: calltrap convert FILE --to FORMAT [-o FILE]\n"
	"Make something else of a recording, or of a text that has an "
	"allocator's calls:\n"
	"what --footprint wrote, or a log of ltrace's.\n";

static const char convert_after[] =
	"\n"
	"Example: calltrap convert monday.ctr --to stats\n";

static const char replay_before[] =
	"Usage: calltrap replay [OPTION]... FILE\n"
	"Do again what a recording's process did with its allocator, and with "
	"others,\n"
	"each in a process of its own, and compare times and memory.\n";

static const char replay_after[] =
	"\n"
	"Example: calltrap replay monday.ctr --with libjemalloc.so.2\n";

static const char record_before[] =
	"Usage: calltrap record [OPTION]... -o FILE -p PID\n"
	"  or:  calltrap record [OPTION]... -o FILE COMMAND [ARGUMENT]...\n"
	"Write each call that acquires, resizes or releases memory to a file: "
	"when, who,\n"
	"how much, how long it took. calltrap heap --from FILE shows it.\n";

static const char record_after[] =
	"\n"
	"Example: calltrap record -o monday.ctr -p PID --for 1h\n";

static const char top_before[] =
	"Usage: calltrap top [OPTION]... -p PID [-p PID]...\n"
	"Watch the memory of running processes on a live screen: what they "
	"hold, who\n"
	"acquired it, how fast that grows, what leaks. h shows the keys, q "
	"leaves.\n";

static const char top_after[] = "\n"
				"Example: calltrap top -p PID\n";

static const char doctor_before[] =
	"Usage: calltrap doctor [-p PID] [--json]\n"
	"Say what works here and on a process, and what would make the rest "
	"work.\n"
	"Nothing is attached to. The exit status is 0 if -p PID would work, "
	"else 1.\n";

static const char doctor_after[] = "\n"
				   "Example: calltrap doctor -p PID\n";

static const struct {
	const char *before;
	const char *after;
} texts[] = {
	[VERB_TRACE] = { trace_before, trace_after },
	[VERB_HEAP] = { heap_before, heap_after },
	[VERB_HEAP_DIFF] = { heap_diff_before, heap_diff_after },
	[VERB_MEMORY] = { memory_before, memory_after },
	[VERB_RECORD] = { record_before, record_after },
	[VERB_TOP] = { top_before, top_after },
	[VERB_CONVERT] = { convert_before, convert_after },
	[VERB_REPLAY] = { replay_before, replay_after },
	[VERB_DOCTOR] = { doctor_before, doctor_after },
};

static void add_names(struct strbuf *line, const struct option_entry *entry)
{
	if (entry->short_name)
		strbuf_printf(line, "  -%c", entry->short_name);
	else
		strbuf_puts(line, "    ");
	if (entry->long_name)
		strbuf_printf(line, "%c --%s", entry->short_name ? ',' : ' ',
			      entry->long_name);
	if (option_argument_is_optional(entry))
		strbuf_puts(line, entry->argument);
	else if (entry->argument)
		strbuf_printf(line, "%c%s", entry->long_name ? '=' : ' ',
			      entry->argument);
}

static void add_text(struct strbuf *line, const char *text)
{
	for (const char *s = text; *s; s++) {
		strbuf_putc(line, *s);
		if (*s == '\n')
			strbuf_pad(line, line->length + HELP_COLUMN);
	}
}

void options_print_help(enum verb verb, FILE *out)
{
	const struct option_entry *entry;

	fputs(texts[verb].before, out);
	for_each_option(verb, entry) {
		CLEANUP(strbuf_fini) struct strbuf line = { 0 };

		if (entry->apply) {
			add_names(&line, entry);
			strbuf_pad(&line, HELP_COLUMN);
			add_text(&line, entry->help);
		} else {
			strbuf_printf(&line, "\n%s:", entry->help);
		}
		fprintf(out, "%s\n", strbuf_text(&line));
	}
	fputs(texts[verb].after, out);
}
