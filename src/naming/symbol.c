/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "naming/symbol.h"

/* How many symbols before an address are looked at for one that holds it. */
#define NESTED_MAX 16

static bool holds(const struct symbol *symbol, uint64_t address)
{
	return address - symbol->address < symbol->size;
}

/* Behind the last symbol that begins at the address or before. */
static size_t bound(const struct symbol *symbols, size_t count,
		    uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first, which is the best, of those at the same address. */
static size_t first_there(const struct symbol *symbols, size_t i)
{
	while (i && symbols[i - 1].address == symbols[i].address)
		i--;
	return i;
}

const struct symbol *symbol_around(const struct image *image, uint64_t address)
{
	size_t count, i, tries;
	const struct symbol *symbols = image_symbols(image, &count);
	size_t end = bound(symbols, count, address);

	if (!end)
		return NULL;
	for (i = end, tries = 0; i && tries < NESTED_MAX; tries++) {
		i = first_there(symbols, i - 1);
		if (holds(&symbols[i], address))
			return &symbols[i];
	}
	i = first_there(symbols, end - 1);
	return symbols[i].size ? NULL : &symbols[i];
}
