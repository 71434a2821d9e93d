/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two callers of one wrapper, one of which forgets. */
/* truth: bad */
#include "corpus.h"

PLAIN void *xmalloc(size_t size)
{
	void *p = malloc(size);

	if (!p)
		abort();
	return p;
}

PLAIN void good(void)
{
	char *p = xmalloc(100);

	touch(p, 100);
	free(p);
}

PLAIN void bad(void)
{
	touch(xmalloc(100), 100);
}

static void step(int i)
{
	good();
	good();
	if (i % 5 == 0)
		bad();
}
