/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OPTION_TABLE_H
#define CALLTRAP_OPTION_TABLE_H

#include "cli/options.h"

/* A command line while it is read. */
struct command_line {
	struct options *options;
	const char **names; /* --name: looked up when all has been read */
	size_t name_count;
};

/*
 * One option. The table is all that getopt_long, --help and the tests of the
 * manual and of the completion know. An entry without names is a heading.
 */
struct option_entry {
	char short_name;       /* or 0 */
	const char *long_name; /* or NULL */
	const char *argument;  /* its name in the help, or NULL */
	const char *help;
	int (*apply)(struct command_line *line,
		     const struct option_entry *entry, const char *argument);
	size_t field;          /* of struct options, for simple ones */
	unsigned min, max;     /* for numbers */
};

extern const struct option_entry option_table[];
extern const size_t option_table_size;

#endif
