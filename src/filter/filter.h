/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FILTER_H
#define CALLTRAP_FILTER_H

#include <stdbool.h>

#include "base/types.h"

/*
 * Which symbols of which libraries. The language of ltrace's -e, -x and -l:
 *
 *	filter  = ["+" | "-" | "!"] rule { ("+" | "-") rule }
 *	rule    = pattern | [pattern] "@" [pattern]
 *	pattern = glob | "/" regex "/"
 *
 * Rules apply in order: "+" marks what matches, "-" unmarks it. A filter that
 * begins with "-" or "!" means everything but that. A missing pattern matches
 * everything; the library MAIN is the program itself, SYS the kernel. "/a@b/" is "/a/@/b/".
 *
 * A pattern matches whole names (regex: POSIX basic, without
 * back-references). So "^" in front and "$" at the end may be given, in globs
 * as well, and change nothing: "/^f1/" is f1, not all that begins with f1.
 * In globs "\" takes the meaning of the next character away; "+" and "-"
 * inside [] and in a regex are part of it.
 *
 * A symbol pattern with "::" or a blank is for names as they are in C++ and Rust sources,
 * without parameters, or with them if it has a "(" ("," in it is "\,"): f of no
 * namespace is "::f".
 *
 * A library pattern with a "/" in it is tried on the path, which should be
 * the one without symbolic links (as in /proc/PID/maps): a plain path is
 * tried as it was given and with its links resolved. In a path, "+" and "-"
 * before its last "/" are part of it. A library pattern without a "/" is
 * tried on the last component of the path and on the SONAME.
 *
 * Several filters in one set are or-ed.
 */
struct filter;

/* What a library pattern is held against. Members may be NULL. */
struct filter_library {
	const char *path;
	const char *soname;
	bool is_main;
	bool is_system; /* none, but the kernel: matched by SYS alone */
};

struct filter *filter_new(void);
void filter_free(struct filter *filter);

/*
 * Adds a filter text. On -EINVAL message_ret holds what is wrong (to be
 * freed) and column_ret where, counted from 1 in text.
 */
int filter_add(struct filter *filter, const char *text, char **message_ret,
	       size_t *column_ret) MUST_CHECK;

/* Adds a library pattern of -l: every symbol of the libraries it matches. */
int filter_add_library(struct filter *filter, const char *pattern,
		       char **message_ret, size_t *column_ret) MUST_CHECK;

bool filter_is_empty(const struct filter *filter);

/* Whether symbol, of that library, is wanted. */
bool filter_matches(const struct filter *filter, const char *symbol,
		    const struct filter_library *library);

/* Whether text i, or any, is for system calls: NAME@SYS. */
bool filter_is_for_system(const struct filter *filter, size_t i);
bool filter_has_system(const struct filter *filter);

/*
 * Whether any symbol of the library could be wanted: libraries for which this
 * is false need not be read.
 */
bool filter_may_match_library(const struct filter *filter,
			      const struct filter_library *library);

/*
 * The added texts and, of each, whether its symbol part is a plain name (no
 * glob, no regex): then name_ret is that name, to tell the user that it
 * matched nothing and which names are near. Text i of filter_count(). A text
 * that only adds ("f1+f2") counts as one text per rule.
 */
size_t filter_count(const struct filter *filter);
const char *filter_text(const struct filter *filter, size_t i);
const char *filter_plain_name(const struct filter *filter, size_t i);

/*
 * What to look for near ones of, when nothing matched: such a name, or one as
 * sources have it, also with a "*" at its end ("operator nwe*"). To be freed;
 * NULL when there is none.
 */
char *filter_written_name(const struct filter *filter, size_t i);

/* Whether text i by itself wants the symbol. */
bool filter_matches_one(const struct filter *filter, size_t i,
			const char *symbol,
			const struct filter_library *library);

#endif
