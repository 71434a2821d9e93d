/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library that calls labs() by a stub, and has kept its address before: one slot. */
#include <stdlib.h>

static long (*volatile kept)(long);

void keep(void)
{
	kept = labs;
}

int keeps(long n)
{
	return kept == labs && labs(-n) == n;
}
