/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ten parts of a program, each begun when it is needed. */
/* truth: none */
#include "corpus.h"

char *parts[10];

#define PART(n)                                \
	PLAIN void part##n(void)               \
	{                                      \
		if (!parts[n])                 \
			parts[n] = malloc(99); \
	}

PART(0)
PART(1)
PART(2)
PART(3)
PART(4)
PART(5)
PART(6)
PART(7)
PART(8)
PART(9)

static void step(int i)
{
	static void (*const all[])(void) = {
		part0, part1, part2, part3, part4,
		part5, part6, part7, part8, part9,
	};

	all[pick(1 + i / 30)]();
}
