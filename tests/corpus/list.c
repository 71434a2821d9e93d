/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list that is only ever pushed to. */
/* truth: push */
#include "corpus.h"

struct node {
	struct node *next;
	char data[100];
} * head;

PLAIN void push(void)
{
	struct node *node = malloc(sizeof(*node));

	node->next = head;
	head = node;
}

static void step(int i)
{
	(void)i;
	if (pick(3))
		push();
}
