/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Collects lines and sends them off together, when there are many or after nine
 * seconds; the batch that was sent is kept until the next one is.
 */
#include "server.h"

struct batch {
	unsigned int lines;
	double began;
	char *line[500];
};

static struct batch *current, *sent;

static struct batch *begin_batch(void)
{
	struct batch *b = calloc(1, sizeof(*b));

	b->began = uptime();
	return b;
}

static char *format_line(unsigned int number)
{
	char *line = malloc(60 + pick(80));

	sprintf(line, "request %u took %u ms", number, pick(900));
	return line;
}

static void drop(struct batch *b)
{
	while (b && b->lines > 0)
		free(b->line[--b->lines]);
	free(b);
}

static void send_batch(void)
{
	drop(sent);
	sent = current;
	current = begin_batch();
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	current = begin_batch();
	for (unsigned int i = 0; serving(30); i++) {
		current->line[current->lines++] = format_line(i);
		if (current->lines == 500 || uptime() - current->began > 9)
			send_batch();
	}
	return 0;
}
