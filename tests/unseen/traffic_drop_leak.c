/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Keeps its last forty requests, and forgets to free one in eight. Sixty come
 * in a second; after sixteen seconds only six.
 */
#include "server.h"

#define KEPT 40

static char *kept[KEPT];

static char *take_request(unsigned int number)
{
	char *request = malloc(200);

	snprintf(request, 200, "request %u", number);
	return request;
}

static char *take_note(void)
{
	return strdup("a note");
}

int main(int argc, char **argv)
{
	static char *note;

	serve_for(argc, argv);
	for (unsigned int i = 0; serving(uptime() < 16 ? 16 : 160); i++) {
		if (pick(8))
			free(kept[i % KEPT]);
		kept[i % KEPT] = take_request(i);
		free(note);
		note = take_note();
	}
	return 0;
}
