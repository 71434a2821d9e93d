/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Computes a function of numbers below 300 and keeps each result for ever. In
 * the beginning nearly every number is new, in the end none is.
 */
#include "server.h"

static char *results[300];

static char *compute_result(unsigned int n)
{
	char *result = malloc(90);

	snprintf(result, 90, "%u squared is %u", n, n * n);
	return result;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(16)) {
		unsigned int n = pick(300);

		if (!results[n])
			results[n] = compute_result(n);
	}
	return 0;
}
