/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROFILE_WRITER_H
#define CALLTRAP_PROFILE_WRITER_H

#include <report/profile/profile.pb-c.h>

#include "base/strbuf.h"

/*
 * Writes a profile (profile.proto) piece by piece: messages that are put one
 * behind the other are one message, whose repeated fields have the elements of
 * them all. So no more than one sample is held in memory.
 */
struct profile_writer {
	struct strbuf *out;
	struct profile_string *strings; /* by text */
};

void profile_writer_init(struct profile_writer *writer, struct strbuf *out);
void profile_writer_fini(struct profile_writer *writer);

/* The number of a text. What isn't printable is escaped; NULL is "". */
int64_t profile_writer_text(struct profile_writer *writer, const char *text);

void profile_writer_put(struct profile_writer *writer,
			const Pprof__Profile *piece);

/* The same of one element of a repeated field. */
void profile_writer_put_type(struct profile_writer *writer, const char *type,
			     const char *unit);
void profile_writer_put_comment(struct profile_writer *writer,
				const char *text);

/* Numbers are signed in a profile. */
int64_t profile_number(uint64_t number);

#endif
