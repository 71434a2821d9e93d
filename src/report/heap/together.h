/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_TOGETHER_H
#define CALLTRAP_HEAP_TOGETHER_H

#include "report/heap/rows.h"
#include "report/memory/text.h"

/* What several processes held, each when it was left or ended, added up. */
struct together {
	unsigned processes;
	const struct families *families;
	struct heap_total *totals; /* by family->index, … */
	size_t count;              /* … so many */
	struct heap_sum levels[VERDICT_LIKELY + 1];
};

void together_fini(struct together *together);
void together_add(struct together *together,
		  const struct heap_report_config *config,
		  const struct watched *process, const struct heap_rows *rows);

int together_text(const struct together *together,
		  const struct heap_text *text) MUST_CHECK;

#endif
