/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/dominators.h"

#include <string.h>

#include "base/xalloc.h"
#include "unit.h"

/* Dominators of random graphs, as found by taking each node out in turn. */

#define NODES_MAX 24

struct plain {
	uint32_t count, strong; /* edges of node 0 that count first */
	uint32_t degree[NODES_MAX];
	uint32_t to[NODES_MAX][NODES_MAX];
};

static uint64_t state = 88172645463325252;

static uint32_t random_below(uint32_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % limit;
}

static void make_random(struct plain *ret)
{
	uint32_t most;

	*ret = (struct plain){ .count = 1 + random_below(NODES_MAX) };
	most = 1 + random_below(4);
	for (uint32_t i = 0; i < ret->count; i++) {
		ret->degree[i] = random_below(most + 1);
		for (uint32_t e = 0; e < ret->degree[i]; e++)
			ret->to[i][e] = random_below(ret->count);
	}
	ret->strong = random_below(ret->degree[0] + 1);
}

static void copy(const struct plain *plain, struct directed *ret)
{
	uint32_t at = 0;

	*ret = (struct directed){ .count = plain->count,
				  .strong = plain->strong };
	ret->first = xcalloc(plain->count + 1, sizeof(*ret->first));
	ret->to = xcalloc(NODES_MAX * NODES_MAX, sizeof(*ret->to));
	for (uint32_t i = 0; i < plain->count; i++) {
		ret->first[i] = at;
		memcpy(ret->to + at, plain->to[i],
		       plain->degree[i] * sizeof(*ret->to));
		at += plain->degree[i];
	}
	ret->first[plain->count] = at;
}

/* What is reached from some edges of node 0, and not by way of without. */
static void reach(const struct plain *plain, uint32_t from, uint32_t until,
		  uint32_t without, const bool *left_out, bool *ret)
{
	bool more = true;

	memset(ret, 0, NODES_MAX);
	ret[0] = without != 0;
	for (uint32_t e = from; ret[0] && e < until; e++)
		if (plain->to[0][e] != without && !left_out[plain->to[0][e]])
			ret[plain->to[0][e]] = true;
	while (more) {
		more = false;
		for (uint32_t i = 1; i < plain->count; i++)
			for (uint32_t e = 0; ret[i] && e < plain->degree[i];
			     e++) {
				const uint32_t to = plain->to[i][e];

				if (ret[to] || to == without || left_out[to])
					continue;
				ret[to] = more = true;
			}
	}
}

/* The last of a node's dominators is the one that all others dominate. */
static void check_part(const struct plain *plain, uint32_t from, uint32_t until,
		       const bool *left_out, const struct dominators *found)
{
	bool reached[NODES_MAX], still[NODES_MAX][NODES_MAX];
	uint32_t depth[NODES_MAX] = { 0 };

	reach(plain, from, until, NODES_MAX, left_out, reached);
	for (uint32_t d = 0; d < plain->count; d++) {
		reach(plain, from, until, d, left_out, still[d]);
		for (uint32_t i = 0; i < plain->count; i++)
			depth[i] += d != i && !still[d][i];
	}
	for (uint32_t i = 1; i < plain->count; i++) {
		uint32_t wanted = i;

		if (!reached[i])
			continue;
		for (uint32_t d = 0; d < plain->count; d++)
			if (d != i && reached[d] && !still[d][i] &&
			    (wanted == i || depth[d] > depth[wanted]))
				wanted = d;
		ck_assert_uint_eq(found->of[i], wanted);
	}
}

static void check_order(const struct plain *plain,
			const struct dominators *found)
{
	bool seen[NODES_MAX] = { false };

	for (uint32_t i = 0; i < found->reached; i++) {
		const uint32_t node = found->order[i];

		ck_assert_uint_lt(node, plain->count);
		ck_assert(!seen[node]);
		ck_assert(!i || seen[found->of[node]]);
		seen[node] = true;
	}
}

START_TEST(random_graphs)
{
	for (int round = 0; round < 20000; round++) {
		bool none[NODES_MAX] = { false }, strong[NODES_MAX];
		bool all[NODES_MAX];
		struct plain plain;
		struct directed graph;
		struct dominators found;
		uint32_t reached = 0;

		make_random(&plain);
		copy(&plain, &graph);
		dominators_find(&graph, &found);
		reach(&plain, 0, plain.degree[0], NODES_MAX, none, all);
		for (uint32_t i = 0; i < plain.count; i++)
			reached += all[i];
		ck_assert_uint_eq(found.reached, reached);
		check_order(&plain, &found);
		check_part(&plain, 0, plain.strong, none, &found);
		reach(&plain, 0, plain.strong, NODES_MAX, none, strong);
		strong[0] = false;
		check_part(&plain, plain.strong, plain.degree[0], strong,
			   &found);
		dominators_fini(&found);
	}
}
END_TEST

/* A list of a million nodes, each of which leads back to the first one, too. */
START_TEST(long_list)
{
	const uint32_t count = 1000000;
	struct directed graph = { .count = count, .strong = 1 };
	struct dominators found;
	uint32_t at = 0;

	graph.first = xcalloc(count + 1, sizeof(*graph.first));
	graph.to = xcalloc(2 * (size_t)count, sizeof(*graph.to));
	for (uint32_t i = 0; i < count; i++) {
		graph.first[i] = at;
		if (i + 1 < count)
			graph.to[at++] = i + 1;
		if (i)
			graph.to[at++] = 1;
	}
	graph.first[count] = at;
	dominators_find(&graph, &found);
	ck_assert_uint_eq(found.reached, count);
	for (uint32_t i = 1; i < count; i++)
		ck_assert_uint_eq(found.of[i], i - 1);
	dominators_fini(&found);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dominators");
	TCase *tcase = tcase_create("dominators");

	tcase_add_test(tcase, random_graphs);
	tcase_add_test(tcase, long_list);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
