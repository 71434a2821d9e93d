/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Collects records for ten seconds, writes them, and frees all of them.
 */
#include "server.h"

struct record {
	struct record *next;
	char text[100];
};

static struct record *batch;

static void collect_record(unsigned int number)
{
	struct record *r = malloc(sizeof(*r));

	snprintf(r->text, sizeof(r->text), "record %u", number);
	r->next = batch;
	batch = r;
}

static void write_batch(void)
{
	struct record *r;

	while ((r = batch)) {
		batch = r->next;
		free(r);
	}
}

int main(int argc, char **argv)
{
	double due = 10;

	serve_for(argc, argv);
	for (unsigned int i = 0; serving(20); i++) {
		collect_record(i);
		if (uptime() < due)
			continue;
		write_batch();
		due += 10;
	}
	return 0;
}
