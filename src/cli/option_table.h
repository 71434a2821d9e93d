/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OPTION_TABLE_H
#define CALLTRAP_OPTION_TABLE_H

#include "cli/verb.h"

/* A command line while it is read. */
struct command_line {
	struct options *options;
	const char **names; /* --name: looked up when all has been read */
	size_t name_count;
	bool by_given;        /* --by */
	bool is_ltrace;       /* invoked by that name */
	bool when_full_given; /* --when-full */
};

/*
 * One option. The table is all that getopt_long, --help, the completion and the
 * test of the manual know. An entry without names is a heading; what
 * stands under it belongs to the heading's verbs.
 */
struct option_entry {
	char short_name;       /* or 0 */
	const char *long_name; /* or NULL */
	const char *argument;  /* its name in the help, or NULL; "[=NAME]" may
				  be left out */
	const char *help;
	int (*apply)(struct command_line *line,
		     const struct option_entry *entry, const char *argument);
	size_t field;      /* of struct options, for simple ones */
	unsigned min, max; /* for numbers */
	unsigned verbs;    /* of a heading: bits, 1 << enum verb */
	/* What the argument may be, to the NULL: by the values of the field's
	   enum, for simple ones. NULL: anything. */
	const char *const *words;
};

extern const struct option_entry option_table[];
extern const size_t option_table_size;

static inline bool option_argument_is_optional(const struct option_entry *entry)
{
	return entry->argument && entry->argument[0] == '[';
}

/*
 * The verb's next entry, headings included, behind another one, or (NULL) its
 * first; NULL behind the last.
 */
const struct option_entry *option_next(enum verb verb,
				       const struct option_entry *after);

/* The verb's option of that name, or NULL. */
const struct option_entry *option_short(enum verb verb, char name);
const struct option_entry *option_long(enum verb verb, const char *name,
				       size_t length);

/* Which of an option's words it is, counted from 0; -ENOENT: none. */
int option_word(const struct option_entry *entry, const char *word,
		size_t length);

#define for_each_option(verb, entry)                       \
	for ((entry) = option_next((verb), NULL); (entry); \
	     (entry) = option_next((verb), (entry)))

#endif
