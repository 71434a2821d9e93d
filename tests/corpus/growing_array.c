/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One array that is made larger for ever. */
/* truth: append */
#include "corpus.h"

int *items;
size_t count, room;

PLAIN void append(int item)
{
	if (count == room) {
		room += 64;
		items = realloc(items, room * sizeof(*items));
	}
	items[count++] = item;
}

static void step(int i)
{
	for (int k = 0; k < 40; k++)
		append(i);
}
