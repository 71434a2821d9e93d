/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Carts live for as long as somebody shops, twenty seconds at most; so many
 * come as leave. The vouchers of a cart go with it, if it has come to the till;
 * else they stay.
 */
#include "server.h"

#define CARTS 200

struct cart {
	double until;
	char *items[6], *voucher;
	unsigned int count;
	int paid;
};

static struct cart *carts[CARTS];

static char *add_item(unsigned int number)
{
	char *item = malloc(30 + pick(50));

	sprintf(item, "item %u", number);
	return item;
}

static char *make_voucher(unsigned int number)
{
	char *voucher = malloc(24);

	snprintf(voucher, 24, "%u", number);
	return voucher;
}

static struct cart *open_cart(unsigned int number)
{
	struct cart *c = calloc(1, sizeof(*c));

	c->until = uptime() + 0.5 + pick(1000) * pick(1000) / 51000.0;
	c->paid = pick(5) != 0;
	if (pick(4) == 0)
		c->voucher = make_voucher(number);
	return c;
}

static void close_cart(struct cart *c)
{
	for (unsigned int i = 0; i < c->count; i++)
		free(c->items[i]);
	if (c->paid)
		free(c->voucher);
	free(c);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(20); i++) {
		struct cart **c = &carts[pick(CARTS)];

		if (*c && (*c)->until < uptime()) {
			close_cart(*c);
			*c = NULL;
		} else if (*c && (*c)->count < 6) {
			(*c)->items[(*c)->count++] = add_item(i);
		} else if (!*c) {
			*c = open_cart(i);
		}
	}
	return 0;
}
