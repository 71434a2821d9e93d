/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_VERDICTS_H
#define CALLTRAP_VERDICTS_H

#include "heap/verdict.h"

/*
 * The verdicts of all sites. A leak may come from many sites, of which each has
 * but few blocks, or is soon followed by another (code that is compiled anew): so
 * sites are also judged together, by the frame that called the allocator, and by
 * family. No site is called less than what it is part of.
 */
struct verdicts;

struct verdicts *verdicts_of(const struct heap *heap,
			     const struct survey *survey) MUST_CHECK;
void verdicts_free(struct verdicts *verdicts);

const struct verdict *verdicts_site(const struct verdicts *verdicts,
				    const struct site *site);

#endif
