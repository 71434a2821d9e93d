/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CFI_SPANS_H
#define CALLTRAP_CFI_SPANS_H

#include "stack/cfi_index.h"
#include "stack/unwind.h"

/*
 * Rules for all of an image's code at once, as far as its records say no more than
 * compilers' mostly do; the rest has none. Far faster than learn.c, which asks
 * libunwind, and is the judge: what both know is the same.
 */
struct cfi_spans {
	const struct image *image;
	const struct arch_ops *arch;
	struct cfi_index *index;
	struct cfi_common *common; /* what the last record had in common with
				      others: mostly the next one, too */
	size_t next, most;         /* records; spans */
	uint64_t low;              /* offsets are counted from there */
	uint64_t start;            /* of the last record */
	struct unwind_span *spans;
	size_t count, room;
	struct unwind_rule *rules; /* the first one is none */
	size_t rule_count, rule_room;
	uint16_t *found; /* a hash table of their numbers */
	bool failed;     /* there are too many */
};

/* False when there is nothing; offsets are counted from low. */
bool cfi_spans_init(struct cfi_spans *spans, const struct image *image,
		    uint64_t low, size_t most) MUST_CHECK;
void cfi_spans_fini(struct cfi_spans *spans);

/* So many records more; false when that were all. */
bool cfi_spans_go_on(struct cfi_spans *spans, size_t records);

/* No more are made: what has made them is given back. The bytes that are left. */
size_t cfi_spans_settle(struct cfi_spans *spans);

#endif
