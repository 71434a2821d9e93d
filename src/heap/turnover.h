/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TURNOVER_H
#define CALLTRAP_TURNOVER_H

#include "heap/heap.h"

/*
 * A store that was full before watching began gives back as much as it
 * acquires: older blocks, whose sites are not known. Which sites' new blocks
 * are made up for so is told by their numbers, and where there are several, by
 * how much of the two stacks is the same.
 *
 * ret[site->number - 1] becomes the number of older blocks that were given back
 * for those of the site.
 */
void turnover_match(const struct heap *heap, uint64_t now, uint64_t *ret);

#endif
