/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Postings of a few accounts are kept until the statement is printed, which is
 * once in 25 seconds. A posting that is disputed becomes a case, and nobody
 * ever closes one.
 */
#include "server.h"

struct posting {
	struct posting *next;
	unsigned int cents;
	char text[40];
};

static struct posting *accounts[5];
static char *cases[5];

static void post(unsigned int number)
{
	struct posting *p = malloc(sizeof(*p));

	p->cents = pick(100000);
	snprintf(p->text, sizeof(p->text), "posting %u", number);
	p->next = accounts[number % ARRAY_SIZE(accounts)];
	accounts[number % ARRAY_SIZE(accounts)] = p;
}

static void dispute(unsigned int number)
{
	char *text = malloc(120);

	snprintf(text, 120, "case of posting %u", number);
	cases[number % ARRAY_SIZE(cases)] = text;
}

static void print_statement(struct posting **account)
{
	char *page = malloc(4000);
	struct posting *p;

	use(page);
	while ((p = *account)) {
		*account = p->next;
		snprintf(page, 4000, "%s %u", p->text, p->cents);
		free(p);
	}
	free(page);
}

int main(int argc, char **argv)
{
	double next = 25;

	serve_for(argc, argv);
	for (unsigned int i = 0; serving(25); i++) {
		post(i);
		if (pick(30) == 0)
			dispute(i);
		if (uptime() < next)
			continue;
		next += 25;
		for (unsigned int k = 0; k < ARRAY_SIZE(accounts); k++)
			print_statement(&accounts[k]);
	}
	return 0;
}
