/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Orders stay open for half a second mostly, one in thirty for six to nine
 * seconds, as they wait for another shop. None is forgotten.
 */
#include "server.h"

#define PLACES 512

static struct {
	char *order;
	double due;
} places[PLACES];

static char *open_order(void)
{
	return calloc(1, 100 + pick(60));
}

static void place_order(char *order, double due)
{
	for (int i = 0; i < PLACES; i++) {
		if (places[i].order)
			continue;
		places[i].order = order;
		places[i].due = due;
		return;
	}
	free(order);
}

static void close_orders(void)
{
	for (int i = 0; i < PLACES; i++) {
		if (!places[i].order || places[i].due > uptime())
			continue;
		free(places[i].order);
		places[i].order = NULL;
	}
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(25)) {
		double takes = pick(30) ? 0.5 : 6 + pick(30) / 10.0;

		place_order(open_order(), uptime() + takes);
		close_orders();
	}
	return 0;
}
