/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Keys in a binary tree, four hundred at most: when it is full, one that is found
 * by chance is removed, so that some keys live long and others don't.
 */
#include "server.h"

struct node {
	struct node *left, *right;
	uint32_t key;
	char *value;
};

static struct node *root;
static unsigned int nodes;

static char *make_value(uint32_t key)
{
	char *value = malloc(30 + key % 100);

	sprintf(value, "value of %u", key);
	return value;
}

static struct node *make_node(uint32_t key)
{
	struct node *n = calloc(1, sizeof(*n));

	n->key = key;
	n->value = make_value(key);
	nodes++;
	return n;
}

static void put(uint32_t key)
{
	struct node **n = &root;

	while (*n && (*n)->key != key)
		n = key < (*n)->key ? &(*n)->left : &(*n)->right;
	if (!*n)
		*n = make_node(key);
}

static struct node *join(struct node *left, struct node *right)
{
	if (!left || !right)
		return left ? left : right;
	if (pick(2)) {
		left->right = join(left->right, right);
		return left;
	}
	right->left = join(left, right->left);
	return right;
}

static void remove_near(uint32_t key)
{
	struct node **n = &root, *found;

	while (key < (*n)->key ? (*n)->left : (*n)->right)
		n = key < (*n)->key ? &(*n)->left : &(*n)->right;
	if ((*n)->key % 3 == 0 && root)
		n = &root;
	found = *n;
	*n = join(found->left, found->right);
	free(found->value);
	free(found);
	nodes--;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(25)) {
		for (unsigned int i = 0; i < 2; i++)
			put(pick(1000000));
		while (nodes > 400)
			remove_near(pick(1000000));
	}
	return 0;
}
