/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FORMAT_H
#define CALLTRAP_FORMAT_H

#include <stdbool.h>

#include "prototype/type.h"

#define FORMAT_ARGUMENTS_MAX 32

enum format_kind {
	FORMAT_NOTHING, /* no conversion speaks of this argument */
	FORMAT_VALUE,   /* .type; scanf: what the argument points to is */
	FORMAT_TEXT,    /* a pointer to characters */
};

/* An argument that a format calls for. */
struct format_argument {
	enum format_kind kind;
	struct type type;
	unsigned unit;      /* TEXT: bytes of a character */
	bool whole;         /* TEXT: no NUL ends it (%10c of scanf) */
	uint64_t precision; /* TEXT: characters at most; UINT64_MAX: any */
	int precision_from; /* TEXT: index of the * that says it, or -1 */
	unsigned order;     /* scanf: conversions that come before it, of
			       those that it counts */
};

struct format {
	struct format_argument arguments[FORMAT_ARGUMENTS_MAX];
	unsigned count;
	bool stopped; /* behind these are others that can't be told */
};

/* What a NUL-terminated format calls for: printf's, or scanf's. */
void format_read(const char *text, struct format *ret);
void format_read_scan(const char *text, struct format *ret);

/* The parts that both have; where a part isn't there, at stays. */

struct format_reader {
	const char *at;
	struct format *to;
	unsigned next; /* argument that a conversion without n$ takes */
};

/* A number, at most INT32_MAX. */
uint64_t format_read_number(struct format_reader *reader);

/* n$ before what takes the n-th argument; 0: the next one. */
unsigned format_read_position(struct format_reader *reader);

/* h, ll, L…: the size of an integer. */
uint8_t format_read_size(struct format_reader *reader);

struct type format_integer(uint8_t size, bool is_signed, enum lens lens);

/* Adds one at a position; its index, or -1 when there is no room. */
int format_add(struct format_reader *reader, unsigned position,
	       const struct format_argument *argument);

/* Cuts the list before what is missing in it. */
void format_finish(struct format *format);

#endif
