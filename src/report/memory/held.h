/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_MEMORY_HELD_H
#define CALLTRAP_MEMORY_HELD_H

#include "report/memory/export.h"

/* What a site holds: blocks of the age that counts (--older-than). */
struct heap_export_held {
	uint64_t blocks, bytes;
};

struct heap_export_held heap_export_held(const struct heap_export *export,
					 const struct site *site);

/* Whether it is in files that have all that was acquired. */
bool heap_export_is_shown(const struct site *site);

/* What one site weighs; 0 where it isn't memory that it acquires, or it is
   suppressed. */
uint64_t heap_export_weight(const struct heap_export *export,
			    const struct site *site);

/* "Heap in use", "bytes", "Heap in Use" */
struct heap_value_text {
	const char *what;
	const char *unit;
	const char *title;
};

const struct heap_value_text *heap_export_value_text(enum heap_value value);

/* Else in blocks. */
bool heap_value_is_in_bytes(enum heap_value value);

#endif
