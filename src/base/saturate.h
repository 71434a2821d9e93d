/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SATURATE_H
#define CALLTRAP_SATURATE_H

#include <stdint.h>

/* Sums of what files say stop at the largest number. */
static inline void saturate_add(uint64_t *sum, uint64_t number)
{
	*sum = *sum > UINT64_MAX - number ? UINT64_MAX : *sum + number;
}

#endif
