/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tail_calls.c calls in another file. */
#include "tail_calls.h"

KEEP int other_last(int n)
{
	probe_here(n);
	return sum + n;
}

KEEP int other_first(int n)
{
	sum += 2;
	return other_last(n + 1);
}
