/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_RATES_H
#define CALLTRAP_HEAP_RATES_H

#include "base/strbuf.h"
#include "heap/heap.h"

/* Where not every block is kept: "one block in 2,048 bytes", or for how long it
   was one in how many. */
void heap_rates_add(const struct heap *heap, uint64_t now, struct strbuf *out);

#endif
