/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FILTER_RULE_H
#define CALLTRAP_FILTER_RULE_H

#include <stdbool.h>

#include "filter/pattern.h"
#include "filter/source_name.h"

/* The library part of a rule. Zeroed: any library. */
struct library_pattern {
	struct pattern pattern;
	bool is_main;    /* MAIN */
	bool is_system;  /* SYS */
	bool on_path;    /* contains a "/": held against the path alone */
	char *canonical; /* of a plain path: the same file without symbolic
			    links; NULL if there is no such file */
};

struct filter_rule {
	bool add;         /* "+", or "-" */
	const char *text; /* where it begins in the chain's text, */
	size_t length;    /* without its sign */
	struct pattern symbol;
	struct source_name source;
	struct library_pattern library;
};

/* One filter text, read. */
struct filter_chain {
	char *text;
	bool all_but; /* begins with "-" or "!" */
	struct filter_rule *rules;
	size_t count, room;
};

/* Reads a text of -e or -x. The error's offset counts in text. */
int filter_chain_parse(struct filter_chain *chain, const char *text,
		       struct pattern_error *error) MUST_CHECK;

/* The one rule of -l: every symbol of what the pattern matches. */
int filter_chain_parse_library(struct filter_chain *chain, const char *text,
			       struct pattern_error *error) MUST_CHECK;

void filter_chain_fini(struct filter_chain *chain);

#endif
