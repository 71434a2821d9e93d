/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Scores in a skip list. A new score takes the player's old one out and puts
 * a node in, whose size is a matter of chance.
 */
#include "server.h"

#define PLAYERS 250
#define LEVELS 8

struct node {
	unsigned int score, levels;
	struct node *next[];
};

static struct node *head;
static struct node *of_player[PLAYERS];

static struct node *new_node(unsigned int score, unsigned int levels)
{
	struct node *n = calloc(1, sizeof(*n) + levels * sizeof(n->next[0]));

	n->score = score;
	n->levels = levels;
	return n;
}

static void insert(struct node *n)
{
	struct node *at = head;

	for (int level = LEVELS - 1; level >= 0; level--) {
		while (at->next[level] && at->next[level]->score < n->score)
			at = at->next[level];
		if (level < (int)n->levels) {
			n->next[level] = at->next[level];
			at->next[level] = n;
		}
	}
}

static void take_out(struct node *n)
{
	for (unsigned int level = 0; level < n->levels; level++) {
		struct node *at = head;

		while (at->next[level] != n)
			at = at->next[level];
		at->next[level] = n->next[level];
	}
	free(n);
}

static char *print_top(void)
{
	char *text = malloc(400);
	struct node *n = head->next[0];

	text[0] = '\0';
	for (int i = 0; n && i < 10; i++, n = n->next[0])
		sprintf(text + strlen(text), "%u\n", n->score);
	return text;
}

static unsigned int toss_levels(void)
{
	unsigned int levels = 1;

	while (levels < LEVELS && pick(2))
		levels++;
	return levels;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	head = new_node(0, LEVELS);
	while (serving(10)) {
		struct node **slot = &of_player[pick(PLAYERS)];
		char *text;

		if (*slot)
			take_out(*slot);
		*slot = new_node(1 + pick(100000), toss_levels());
		insert(*slot);
		text = print_top();
		use(text);
		free(text);
	}
	return 0;
}
