/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>

#include "agent/shared.h"

#define PAGE 4096

static size_t strides_of(const struct shared_table *table)
{
	return ((table->high - table->low) >> AGENT_STRIDE_BITS) + 2;
}

static bool has_place(const struct shared *shared,
		      const struct shared_table *table)
{
	return shared->tables < AGENT_TABLES && table->span_count &&
	       table->low < table->high &&
	       table->high - table->low <= UINT32_MAX &&
	       table->span_count <= AGENT_SPANS - shared->spans &&
	       strides_of(table) <= AGENT_STRIDES - shared->strides &&
	       table->rule_count < AGENT_SPAN_RULES - shared->span_rules;
}

static bool allocate(const struct shared *shared, uint64_t offset,
		     uint64_t size)
{
	const uint64_t from = offset / PAGE * PAGE;

	return !fallocate(shared->fd, 0, (off_t)from,
			  (off_t)(offset + size - from));
}

/* Charged to us, and not to who walks. */
static bool get_memory(const struct shared *shared,
		       const struct shared_table *table)
{
	const struct agent_tables *code = &shared->memory->code;
	const uint64_t begin = (uintptr_t)shared->memory;
	const uint64_t spans = table->span_count * sizeof(*code->spans);
	const uint64_t strides = strides_of(table) * sizeof(*code->strides);
	const uint64_t all =
		spans + strides + offsetof(struct agent_tables, strides);

	if (shared->has_room && !shared->has_room(shared->context, all))
		return false;
	return allocate(shared, (uintptr_t)code - begin,
			offsetof(struct agent_tables, strides)) &&
	       allocate(shared,
			(uintptr_t)&code->strides[shared->strides] - begin,
			strides) &&
	       allocate(shared, (uintptr_t)&code->spans[shared->spans] - begin,
			spans);
}

bool shared_begin_table(struct shared *shared, struct shared_table *table)
{
	struct agent_tables *code = &shared->memory->code;
	size_t i;

	if (!has_place(shared, table) || !get_memory(shared, table))
		return false;
	table->first_rule = shared->span_rules;
	table->first_span = shared->spans;
	table->first_stride = shared->strides;
	for (i = 1; i < table->rule_count; i++)
		code->rules[table->first_rule + i] = table->rules[i];
	shared->span_rules += table->rule_count;
	shared->spans += table->span_count;
	shared->strides += strides_of(table);
	return true;
}

void shared_put_span(struct shared *shared, const struct shared_table *table,
		     size_t number, uint32_t offset, uint32_t rule)
{
	shared->memory->code.spans[table->first_span + number] =
		(struct agent_span){
			.offset = offset,
			.rule = rule ? table->first_rule + rule : 0,
		};
}

/*
 * The last span that begins up to each stride's begin. What lies before the first one has
 * that one's, so it must be none: spans of other tables may lie before it.
 */
static void make_strides(struct shared *shared,
			 const struct shared_table *table)
{
	struct agent_tables *code = &shared->memory->code;
	const struct agent_span *spans = &code->spans[table->first_span];
	const size_t count = strides_of(table);
	size_t i, last = 0;

	for (i = 0; i < count; i++) {
		while (last + 1 < table->span_count &&
		       spans[last + 1].offset <= i << AGENT_STRIDE_BITS)
			last++;
		code->strides[table->first_stride + i] =
			(uint32_t)(table->first_span + last);
	}
}

void shared_end_table(struct shared *shared, const struct shared_table *table)
{
	struct agent_table *own =
		&shared->memory->code.tables[shared->tables++];

	make_strides(shared, table);
	own->low = table->low;
	own->stride = table->first_stride;
	__atomic_store_n(&own->high, table->high, __ATOMIC_RELEASE);
}

void shared_forget_tables(struct shared *shared, taddr_t low, taddr_t high)
{
	struct agent_table *tables = shared->memory->code.tables;
	unsigned i;

	for (i = 0; i < shared->tables; i++)
		if (tables[i].low < high && low < tables[i].high)
			__atomic_store_n(&tables[i].high, 0, __ATOMIC_RELEASE);
}
