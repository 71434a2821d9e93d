/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * An index of what came in the last eighteen seconds, in nine parts of two
 * seconds: the eldest part is dropped when a new one begins.
 */
#include "server.h"

#define PARTS 9
#define PER_PART 300

struct part {
	unsigned int used;
	char *words[PER_PART];
};

static struct part *parts[PARTS];
static unsigned int now;

static struct part *new_part(void)
{
	return calloc(1, sizeof(struct part));
}

static void drop_part(struct part *p)
{
	if (!p)
		return;
	while (p->used)
		free(p->words[--p->used]);
	free(p);
}

static char *copy_word(unsigned int number)
{
	char *word = malloc(12 + pick(20));

	sprintf(word, "word%u", number);
	return word;
}

static void turn(void)
{
	now = (now + 1) % PARTS;
	drop_part(parts[now]);
	parts[now] = new_part();
}

int main(int argc, char **argv)
{
	double next = 2;

	serve_for(argc, argv);
	turn();
	for (unsigned int i = 0; serving(15); i++) {
		struct part *p = parts[now];

		if (p->used < PER_PART)
			p->words[p->used++] = copy_word(i);
		if (uptime() > next) {
			turn();
			next += 2;
		}
	}
	return 0;
}
