/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of addresses: which are stacks', which can be read, and how to unwind
   from there. */
#include "agent/shared.h"

#include <string.h>

bool shared_is_on_other(const struct shared *shared, taddr_t address)
{
	return address >= shared->memory->other_low &&
	       address < shared->memory->other_high;
}

/* Who reads the upper end twice has the lower one that belongs to it. */
void shared_set_other(struct shared *shared, const struct shared_stack *stacks)
{
	struct agent_shared *memory = shared->memory;

	__atomic_store_n(&memory->other_high, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&memory->other_low, stacks->low, __ATOMIC_RELEASE);
	__atomic_store_n(&memory->other_high, stacks->high, __ATOMIC_RELEASE);
}

/* Who reads the lower end twice has the upper one that belongs to it. */
static void set_range(struct agent_range *range, taddr_t low, taddr_t high)
{
	__atomic_store_n(&range->low, AGENT_RANGE_NOTHING, __ATOMIC_RELEASE);
	__atomic_store_n(&range->high, high, __ATOMIC_RELEASE);
	__atomic_store_n(&range->low, low, __ATOMIC_RELEASE);
}

static bool holds(const struct agent_range *range, taddr_t address)
{
	return range->low <= address && address < range->high;
}

bool shared_is_readable(const struct shared *shared, taddr_t address)
{
	const struct agent_range *ways =
		&shared->memory->ranges[agent_range_home(address)];
	unsigned i;

	for (i = 0; i < AGENT_RANGE_WAYS; i++)
		if (holds(&ways[i], address))
			return true;
	return false;
}

void shared_set_readable(struct shared *shared, taddr_t address, taddr_t low,
			 taddr_t high)
{
	struct agent_range *ways =
		&shared->memory->ranges[agent_range_home(address)];
	unsigned i;

	/* One that has grown takes its own place again. */
	for (i = 0; i < AGENT_RANGE_WAYS - 1; i++)
		if (!ways[i].high || (ways[i].low < high && low < ways[i].high))
			break;
	if (i == AGENT_RANGE_WAYS - 1)
		i = shared->next_way++ % AGENT_RANGE_WAYS;
	set_range(&ways[i], low, high);
}

void shared_forget_readable(struct shared *shared)
{
	unsigned i;

	for (i = 0; i < AGENT_RANGES; i++)
		set_range(&shared->memory->ranges[i], 0, 0);
}

static struct agent_row *find_row(const struct shared *shared, taddr_t address,
				  taddr_t wanted)
{
	const unsigned home = agent_row_home(address);
	unsigned i;

	for (i = 0; i < AGENT_ROW_PROBING; i++) {
		struct agent_row *row =
			&shared->memory->rows[(home + i) % AGENT_ROWS];

		if (row->address == wanted)
			return row;
		if (!row->address)
			break;
	}
	return NULL;
}

bool shared_has_row(const struct shared *shared, taddr_t address)
{
	return find_row(shared, address, address);
}

bool shared_add_row(struct shared *shared, taddr_t address, uint64_t rule)
{
	struct agent_row *row;

	if (shared_has_row(shared, address))
		return true;
	row = find_row(shared, address, 0);
	if (!row)
		return false;
	row->rule = rule;
	__atomic_store_n(&row->address, address, __ATOMIC_RELEASE);
	return true;
}

/* Whoever uses one meanwhile sees that the era is another. */
void shared_clear_rows(struct shared *shared)
{
	struct agent_shared *memory = shared->memory;

	__atomic_fetch_or(&memory->rows_era, 1, __ATOMIC_SEQ_CST);
	memset(memory->rows, 0, sizeof(memory->rows));
	__atomic_fetch_add(&memory->rows_era, 1, __ATOMIC_SEQ_CST);
}
