/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Opens a journal every two seconds and forgets the old one. Requests in
 * between give back what they take.
 */
#include "server.h"

static char *journal;

static void open_journal(unsigned int number)
{
	journal = malloc(200);
	snprintf(journal, 200, "journal.%u", number);
}

static void handle_request(void)
{
	char *scratch = calloc(1, 512);

	use(scratch);
	free(scratch);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(50); i++) {
		if (i % 40 == 0)
			open_journal(i);
		handle_request();
	}
	return 0;
}
