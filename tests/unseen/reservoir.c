/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Keeps a fair sample of all requests that ever came: a new one takes the place
 * of another ever more seldom, and so lives ever longer.
 */
#include "server.h"

#define KEPT 60

static char *sample[KEPT];
static unsigned int seen;

static char *describe(unsigned int number)
{
	char *text = malloc(60 + pick(60));

	sprintf(text, "request %u", number);
	return text;
}

static char *copy_sample(const char *text)
{
	return strdup(text);
}

static void consider(const char *text)
{
	unsigned int place = seen < KEPT ? seen : pick(seen + 1);

	seen++;
	if (place >= KEPT)
		return;
	free(sample[place]);
	sample[place] = copy_sample(text);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(8); i++) {
		char *text = describe(i);

		consider(text);
		free(text);
	}
	return 0;
}
