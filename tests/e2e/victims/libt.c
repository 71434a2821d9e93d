/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library whose functions are traced: each returns its argument + 1. */

#define FUNCTION(name) \
	__attribute__((noinline)) long name(long i) \
	{ \
		__asm__ volatile(""); \
		return i + 1; \
	}

FUNCTION(f1)
FUNCTION(f2)
FUNCTION(f3)
