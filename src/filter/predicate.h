/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PREDICATE_H
#define CALLTRAP_PREDICATE_H

#include <stdbool.h>

#include "base/types.h"

/*
 * What --if asks of a call, compiled to a few nodes: no text is looked at when
 * it is evaluated but the names of arguments.
 *
 *	size >= 1M && !(fd == 2)
 *	ret < 0 && errno != EAGAIN
 *	time > 100ms || every 1000
 */
struct predicate;

/*
 * On -EINVAL message_ret holds what is wrong (to be freed) and column_ret
 * where, counted from 1 in text. Texts that are parsed one after the other into
 * the same predicate (initialise it with NULL) must all hold.
 */
int predicate_add(struct predicate **predicate, const char *text,
		  char **message_ret, size_t *column_ret) MUST_CHECK;
void predicate_free(struct predicate *predicate);

/* A number of a call. */
struct predicate_number {
	uint64_t value; /* extended to 64 bits by its sign, if it has one */
	bool is_signed;
};

/* Embedded as first member of what knows a call; each returns false as long as
   that isn't known. */
struct predicate_call {
	const struct predicate_call_ops *ops;
};

struct predicate_call_ops {
	bool (*argument)(struct predicate_call *call, unsigned index,
			 struct predicate_number *ret); /* from 0 on */
	bool (*named)(struct predicate_call *call, const char *name,
		      struct predicate_number *ret);
	bool (*result)(struct predicate_call *call,
		       struct predicate_number *ret);
	bool (*error)(struct predicate_call *call,
		      struct predicate_number *ret);
	bool (*duration)(struct predicate_call *call, /* nanoseconds */
			 struct predicate_number *ret);
};

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_UNKNOWN };

/*
 * Whether it holds of a call. UNKNOWN: that depends on what isn't known. A call
 * is asked about when it begins, and (if that was UNKNOWN) when it is over:
 * `every' and `first' count it once.
 */
enum answer predicate_ask(struct predicate *predicate,
			  struct predicate_call *call, bool is_over);

#endif
