/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SUPPRESSIONS_PRIVATE_H
#define CALLTRAP_SUPPRESSIONS_PRIVATE_H

#include "base/demangle.h"
#include "base/hash.h"
#include "report/heap/suppressions.h"

/* As many patterns as a line may have. */
#define SUPPRESSION_PATTERNS 16

struct suppression {
	char *text;
	/* With * and ?; from the innermost frame to the outermost. */
	char *patterns[SUPPRESSION_PATTERNS];
	unsigned count;
};

struct judged_name;

struct suppressions {
	struct suppression *list;
	size_t count, room;
	size_t pattern_count;      /* of all lines */
	struct judged_name *known; /* by name */
	struct demangler demangler;
};

void suppression_fini(struct suppression *suppression);

#endif
