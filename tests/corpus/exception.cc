/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An exception flies past a delete. */
/* truth: work */
#include "corpus.h"

PLAIN_CXX void work(int number)
{
	char *p = new char[300];

	touch(p, 300);
	if (number % 12 == 0)
		throw number;
	delete[] p;
}

static void step(int i)
{
	for (int k = 0; k < 2; k++) {
		try {
			work(2 * i + k);
		} catch (int) {
		}
	}
}
