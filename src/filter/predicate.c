/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "filter/predicate.h"

#include <stdlib.h>

#include "filter/predicate_node.h"

void predicate_free(struct predicate *predicate)
{
	if (!predicate)
		return;
	for (unsigned i = 0; i < predicate->count; i++)
		free(predicate->nodes[i].name);
	free(predicate);
}

/* A question to one call. */
struct asked {
	struct predicate *predicate;
	struct predicate_call *call;
	bool counts; /* `every' and `first' may be asked */
};

static struct node *node_at(const struct asked *asked, unsigned index)
{
	return &asked->predicate->nodes[index];
}

static bool number_of(const struct asked *asked, unsigned index,
		      struct predicate_number *ret);

static bool bits_of(const struct asked *asked, const struct node *node,
		    struct predicate_number *ret)
{
	struct predicate_number a, b;

	if (!number_of(asked, node->left, &a) ||
	    !number_of(asked, node->right, &b))
		return false;
	*ret = (struct predicate_number){ a.value & b.value, false };
	return true;
}

static bool number_of(const struct asked *asked, unsigned index,
		      struct predicate_number *ret)
{
	const struct node *node = node_at(asked, index);
	const struct predicate_call_ops *ops = asked->call->ops;

	switch (node->kind) {
	case NODE_NUMBER:
		*ret = node->number;
		return true;
	case NODE_ARGUMENT:
		return ops->argument(asked->call, node->number.value, ret);
	case NODE_NAMED:
		return ops->named(asked->call, node->name, ret);
	case NODE_RESULT:
		return ops->result(asked->call, ret);
	case NODE_ERROR:
		return ops->error(asked->call, ret);
	case NODE_DURATION:
		return ops->duration(asked->call, ret);
	case NODE_BITS:
		return bits_of(asked, node, ret);
	default:
		return false;
	}
}

/* As numbers: -1 is less than any address. */
static int compare(const struct predicate_number *a,
		   const struct predicate_number *b)
{
	const bool a_below = a->is_signed && (int64_t)a->value < 0;
	const bool b_below = b->is_signed && (int64_t)b->value < 0;

	if (a_below != b_below)
		return a_below ? -1 : 1;
	return a->value < b->value ? -1 : a->value > b->value;
}

static enum answer answer_of(bool yes)
{
	return yes ? ANSWER_YES : ANSWER_NO;
}

static enum answer ask_numbers(const struct asked *asked,
			       const struct node *node)
{
	struct predicate_number a, b;
	int order;

	if (!number_of(asked, node->left, &a) ||
	    !number_of(asked, node->right, &b))
		return ANSWER_UNKNOWN;
	order = compare(&a, &b);
	switch (node->kind) {
	case NODE_EQUAL:
		return answer_of(order == 0);
	case NODE_NOT_EQUAL:
		return answer_of(order != 0);
	case NODE_LESS:
		return answer_of(order < 0);
	default:
		return answer_of(order <= 0);
	}
}

static enum answer ask(const struct asked *asked, unsigned index);

/* What comes later in the text isn't asked about as long as that may matter to
   what it counts. */
static enum answer ask_both(const struct asked *asked, const struct node *node,
			    enum answer decides)
{
	enum answer left = ask(asked, node->left), right;

	if (left == decides)
		return left;
	if (left == ANSWER_UNKNOWN && asked->predicate->counts)
		return left;
	right = ask(asked, node->right);
	return right == decides || left != ANSWER_UNKNOWN ? right : left;
}

static enum answer ask_not(enum answer answer)
{
	return answer == ANSWER_UNKNOWN ? answer :
					  answer_of(answer == ANSWER_NO);
}

static enum answer ask_count(const struct asked *asked, struct node *node)
{
	if (!asked->counts)
		return ANSWER_UNKNOWN;
	node->count++;
	if (node->kind == NODE_FIRST)
		return answer_of(node->count <= node->number.value);
	return answer_of(node->count % node->number.value == 0);
}

static enum answer ask(const struct asked *asked, unsigned index)
{
	struct node *node = node_at(asked, index);
	struct predicate_number number;

	switch (node->kind) {
	case NODE_OR:
		return ask_both(asked, node, ANSWER_YES);
	case NODE_AND:
		return ask_both(asked, node, ANSWER_NO);
	case NODE_NOT:
		return ask_not(ask(asked, node->left));
	case NODE_EVERY:
	case NODE_FIRST:
		return ask_count(asked, node);
	case NODE_EQUAL:
	case NODE_NOT_EQUAL:
	case NODE_LESS:
	case NODE_AT_MOST:
		return ask_numbers(asked, node);
	default:
		return number_of(asked, index, &number) ?
			       answer_of(number.value != 0) :
			       ANSWER_UNKNOWN;
	}
}

enum answer predicate_ask(struct predicate *predicate,
			  struct predicate_call *call, bool is_over)
{
	const struct asked asked = {
		.predicate = predicate,
		.call = call,
		.counts = is_over || !predicate->needs_return,
	};

	return ask(&asked, predicate->root);
}
