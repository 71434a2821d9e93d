/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Three functions, of which two leak at different rates. */
/* truth: a b */
#include "corpus.h"

void *last;

PLAIN void a(void)
{
	last = malloc(10);
}

PLAIN void b(void)
{
	last = malloc(1000);
}

PLAIN void d(void)
{
	void *p = malloc(100);

	touch(p, 100);
	free(p);
}

static void step(int i)
{
	if (i % 2)
		a();
	if (i % 30 == 0)
		b();
	d();
}
