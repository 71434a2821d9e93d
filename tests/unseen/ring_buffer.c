/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Keeps the last 250 lines of its log; each new one frees the oldest.
 */
#include "server.h"

#define LINES 250

static char *lines[LINES];

static char *format_line(unsigned int number)
{
	char *line = NULL;

	if (asprintf(&line, "%.3f request %u", uptime(), number) < 0)
		abort();
	return line;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(40); i++) {
		free(lines[i % LINES]);
		lines[i % LINES] = format_line(i);
	}
	return 0;
}
