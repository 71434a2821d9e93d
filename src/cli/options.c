/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/near_word.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/file_names.h"
#include "cli/option_check.h"
#include "cli/option_table.h"
#include "cli/pids.h"

/* What no -a can say. */
#define ALIGN_UNSET UINT_MAX

/* Long options are told from short ones: the table's index is added. */
#define LONG_OPTION 256

static int argument_kind(const struct option_entry *entry)
{
	if (!entry->argument)
		return no_argument;
	return option_argument_is_optional(entry) ? optional_argument :
						    required_argument;
}

struct getopt_tables {
	struct strbuf shorts;
	struct option *longs;
};

static struct getopt_tables getopt_tables(enum verb verb)
{
	struct getopt_tables tables = {
		.longs = xcalloc(option_table_size + 1, sizeof(*tables.longs)),
	};
	const struct option_entry *entry;
	size_t count = 0;

	/* "+": options end at the first word that is none: a COMMAND, whose
	   own they are from there on. */
	strbuf_puts(&tables.shorts, verb_takes_files(verb) ? ":" : "+:");
	for_each_option(verb, entry) {
		if (entry->short_name)
			strbuf_printf(&tables.shorts, "%c%s", entry->short_name,
				      entry->argument ? ":" : "");
		if (entry->long_name)
			tables.longs[count++] = (struct option){
				.name = entry->long_name,
				.has_arg = argument_kind(entry),
				.val = LONG_OPTION + (entry - option_table),
			};
	}
	return tables;
}

static const struct option_entry *entry_of(enum verb verb, int c)
{
	return c >= LONG_OPTION ? &option_table[c - LONG_OPTION] :
				  option_short(verb, (char)c);
}

static int complain_unknown_short(enum verb verb, char c)
{
	char option[3] = { '-', c, '\0' };

	return complain(-EINVAL, "%s: unknown option; see %s", option,
			option_help(verb));
}

/* One that may have been meant, or NULL. */
static const char *near_option(enum verb verb, const char *word, size_t length)
{
	char *name CLEANUP(xfree_cleanup) = xstrndup(word, length);
	const struct option_entry *entry;

	for_each_option(verb, entry)
		if (entry->long_name && near_word(name, entry->long_name))
			return entry->long_name;
	return NULL;
}

static int complain_unknown_long(enum verb verb, const char *word)
{
	size_t length = strcspn(word, "=") - 2;
	const struct option_entry *entry;
	const char *near;
	unsigned matches = 0;

	for_each_option(verb, entry)
		if (entry->long_name &&
		    !strncmp(entry->long_name, word + 2, length))
			matches++;
	if (matches > 1)
		return complain(-EINVAL, "%s: may mean several options; see %s",
				word, option_help(verb));
	near = near_option(verb, word + 2, length);
	if (near)
		return complain(-EINVAL,
				"%s: unknown option; near: --%s; see "
				"%s",
				word, near, option_help(verb));
	return complain(-EINVAL, "%s: unknown option; see %s", word,
			option_help(verb));
}

/* What getopt_long() answered with "?" or ":". */
static int complain_option(enum verb verb, int answer, char **argv)
{
	const struct option_entry *entry;
	char name[3] = { '-', (char)optopt, '\0' };

	if (!optopt)
		return complain_unknown_long(verb, argv[optind - 1]);
	entry = entry_of(verb, optopt);
	if (!entry)
		return complain_unknown_short(verb, optopt);
	if (answer == '?')
		return complain(-EINVAL,
				"--%s: takes no argument; leave '=' "
				"and what follows out",
				entry->long_name);
	if (optopt >= LONG_OPTION)
		return complain(-EINVAL, "--%s: a %s is missing; see %s",
				entry->long_name, entry->argument,
				option_help(verb));
	return complain(-EINVAL, "%s: a %s is missing; see %s", name,
			entry->argument, option_help(verb));
}

/*
 * Reads options up to a word that is none. dashes_ret: they were ended by
 * "--". An option that asks for a text only ends the reading at once.
 */
static int read_options(struct command_line *line,
			const struct getopt_tables *tables, int argc,
			char **argv, bool *dashes_ret)
{
	const struct options *options = line->options;

	while (!options->help && !options->version) {
		int before = optind ? optind : 1;
		int c = getopt_long(argc, argv, tables->shorts.text,
				    tables->longs, NULL);
		const struct option_entry *entry;
		int err;

		if (c == -1) {
			*dashes_ret = optind > before;
			return 0;
		}
		if (c == '?' || c == ':')
			return complain_option(options->verb, c, argv);
		entry = entry_of(options->verb, c);
		err = entry->apply(line, entry, optarg);
		if (err)
			return err;
	}
	return 0;
}

/* What stands where a command may begin. */
static int read_late_verb(struct command_line *line,
			  const struct getopt_tables *tables, int argc,
			  char **argv)
{
	bool dashes;
	enum verb verb;

	if (!verb_read(1, argv + optind, &verb))
		return 0;
	if (verb != line->options->verb)
		return complain(-EINVAL,
				"%s: a verb comes first, then its "
				"options; for a program of that name say "
				"calltrap ./%s, or calltrap -- %s",
				argv[optind], argv[optind], argv[optind]);
	optind++;
	return read_options(line, tables, argc, argv, &dashes);
}

/* Invoked as ltrace, we have its options and none of our verbs. */
static bool is_named_ltrace(const char *path)
{
	return path && !strcmp(basename(path), "ltrace");
}

/* The verb, the options, and where the command begins. */
static int read_words(struct command_line *line, int argc, char **argv)
{
	struct options *options = line->options;
	bool dashes = false;
	struct getopt_tables tables;
	int err, named;

	if (is_named_ltrace(argv[0])) {
		line->is_ltrace = true;
		options->log.dialect = dialect_of_ltrace(NULL);
	}
	named = line->is_ltrace ? 0 :
				  verb_read(argc - 1, argv + 1, &options->verb);
	tables = getopt_tables(options->verb);
	/* 0 makes the C library begin anew, whatever it read before. */
	optind = 0;
	opterr = 0;
	err = read_options(line, &tables, argc - named, argv + named, &dashes);
	if (!err && !dashes && !named && !line->is_ltrace && optind < argc)
		err = read_late_verb(line, &tables, argc, argv);
	if (!err && optind < argc - named)
		options->command = argv + named + optind;
	free(tables.longs);
	strbuf_fini(&tables.shorts);
	return err;
}

/* A table has none of these; JSON beside it may have. */
static void tell_what_is_in_vain(const struct options *o)
{
	const struct {
		const char *name;
		bool given;
	} in_vain[] = {
		{ "-t", o->log.clock != LOG_CLOCK_NONE },
		{ "-r", o->log.relative },
		{ "-i", o->log.ip },
		{ "-n", o->log.indent > 0 },
		{ "-w", o->log.where && !o->json },
		{ "--script", o->script && !o->json },
		{ "--max-overhead", o->max_overhead && !o->json },
	};

	for (size_t i = 0; o->count && i < ARRAY_SIZE(in_vain); i++)
		if (in_vain[i].given)
			diag(DIAG_NOTE, DIAG_SESSION,
			     "%s has no effect with -c", in_vain[i].name);
}

/* In a file each line says whose it is where there may ever be two. */
static bool shows_pids(const struct options *o)
{
	if (o->follow || o->pid_count + !!o->command > 1)
		return true;
	return o->log.path && o->pid_count;
}

/* As ltrace asks for them: what the user says, then the terminals. */
static unsigned screen_columns(void)
{
	const char *text = getenv("COLUMNS");
	long columns = text ? strtol(text, NULL, 10) : 0;
	struct winsize size;

	if (columns > 0 && columns <= 10000)
		return columns;
	if ((!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col) ||
	    (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col))
		return size.ws_col;
	return 80;
}

uint64_t options_sample(const struct options *options)
{
	if (options->max_overhead)
		return options->sample ? options->sample : 1;
	return options->sample > 1 ? options->sample : 0;
}

/* What follows from the options taken together. */
static void conclude(const struct command_line *line)
{
	struct options *o = line->options;
	bool asked = !filter_is_empty(o->calls) ||
		     !filter_is_empty(o->libraries);

	o->default_calls = !asked && !o->only_named;
	o->log.show_callers = asked;
	o->log.show_pids = shows_pids(o);
	o->log.first_thread = !o->log.dialect->all_threads && !o->follow &&
			      !o->pid_count;
	if (o->log.align == ALIGN_UNSET)
		o->log.align = o->log.dialect->columns_of_screen ?
				       screen_columns() * 5 / 8 :
				       50;
	if (!o->log.align)
		o->log.align = 1;
	/* Whoever starts a program for its log wants all of that. */
	if (!line->when_full_given)
		o->when_full = o->pid_count || o->verb == VERB_HEAP ?
				       WHEN_FULL_DROP :
				       WHEN_FULL_WAIT;
	/* By traps each call waits until it has been told of, too. */
	o->agent_waits = o->when_full == WHEN_FULL_WAIT ||
			 !line->when_full_given;
	if (o->report.source)
		o->report.by = HEAP_BY_LINE;
	if (o->report.by == HEAP_BY_SCRIPT && !o->from)
		o->script = true;
	if (o->report.growth)
		o->report.growth_by = o->system_calls ? GROWTH_BY_SYSTEM_CALLS :
							GROWTH_BY_FUNCTIONS;
}

/*
 * Where the log has a file of its own, what else is on standard error is the
 * program's, and a script may read it: there we tell of what is wrong, and
 * give no hints. ltrace says of filters that match nothing, and the like, not
 * a word.
 */
static void choose_messages(const struct options *o)
{
	const char *path = o->verb == VERB_TRACE ? o->log.path : o->report.path;

	if (!o->log.dialect->explains)
		diag_set_least(DIAG_ERROR, ~(unsigned)DIAG_PROTOTYPE);
	else
		diag_set_least(DIAG_WARNING, path ? ~0U : 0);
}

static int find_names(struct command_line *line)
{
	for (size_t i = 0; i < line->name_count; i++) {
		int err = pids_add_named(line->options, line->names[i]);

		if (err)
			return err;
	}
	return 0;
}

static struct options defaults(void)
{
	return (struct options){
		.calls = filter_new(),
		.libraries = filter_new(),
		.entries = filter_new(),
		.log.align = ALIGN_UNSET,
		.log.dialect = &dialect_own,
		.log.limits = { .string_bytes = 32, .array_elements = 4 },
		.report.top = 10,
		.depth = 64,
		.engine = ENGINE_AUTO,
	};
}

int options_parse(int argc, char **argv, struct options *ret)
{
	struct options options = defaults();
	struct command_line line = { .options = &options };
	int err = read_words(&line, argc, argv);

	if (!err && !options.help && !options.version) {
		err = check_options(&line);
		if (!err)
			err = find_names(&line);
	}
	if (!err) {
		conclude(&line);
		choose_messages(&options);
		file_names_tell_apart(&options);
		tell_what_is_in_vain(&options);
		*ret = options;
	} else {
		options_fini(&options);
	}
	free(line.names);
	return err;
}

static void strings_free(char **strings)
{
	for (char **s = strings; s && *s; s++)
		free(*s);
	free(strings);
}

void options_fini(struct options *options)
{
	strings_free(options->configs);
	strings_free(options->pools);
	strings_free(options->families);
	strings_free(options->from);
	strings_free(options->with);
	strings_free(options->suppressions);
	strings_free(options->wrappers);
	file_names_fini(options);
	free(options->pids);
	filter_free(options->calls);
	filter_free(options->libraries);
	filter_free(options->entries);
	predicate_free(options->condition);
	*options = (struct options){ 0 };
}
