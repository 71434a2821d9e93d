/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SIZE_UNIT_H
#define CALLTRAP_SIZE_UNIT_H

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* How many bytes a letter behind a number stands for: K, M or G, small ones as
   well. 0: it is none of these. */
static inline uint64_t size_unit(char letter)
{
	static const char letters[] = "KMG";
	const char *found = strchr(letters, toupper((unsigned char)letter));

	return letter && found ? UINT64_C(1024) << 10 * (found - letters) : 0;
}

#endif
