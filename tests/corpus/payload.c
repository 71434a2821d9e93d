/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes are freed, what they point to is not. */
/* truth: payload */
#include "corpus.h"

struct node {
	char *payload;
} * nodes[10];

PLAIN char *payload(void)
{
	return malloc(150);
}

PLAIN struct node *node(void)
{
	struct node *made = malloc(sizeof(*made));

	made->payload = payload();
	return made;
}

static void step(int i)
{
	free(nodes[i % 10]);
	nodes[i % 10] = node();
}
