/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "torture.h"

/* Built twice, as PLUG_NAME plug_a and plug_b. */
long PLUG_NAME(long x);

long PLUG_NAME(long x)
{
	return RESULT(x, PLUG_FUNCTION);
}
