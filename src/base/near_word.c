/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/near_word.h"

#include <stddef.h>
#include <string.h>

#define DISTANCE 2
#define LENGTH   64

static size_t least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/*
 * How many letters have to be changed, added, left out, or swapped with the
 * next one; of words of at most LENGTH.
 */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][LENGTH + 1], n = strlen(b), i, j;
	size_t *before = rows[0], *last = rows[1], *row = rows[2];

	for (j = 0; j <= n; j++)
		last[j] = j;
	for (i = 0; a[i]; i++) {
		size_t *spare = before;

		row[0] = i + 1;
		for (j = 0; j < n; j++) {
			row[j + 1] = least(last[j + 1] + 1, row[j] + 1,
					   last[j] + (a[i] != b[j]));
			if (i && j && a[i] == b[j - 1] && a[i - 1] == b[j] &&
			    before[j - 1] + 1 < row[j + 1])
				row[j + 1] = before[j - 1] + 1;
		}
		before = last;
		last = row;
		row = spare;
	}
	return last[n];
}

bool near_word(const char *written, const char *known)
{
	size_t a = strlen(written), b = strlen(known);

	if (a > LENGTH || b > LENGTH || a + DISTANCE < b || b + DISTANCE < a)
		return false;
	/* Two edits turn any word of three letters into any other. */
	return distance(written, known) <= (a < 5 ? 1 : DISTANCE);
}
