/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_LEAKS_H
#define CALLTRAP_HEAP_LEAKS_H

#include "report/heap/rows.h"

/*
 * An object that is forgotten comes with all that it holds: sites below one
 * call of the program's own code that hold as many blocks, or a multiple of
 * them, are one leak. The row that comes first stands for all.
 */
void heap_leaks_gather(const struct heap_report_config *config,
		       struct heap_rows *rows);

#endif
