/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "naming/tail_path.h"

#include <errno.h>
#include <string.h>

/* So many tail calls are looked at: the number of ways may grow without
   bounds. */
#define STEPS_MAX 4096

struct tail_path {
	uint64_t sites[TAIL_PATH_MAX];
	size_t count;
};

struct tail_walk {
	const struct tail_map *map;
	uint64_t functions[TAIL_PATH_MAX + 1]; /* that the path goes through */
	struct tail_path path;
	unsigned steps;
	struct tail_path first; /* of the ways that arrive */
	bool arrived;
	size_t before, behind; /* what all of them share with it at its ends */
	struct tail_path lost; /* what ways that lead nobody knows where have
				  in common at their beginning */
	bool is_lost;
};

static size_t common_beginning(const struct tail_path *a,
			       const struct tail_path *b)
{
	size_t n = 0;

	while (n < a->count && n < b->count && a->sites[n] == b->sites[n])
		n++;
	return n;
}

static size_t common_end(const struct tail_path *a, const struct tail_path *b)
{
	size_t n = 0;

	while (n < a->count && n < b->count &&
	       a->sites[a->count - 1 - n] == b->sites[b->count - 1 - n])
		n++;
	return n;
}

static void arrive(struct tail_walk *walk)
{
	size_t before, behind;

	if (!walk->arrived) {
		walk->arrived = true;
		walk->first = walk->path;
		walk->before = walk->behind = walk->path.count;
		return;
	}
	before = common_beginning(&walk->first, &walk->path);
	behind = common_end(&walk->first, &walk->path);
	if (before < walk->before)
		walk->before = before;
	if (behind < walk->behind)
		walk->behind = behind;
}

static void get_lost(struct tail_walk *walk)
{
	if (walk->is_lost)
		walk->lost.count = common_beginning(&walk->lost, &walk->path);
	else
		walk->lost = walk->path;
	walk->is_lost = true;
}

static bool was_passed(const struct tail_walk *walk, uint64_t function)
{
	for (size_t i = 0; i <= walk->path.count; i++)
		if (walk->functions[i] == function)
			return true;
	return false;
}

/* Nothing is certain any more, whatever else is found. */
static bool is_hopeless(const struct tail_walk *walk)
{
	return walk->steps == STEPS_MAX ||
	       (walk->is_lost && !walk->lost.count) ||
	       (walk->arrived && !walk->before && !walk->behind);
}

static int look_from(struct tail_walk *walk, uint64_t function);

/*
 * A loop needn't be followed: whoever has gone round it, has also taken what
 * the ways without it have in common.
 */
static int take(struct tail_walk *walk, const struct debug_tail *tail)
{
	struct tail_path *path = &walk->path;
	uint64_t entry = 0;
	int err = 0;

	if (path->count == TAIL_PATH_MAX - 1) {
		get_lost(walk);
		return 0;
	}
	walk->steps++;
	path->sites[path->count++] = tail->address;
	walk->functions[path->count] = 0;
	switch (walk->map->step(walk->map->context, &tail->target, &entry)) {
	case TAIL_ARRIVED:
		arrive(walk);
		break;
	case TAIL_UNKNOWN:
		get_lost(walk);
		break;
	case TAIL_FUNCTION:
		if (!was_passed(walk, entry))
			err = look_from(walk, entry);
		break;
	}
	path->count--;
	return err;
}

static int look_from(struct tail_walk *walk, uint64_t function)
{
	const struct debug_tails *tails;
	int err = walk->map->tails(walk->map->context, function, &tails);

	if (err == -EAGAIN)
		return err;
	if (err || !tails->complete) {
		get_lost(walk);
		return 0;
	}
	walk->functions[walk->path.count] = function;
	for (uint32_t i = 0; i < tails->count && !is_hopeless(walk); i++) {
		err = take(walk, &tails->list[i]);
		if (err)
			return err;
	}
	return 0;
}

static int result_of(const struct tail_walk *walk, uint64_t ret[TAIL_PATH_MAX])
{
	const struct tail_path *first = &walk->first;
	size_t before = walk->before, behind = walk->behind;

	if (!walk->arrived || is_hopeless(walk))
		return 0;
	if (walk->is_lost) {
		size_t common = common_beginning(first, &walk->lost);

		behind = 0;
		before = common < before ? common : before;
	}
	if (before + behind > first->count)
		behind = first->count - before;
	memcpy(ret, first->sites, before * sizeof(*ret));
	memcpy(ret + before, first->sites + first->count - behind,
	       behind * sizeof(*ret));
	return before + behind;
}

int tail_path_find(const struct tail_map *map, uint64_t from,
		   uint64_t ret[TAIL_PATH_MAX])
{
	struct tail_walk walk = { .map = map };
	int err = look_from(&walk, from);

	return err ? err : result_of(&walk, ret);
}
