/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Remembers the answer to each question for ever. Every third question is new,
 * so the table, which is never lost sight of, grows without end.
 */
#include "server.h"

#define BUCKETS 1024

struct answer {
	struct answer *next;
	unsigned int question;
	char text[80];
};

static struct answer *table[BUCKETS];

static struct answer *remember(unsigned int question)
{
	struct answer *a = malloc(sizeof(*a));

	a->question = question;
	snprintf(a->text, sizeof(a->text), "answer to %u", question);
	a->next = table[question % BUCKETS];
	table[question % BUCKETS] = a;
	return a;
}

static struct answer *find_answer(unsigned int question)
{
	struct answer *a = table[question % BUCKETS];

	while (a && a->question != question)
		a = a->next;
	return a;
}

static char *print_answer(const struct answer *a)
{
	char *line = NULL;

	if (asprintf(&line, "%u: %s", a->question, a->text) < 0)
		return NULL;
	return line;
}

int main(int argc, char **argv)
{
	unsigned int questions = 1;
	struct answer *a;

	serve_for(argc, argv);
	while (serving(20)) {
		unsigned int q = pick(3) ? pick(questions) : questions++;

		a = find_answer(q);
		if (!a)
			a = remember(q);
		free(print_answer(a));
	}
	return 0;
}
