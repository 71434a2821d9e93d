/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reads commands with getline() into a pointer that is NULL each time, and
 * frees none; the banner is read the same way, and freed.
 */
#include "server.h"

static char text[] = "first line\nsecond line\n";

static void read_command(FILE *f)
{
	char *line = NULL;
	size_t size = 0;

	if (getline(&line, &size, f) > 0)
		use(line);
}

static void read_banner(FILE *f)
{
	char *line = NULL;
	size_t size = 0;

	if (getline(&line, &size, f) > 0)
		use(line);
	free(line);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(150)) {
		FILE *f = fmemopen(text, sizeof(text) - 1, "r");

		read_banner(f);
		read_command(f);
		fclose(f);
	}
	return 0;
}
