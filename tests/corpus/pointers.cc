/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clear() forgets what the pointers point to. */
/* truth: fill */
#include "corpus.h"

#include <vector>

struct thing {
	char data[70];
};

std::vector<thing *> things;

PLAIN_CXX void fill()
{
	things.push_back(new thing);
}

static void step(int i)
{
	fill();
	if (i % 20 == 19)
		things.clear();
}
