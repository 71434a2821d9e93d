/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Rows are exported in batches: twenty files at once, then nothing for six
 * seconds but single questions. The manifest of each file is forgotten.
 */
#include "server.h"

static char *open_manifest(unsigned int file)
{
	char *manifest = malloc(300);

	snprintf(manifest, 300, "file %u", file);
	return manifest;
}

static char *format_row(unsigned int number)
{
	char *row = malloc(50 + pick(100));

	sprintf(row, "row %u", number);
	return row;
}

static void export_file(unsigned int file)
{
	char *manifest = open_manifest(file);

	for (unsigned int i = 0; i < 30; i++) {
		char *row = format_row(i);

		use(row);
		free(row);
	}
	use(manifest);
}

static void answer(unsigned int number)
{
	char *text = strdup("a question of somebody");

	use(text + number % 8);
	free(text);
}

int main(int argc, char **argv)
{
	double next = 1;

	serve_for(argc, argv);
	for (unsigned int i = 0; serving(30); i++) {
		answer(i);
		if (uptime() < next)
			continue;
		for (unsigned int k = 0; k < 20; k++)
			export_file(k);
		next = uptime() + 6;
	}
	return 0;
}
