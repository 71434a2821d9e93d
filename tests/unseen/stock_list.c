/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Goods in a list. Who sells the first of the list moves its head on and forgets
 * to free what it was; all others are freed.
 */
#include "server.h"

struct item {
	struct item *next;
	unsigned int number;
	char *label;
};

static struct item *stock;
static unsigned int items;

static struct item *add_item(unsigned int number)
{
	struct item *i = malloc(sizeof(*i));

	i->number = number;
	i->label = NULL;
	i->next = stock;
	stock = i;
	items++;
	return i;
}

static void print_label(struct item *i)
{
	free(i->label);
	i->label = malloc(40 + pick(30));
	sprintf(i->label, "item %u", i->number);
}

static void sell(unsigned int place)
{
	struct item **slot = &stock, *sold;

	items--;
	if (place == 0) {
		free(stock->label);
		stock = stock->next;
		return;
	}
	while (place--)
		slot = &(*slot)->next;
	sold = *slot;
	*slot = sold->next;
	free(sold->label);
	free(sold);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int number = 0; serving(20); number++) {
		print_label(add_item(number));
		print_label(stock);
		while (items > 10)
			sell(pick(items));
	}
	return 0;
}
