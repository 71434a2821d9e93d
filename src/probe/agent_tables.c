/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "probe/agent_private.h"

/*
 * A rule that is missed costs a stop, and is one address's. A compiler calls malloc from
 * thousands of places, by other ways each time: so where many are missed in one module,
 * all of its rules are made, and given to the process.
 */

/*
 * That takes as long for 48 KiB of a module as a stop. Who has missed so few and misses
 * no more has paid four times for it; but mostly more are missed the more there were.
 */
#define BYTES_A_STOP (128 << 10)

/*
 * ---- kept ones ----
 *
 * A table is of an image that lies as far from its own addresses. A forked child has those
 * of its parent, and had to miss as many rules in each, and wait for them to be made.
 */

static struct agent_kept_tabler *kept_of(struct agent_engine *engine,
					 const struct module *module)
{
	unsigned i;

	for (i = 0; i < AGENT_KEPT_TABLERS; i++)
		if (engine->kept_tablers[i].tabler &&
		    unwind_tabler_is_of(engine->kept_tablers[i].tabler, module))
			return &engine->kept_tablers[i];
	return NULL;
}

static void drop(struct agent_kept_tabler *kept)
{
	unwind_tabler_free(kept->tabler);
	*kept = (struct agent_kept_tabler){ NULL, 0 };
}

static struct agent_kept_tabler *oldest(struct agent_engine *engine)
{
	struct agent_kept_tabler *kept =
		&engine->kept_tablers[engine->next_kept];

	engine->next_kept = (engine->next_kept + 1) % AGENT_KEPT_TABLERS;
	return kept;
}

static size_t kept_bytes(const struct agent_engine *engine)
{
	size_t bytes = 0;
	unsigned i;

	for (i = 0; i < AGENT_KEPT_TABLERS; i++)
		bytes += engine->kept_tablers[i].bytes;
	return bytes;
}

/* It is ours then. */
static void keep(struct agent_engine *engine, struct unwind_tabler *tabler)
{
	const size_t bytes = unwind_tabler_settle(tabler);
	struct agent_kept_tabler *place;

	if (bytes > AGENT_KEPT_TABLER_BYTES) {
		unwind_tabler_free(tabler);
		return;
	}
	do {
		place = oldest(engine);
		drop(place);
	} while (kept_bytes(engine) > AGENT_KEPT_TABLER_BYTES - bytes);
	*place = (struct agent_kept_tabler){ tabler, bytes };
}

void agent_tables_free_kept(struct agent_engine *engine)
{
	unsigned i;

	for (i = 0; i < AGENT_KEPT_TABLERS; i++)
		drop(&engine->kept_tablers[i]);
}

/* ---- what is missed ---- */

static bool overlaps(const struct agent_wish *wish, taddr_t low, taddr_t high)
{
	return wish->low < high && low < wish->high;
}

static struct agent_wish *wish_of(struct agent_space *space, taddr_t address)
{
	const struct module *module;
	struct agent_wish *wish;
	unsigned i;

	for (i = 0; i < space->wish_count; i++)
		if (overlaps(&space->wishes[i], address, address + 1))
			return &space->wishes[i];
	if (space->wish_count == ARRAY_SIZE(space->wishes))
		return NULL;
	module = module_find(space->space->space, address);
	if (!module)
		return NULL;
	wish = &space->wishes[space->wish_count++];
	*wish = (struct agent_wish){
		.low = module->low,
		.high = module->high,
		.kept = kept_of(space->engine, module),
	};
	return wish;
}

static bool is_due(const struct agent_wish *wish)
{
	return !wish->over &&
	       (wish->kept ||
		wish->missed >= (wish->high - wish->low) / BYTES_A_STOP);
}

void agent_tables_missed(struct agent_space *space, taddr_t address)
{
	struct agent_wish *wish = wish_of(space, address);

	if (!wish)
		return;
	wish->missed++;
	if (is_due(wish) && !space->tabler)
		space->engine->source.due = clock_now();
}

static uint64_t *rows_of(const struct unwind_table *table)
{
	uint64_t *rows = xcalloc(table->rule_count, sizeof(*rows));
	size_t i;

	for (i = 1; i < table->rule_count; i++)
		rows[i] = agent_row_of(&table->rules[i]);
	return rows;
}

static void put(struct agent_space *space, const struct unwind_table *table)
{
	struct shared *shared = &space->agent.shared;
	uint64_t *rows CLEANUP(xfree_cleanup) = rows_of(table);
	struct shared_table own = {
		.low = space->making.low,
		.high = space->making.high,
		.rules = rows,
		.rule_count = table->rule_count,
		.span_count = table->span_count,
	};
	size_t i;

	if (!shared_begin_table(shared, &own))
		return;
	for (i = 0; i < table->span_count; i++)
		shared_put_span(shared, &own, i, table->spans[i].offset,
				table->spans[i].rule);
	shared_end_table(shared, &own);
	diag_debug(DIAG_PROBE, "agent: %zu spans with %zu rules at %" PRIx64,
		   table->span_count, table->rule_count, own.low);
}

static void publish(struct agent_space *space,
		    const struct unwind_tabler *tabler)
{
	struct unwind_table table;

	if (unwind_tabler_table(tabler, &table))
		put(space, &table);
}

static void begin(struct agent_space *space)
{
	const struct agent_kept_tabler *kept;
	const struct module *module;
	unsigned i;

	for (i = 0; i < space->wish_count; i++)
		if (is_due(&space->wishes[i]))
			break;
	if (i == space->wish_count)
		return;
	space->wishes[i].over = true;
	space->making = space->wishes[i];
	module = module_find(space->space->space, space->making.low);
	if (!module || module->low != space->making.low)
		return;
	kept = kept_of(space->engine, module);
	if (kept)
		publish(space, kept->tabler);
	else
		space->tabler = unwind_tabler_new(module, AGENT_SPANS);
}

static void finish(struct agent_space *space)
{
	publish(space, space->tabler);
	keep(space->engine, space->tabler);
	space->tabler = NULL;
}

bool agent_tables_make(struct agent_space *space)
{
	if (!(space->engine->mode & AGENT_WITH_ROWS) ||
	    space->agent.state != AGENT_INSIDE || !space->agent.shared.memory ||
	    space->space->space->tracer->leaving)
		return false;
	if (!space->tabler)
		begin(space);
	if (!space->tabler)
		return false;
	if (unwind_tabler_go_on(space->tabler))
		return true;
	finish(space);
	return true;
}

void agent_tables_forget(struct agent_space *space, taddr_t low, taddr_t high)
{
	unsigned i, kept = 0;

	if (space->tabler && overlaps(&space->making, low, high))
		agent_tables_free(space);
	for (i = 0; i < space->wish_count; i++)
		if (!overlaps(&space->wishes[i], low, high))
			space->wishes[kept++] = space->wishes[i];
	space->wish_count = kept;
	if (space->agent.shared.memory)
		shared_forget_tables(&space->agent.shared, low, high);
}

void agent_tables_free(struct agent_space *space)
{
	unwind_tabler_free(space->tabler);
	space->tabler = NULL;
}
