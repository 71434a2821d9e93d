/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Opens the audit file for each fourth request and never closes it; the
 * counter's file is closed.
 */
#include "server.h"

static void write_audit(void)
{
	FILE *f = fopen("/dev/null", "a");

	if (f)
		fprintf(f, "request\n");
}

static void write_counter(unsigned int i)
{
	FILE *f = fopen("/dev/null", "w");

	if (!f)
		return;
	fprintf(f, "%u\n", i);
	fclose(f);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(100); i++) {
		write_counter(i);
		if (pick(4) == 0)
			write_audit();
	}
	return 0;
}
