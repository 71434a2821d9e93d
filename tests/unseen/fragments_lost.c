/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Datagrams come in fragments, in any order. Most are complete after a second;
 * those that lack one are given up after four. Their fragments are
 * not freed then.
 */
#include "server.h"

#define OPEN 400

struct fragment {
	struct fragment *next;
	char data[100];
};

struct datagram {
	struct fragment *parts;
	unsigned int have, want;
	double began;
};

static struct datagram *open_ones[OPEN];

static struct datagram *new_datagram(void)
{
	struct datagram *d = calloc(1, sizeof(*d));

	d->want = 2 + pick(4);
	d->began = uptime();
	return d;
}

static struct fragment *new_fragment(struct fragment *next)
{
	struct fragment *f = malloc(sizeof(*f));

	f->next = next;
	return f;
}

static char *join_parts(const struct datagram *d)
{
	return calloc(d->have, sizeof(d->parts->data));
}

static void drop_parts(struct datagram *d)
{
	struct fragment *f;

	while ((f = d->parts)) {
		d->parts = f->next;
		free(f);
	}
}

static void receive(struct datagram *d)
{
	char *whole;

	d->parts = new_fragment(d->parts);
	if (++d->have < d->want)
		return;
	whole = join_parts(d);
	use(whole);
	free(whole);
	drop_parts(d);
}

static void visit(struct datagram **slot)
{
	struct datagram *d = *slot;

	if (!d)
		return;
	if (d->have < d->want) {
		if (uptime() - d->began < 4) {
			/* Some peers stop in the middle. */
			if (slot - open_ones > OPEN / 10 || d->have < 1)
				receive(d);
			return;
		}
	}
	free(d);
	*slot = NULL;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(10)) {
		struct datagram **slot = &open_ones[pick(OPEN)];

		if (!*slot)
			*slot = new_datagram();
		for (unsigned int i = 0; i < 3; i++)
			visit(&open_ones[pick(OPEN)]);
	}
	return 0;
}
