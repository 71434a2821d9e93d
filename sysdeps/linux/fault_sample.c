/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/fault_sample.h"

#include <linux/perf_event.h>
#include <string.h>
#include <time.h>

#include "base/cursor.h"

void fault_sample_ask(struct perf_event_attr *attr)
{
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			    PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			    PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = arch_sample_registers;
	attr->sample_stack_user = FAULT_SAMPLE_STACK;
	/* The same clock as all other times. */
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

static void parse_registers(struct cursor *c, struct fault_sample *ret)
{
	uint64_t values[ARCH_SAMPLE_REGISTERS];
	uint64_t abi = cursor_u64(c);

	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		values[i] = cursor_u64(c);
	ret->has_regs = !c->bad;
	arch_regs_of_sample(values, &ret->regs);
}

static void parse_stack(struct cursor *c, struct fault_sample *ret)
{
	uint64_t room = cursor_u64(c), size;

	if (!room)
		return;
	ret->stack = cursor_bytes(c, room);
	size = cursor_u64(c);
	if (size > room)
		c->bad = true;
	ret->stack_size = size;
	/* It ends where memory does, or where the copy had to. */
	ret->stack_goes_on = size == room;
}

bool fault_sample_parse(const struct perf_record *record,
			struct fault_sample *ret)
{
	struct cursor c = cursor_of(record->body, record->size);

	*ret = (struct fault_sample){ 0 };
	ret->in_kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
			 PERF_RECORD_MISC_KERNEL;
	cursor_skip(&c, 8); /* where the kernel stands, then */
	ret->pid = (pid_t)cursor_u32(&c);
	ret->tid = (pid_t)cursor_u32(&c);
	ret->time = cursor_u64(&c);
	ret->address = cursor_u64(&c);
	parse_registers(&c, ret);
	parse_stack(&c, ret);
	return !c.bad;
}
