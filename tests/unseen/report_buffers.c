/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Writes reports through large buffers of its own. To close the stream doesn't
 * free a buffer that was given to it.
 */
#include "server.h"

static char *new_buffer(void)
{
	return malloc(16384);
}

static char *format_footer(unsigned int number)
{
	char *text = malloc(80);

	snprintf(text, 80, "end of report %u\n", number);
	return text;
}

static void write_report(unsigned int number)
{
	FILE *file = fopen("/dev/null", "w");
	char *footer;

	setvbuf(file, new_buffer(), _IOFBF, 16384);
	for (unsigned int i = 0; i < 30; i++)
		fprintf(file, "%u %u\n", number, i);
	footer = format_footer(number);
	fputs(footer, file);
	free(footer);
	fclose(file);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(250); i++)
		write_report(i);
	return 0;
}
