/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Peers stand in a tree for as long as they are there. tdelete() frees the
 * tree's node; the key was the program's own to free.
 */
#include "server.h"
#include <search.h>

#define PEERS 80

static void *tree;
static char *present[PEERS];

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static char *copy_peer(unsigned int number)
{
	char *peer = malloc(16 + pick(30));

	sprintf(peer, "10.0.0.%u", number);
	return peer;
}

static void insert_peer(char *peer)
{
	tsearch(peer, &tree, compare);
}

static char *greet(const char *peer)
{
	char *text = malloc(100);

	snprintf(text, 100, "hello %s", peer);
	return text;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(20)) {
		unsigned int number = pick(PEERS);
		char *text;

		if (present[number]) {
			tdelete(present[number], &tree, compare);
			present[number] = NULL;
			continue;
		}
		present[number] = copy_peer(number);
		insert_peer(present[number]);
		text = greet(present[number]);
		use(text);
		free(text);
	}
	return 0;
}
