/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AMOUNTS_H
#define CALLTRAP_AMOUNTS_H

#include "base/strbuf.h"

/* Numbers as reports print them. */

/* 1,036 */
void amounts_add_number(struct strbuf *out, uint64_t number);

/* "+766", "-1,036", "0": from one number to the other. */
void amounts_add_change(struct strbuf *out, uint64_t before, uint64_t now);

/* A number, on the right of a column so wide; longer ones push it, with a space
   between it and what is before. */
void amounts_add_column(struct strbuf *out, uint64_t number, unsigned width);

/* "712 B", "61.6 MiB": about so many bytes. */
void amounts_add_size(struct strbuf *out, uint64_t bytes);

/* "1,036 bytes", "64,592,281 bytes (61.6 MiB)" */
void amounts_add_bytes(struct strbuf *out, uint64_t bytes);

/* "1,036 bytes in 3 blocks", "1 byte in 1 block". */
void amounts_add_held(struct strbuf *out, uint64_t bytes, uint64_t blocks);

/* "1 site", "2 sites" */
void amounts_add_count(struct strbuf *out, uint64_t number, const char *what);

/* "2026-11-21 09:30:00", local time: nanoseconds since 1970. */
void amounts_add_date(struct strbuf *out, uint64_t wall);

/* "12.3 s", "310 µs"; "-" for 0. */
void amounts_add_duration(struct strbuf *out, uint64_t nanoseconds);

/* … "<4.1 µs" where that is as much as can be told. */
void amounts_add_time(struct strbuf *out, uint64_t nanoseconds,
		      uint64_t resolution);

/* "20,576", "9.1", "0.02": so many in so long. */
void amounts_add_rate(struct strbuf *out, uint64_t number,
		      uint64_t nanoseconds);

/* These right-aligned, in so many columns. */
void amounts_add_duration_column(struct strbuf *out, uint64_t nanoseconds,
				 unsigned width);
void amounts_add_time_column(struct strbuf *out, uint64_t nanoseconds,
			     uint64_t resolution, unsigned width);

#endif
