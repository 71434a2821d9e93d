/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/option_apply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/size_unit.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/duration.h"
#include "cli/pids.h"

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

int apply_flag(struct command_line *line, const struct option_entry *entry,
	       const char *argument UNUSED)
{
	*(bool *)field_of(line, entry) = true;
	return 0;
}

int apply_number(struct command_line *line, const struct option_entry *entry,
		 const char *argument)
{
	unsigned long n;
	char name[24];
	char *end;

	/* strtoul() would take blanks and a sign. */
	errno = 0;
	n = strtoul(argument, &end, 10);
	if (*argument < '0' || *argument > '9' || *end || errno ||
	    n < entry->min || n > entry->max)
		return complain(-EINVAL,
				"%s '%s': a number from %u to %u is "
				"expected",
				shown(entry, name), argument, entry->min,
				entry->max);
	*(unsigned *)field_of(line, entry) = n;
	return 0;
}

int apply_text(struct command_line *line, const struct option_entry *entry,
	       const char *argument)
{
	char name[24];

	if (!*argument)
		return complain(-EINVAL, "%s '': a %s is missing; see %s",
				shown(entry, name), entry->argument,
				option_help(line->options->verb));
	*(const char **)field_of(line, entry) = argument;
	return 0;
}

int apply_whose(struct command_line *line, const struct option_entry *entry,
		const char *argument)
{
	if (*argument == '-')
		return complain(-EINVAL,
				"--holders '%s': WHOSE is missing, the address "
				"of a block or the name of a type; see %s",
				argument, option_help(line->options->verb));
	return apply_text(line, entry, argument);
}

static int refuse_filter(const struct option_entry *entry, const char *argument,
			 char *message, size_t column)
{
	char name[24];

	complain(0, "%s '%s': column %zu: %s", shown(entry, name), argument,
		 column, message);
	free(message);
	return -EINVAL;
}

int apply_filter(struct command_line *line, const struct option_entry *entry,
		 const char *argument)
{
	struct filter *filter = *(struct filter **)field_of(line, entry);
	char *message;
	size_t column;

	if (filter_add(filter, argument, &message, &column))
		return refuse_filter(entry, argument, message, column);
	return 0;
}

int apply_library(struct command_line *line, const struct option_entry *entry,
		  const char *argument)
{
	char *message;
	size_t column;

	if (filter_add_library(line->options->libraries, argument, &message,
			       &column))
		return refuse_filter(entry, argument, message, column);
	return 0;
}

int apply_condition(struct command_line *line,
		    const struct option_entry *entry UNUSED,
		    const char *argument)
{
	char *message;
	size_t column;

	if (predicate_add(&line->options->condition, argument, &message,
			  &column)) {
		complain(0, "--if '%s': column %zu: %s", argument, column,
			 message);
		free(message);
		return -EINVAL;
	}
	return 0;
}

int apply_pids(struct command_line *line,
	       const struct option_entry *entry UNUSED, const char *argument)
{
	return pids_add_list(line->options, argument);
}

int apply_name(struct command_line *line,
	       const struct option_entry *entry UNUSED, const char *argument)
{
	if (!*argument)
		return complain(-EINVAL, "--name '': a process name is "
					 "missing");
	line->names = xreallocarray(line->names, line->name_count + 1,
				    sizeof(*line->names));
	line->names[line->name_count++] = argument;
	return 0;
}

static void list_words(const struct option_entry *entry, struct strbuf *out)
{
	for (size_t i = 0; entry->words[i]; i++)
		strbuf_printf(out, "%s%s", i ? ", " : "", entry->words[i]);
}

int apply_word(struct command_line *line, const struct option_entry *entry,
	       const char *argument)
{
	const int word = option_word(entry, argument, strlen(argument));
	CLEANUP(strbuf_fini) struct strbuf all = { 0 };

	if (word >= 0) {
		*(unsigned *)field_of(line, entry) = word;
		return 0;
	}
	list_words(entry, &all);
	return complain(-EINVAL, "--%s '%s': one of %s is expected",
			entry->long_name, argument, strbuf_text(&all));
}

int apply_by(struct command_line *line, const struct option_entry *entry,
	     const char *argument)
{
	line->by_given = true;
	return apply_word(line, entry, argument);
}

int apply_when_full(struct command_line *line, const struct option_entry *entry,
		    const char *argument)
{
	line->when_full_given = true;
	return apply_word(line, entry, argument);
}

int apply_clock(struct command_line *line,
		const struct option_entry *entry UNUSED,
		const char *argument UNUSED)
{
	if (line->options->log.clock < LOG_CLOCK_EPOCH)
		line->options->log.clock++;
	return 0;
}

/* Adds it to those that were given before. */
int apply_list(struct command_line *line, const struct option_entry *entry,
	       const char *argument)
{
	char ***list = field_of(line, entry);
	size_t count = 0;
	char name[24];

	if (!*argument)
		return complain(-EINVAL, "%s '': a %s is missing; see %s",
				shown(entry, name), entry->argument,
				option_help(line->options->verb));
	while (*list && (*list)[count])
		count++;
	*list = xreallocarray(*list, count + 2, sizeof(**list));
	(*list)[count++] = xstrdup(argument);
	(*list)[count] = NULL;
	return 0;
}

/* Adds the files of a list like a:b to those that were given before. */
int apply_files(struct command_line *line, const struct option_entry *entry,
		const char *argument)
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

/* In the order of the option's words. */
static const unsigned domains[] = { DIAG_STOP,  DIAG_TRAP,      DIAG_MODULE,
				    DIAG_PROBE, DIAG_PROTOTYPE, DIAG_SESSION };

/* 0 when there is no such domain. */
static unsigned domain_named(const struct option_entry *entry, const char *name,
			     size_t length)
{
	const int i = option_word(entry, name, length);

	return i >= 0 ? domains[i] : 0;
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

static unsigned named_mask(const struct option_entry *entry, const char *text)
{
	unsigned mask = 0;

	for (;; text++) {
		size_t length = strcspn(text, ",");
		unsigned bit = domain_named(entry, text, length);

		if (!bit)
			return 0;
		mask |= bit;
		text += length;
		if (!*text)
			return mask;
	}
}

int apply_debug(struct command_line *line, const struct option_entry *entry,
		const char *argument)
{
	unsigned mask = octal_mask(argument);

	if (!mask)
		mask = named_mask(entry, argument);
	if (!mask)
		return complain(-EINVAL,
				"-D '%s': an octal mask from 1 to "
				"77, or some of stop,trap,module,probe,"
				"prototype,session is expected",
				argument);
	line->options->debug |= mask;
	return 0;
}

int apply_ltrace(struct command_line *line,
		 const struct option_entry *entry UNUSED, const char *argument)
{
	const struct dialect *dialect = dialect_of_ltrace(argument);
	char *versions CLEANUP(xfree_cleanup) = NULL;

	if (dialect) {
		line->options->log.dialect = dialect;
		return 0;
	}
	versions = dialect_versions();
	return complain(-EINVAL, "--ltrace '%s': one of %s is expected",
			argument, versions);
}

int apply_duration(struct command_line *line, const struct option_entry *entry,
		   const char *argument)
{
	char *message;

	if (!duration_parse(argument, field_of(line, entry), &message))
		return 0;
	complain(0, "--%s '%s': %s", entry->long_name, argument, message);
	free(message);
	return -EINVAL;
}

/* What stands for more than a sample of that can't be added up. */
#define BYTES_MAX (UINT64_C(1) << 40)

/* "512k" */
static bool parse_bytes(const char *text, uint64_t *ret)
{
	unsigned long long number;
	uint64_t unit = 1;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || errno)
		return false;
	if (*end)
		unit = end[1] ? 0 : size_unit(*end);
	return !__builtin_mul_overflow(number, unit, ret) && *ret > 0 &&
	       *ret <= BYTES_MAX;
}

int apply_bytes(struct command_line *line, const struct option_entry *entry,
		const char *argument)
{
	if (parse_bytes(argument, field_of(line, entry)))
		return 0;
	return complain(-EINVAL,
			"--%s '%s': a number of bytes is expected, as 4096 or "
			"512k (k, m, g: 1024 of each other)",
			entry->long_name, argument);
}

int apply_percent(struct command_line *line, const struct option_entry *entry,
		  const char *argument)
{
	char *end;
	unsigned long n = strtoul(argument, &end, 10);

	end += *end == '%';
	if (*argument < '0' || *argument > '9' || *end || !n || n > 100)
		return complain(-EINVAL,
				"--%s '%s': a number from 1 to 100 is expected, "
				"as 2%%",
				entry->long_name, argument);
	*(unsigned *)field_of(line, entry) = (unsigned)n;
	return 0;
}

/* First the files for other programs, then what convert alone makes. */
static void choose_conversion(struct options *options, size_t word)
{
	if (word >= HEAP_FILES) {
		options->convert = CONVERT_FOOTPRINT + word - HEAP_FILES;
		return;
	}
	options->convert = CONVERT_FILE;
	options->convert_file = word;
}

int apply_convert(struct command_line *line, const struct option_entry *entry,
		  const char *argument)
{
	const int word = option_word(entry, argument, strlen(argument));
	CLEANUP(strbuf_fini) struct strbuf all = { 0 };

	if (word >= 0) {
		choose_conversion(line->options, word);
		return 0;
	}
	list_words(entry, &all);
	return complain(-EINVAL,
			"--to '%s': is no form that is known; these "
			"are: %s",
			argument, strbuf_text(&all));
}
