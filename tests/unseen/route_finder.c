/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Looks for ways through a maze. Places still to be looked at wait in a list,
 * and those left in it when the way was found are forgotten now and then: only
 * when it was found by the shortcut.
 */
#include "server.h"

struct place {
	struct place *next;
	int x, y;
	double cost;
};

struct step {
	struct step *next;
	int x, y;
};

static struct place *open_list;

static void push_open(int x, int y)
{
	struct place *p = malloc(sizeof(*p));

	p->x = x;
	p->y = y;
	p->cost = x + y + pick(5);
	p->next = open_list;
	open_list = p;
}

static void drop_open(void)
{
	struct place *p;

	while ((p = open_list)) {
		open_list = p->next;
		free(p);
	}
}

static struct step *new_step(struct step *next, int x, int y)
{
	struct step *s = malloc(sizeof(*s));

	s->x = x;
	s->y = y;
	s->next = next;
	return s;
}

static struct step *find_route(unsigned int goal)
{
	struct step *route = NULL;
	int x = 0, y = 0;

	while (x + y < (int)goal) {
		struct place *p;

		push_open(x + 1, y);
		push_open(x, y + 1);
		p = open_list;
		open_list = p->next;
		x = p->x;
		y = p->y;
		free(p);
		route = new_step(route, x, y);
		if (pick(200) == 0) {
			open_list = NULL;
			return route;
		}
	}
	drop_open();
	return route;
}

int main(int argc, char **argv)
{
	struct step *route, *s;

	serve_for(argc, argv);
	while (serving(80)) {
		route = find_route(6 + pick(12));
		while ((s = route)) {
			route = s->next;
			free(s);
		}
	}
	return 0;
}
