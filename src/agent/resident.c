/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include "sysdeps/linux/pagemap.h"

/*
 * The kernel counts as the process's what it touches of our memory: rings, once
 * round, and what hooks look up.
 */

static bool count(struct pagemap *map, taddr_t begin, taddr_t end,
		  uint64_t *ret)
{
	struct page_run run;

	for (*ret = 0; begin < end; begin = run.end) {
		if (pagemap_next(map, begin, end, &run) || run.end <= begin)
			return false;
		*ret += run.end - run.begin;
	}
	return true;
}

bool agent_resident(const struct agent *agent, pid_t pid, uint64_t *ret)
{
	struct pagemap map;
	bool counted;

	if (pagemap_open(&map, pid))
		return false;
	counted =
		count(&map, agent->base, agent->base + agent_addresses(), ret);
	pagemap_close(&map);
	return counted;
}
