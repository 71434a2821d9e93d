/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Keeps its last eighty requests. Sixty come in a second; after sixteen
 * seconds only three, so that each of them is kept for much longer.
 */
#include "server.h"

#define KEPT 80

static char *kept[KEPT];

static char *take_request(unsigned int number)
{
	char *request = malloc(200);

	snprintf(request, 200, "request %u", number);
	return request;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(uptime() < 16 ? 16 : 330); i++) {
		free(kept[i % KEPT]);
		kept[i % KEPT] = take_request(i);
	}
	return 0;
}
