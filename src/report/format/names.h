/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_NAMES_H
#define CALLTRAP_NAMES_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "probe/event.h"
#include "report/format/dialect.h"

/*
 * How functions are shown: printable, and demangled if so wished. Worked out
 * at a function's first call and kept.
 */
struct names;

struct names_options {
	bool demangle;
	bool callers; /* CALLER-> before those caught at a call site */
	const struct dialect *dialect; /* of system calls; NULL: our own */
};

struct names *names_new(const struct names_options *options) MUST_CHECK;
void names_free(struct names *names);

/* The bare name; name@SYS of a system call, or as the dialect has it in a
   table. Good as long as names is. */
const char *names_short(struct names *names, const struct function *function);

/* [CALLER->]name[@library]. */
const char *names_full(struct names *names, const struct function *function);

/* Whether people know a process by another name than its file's: the kernel
   keeps 15 bytes of it. */
bool names_differ(const char *file, const char *name);

/*
 * Adds a text of a traced program to one that terminals show: control
 * characters and what is no UTF-8 come out as \ooo, and a text of more than
 * NAME_MAX_SHOWN bytes is cut and ends in "...".
 */
#define NAME_MAX_SHOWN 16384
void names_escape(struct strbuf *out, const char *name);

#endif
