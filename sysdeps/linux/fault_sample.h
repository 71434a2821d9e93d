/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FAULT_SAMPLE_H
#define CALLTRAP_FAULT_SAMPLE_H

#include <stdbool.h>
#include <sys/types.h>

#include "sysdeps/arch.h"
#include "sysdeps/linux/perf_ring.h"

/* One page fault, as the kernel has recorded it. */
struct fault_sample {
	pid_t pid, tid;
	uint64_t time;   /* monotonic */
	taddr_t address; /* that was touched */
	bool in_kernel;  /* … by the kernel, in a system call */
	bool has_regs;
	struct regs regs;     /* of the program, for unwinding */
	const uint8_t *stack; /* from the stack pointer on */
	size_t stack_size;
	bool stack_goes_on; /* there was more than was copied */
};

/* What is to be in a sample: perf_event_attr's members of these names. */
struct perf_event_attr;
void fault_sample_ask(struct perf_event_attr *attr);

/*
 * From a record of type PERF_RECORD_SAMPLE of such an event. False when it
 * makes no sense. Good as long as the record.
 */
bool fault_sample_parse(const struct perf_record *record,
			struct fault_sample *ret);

/* The most that such a record takes. */
#define FAULT_SAMPLE_MAX 8448

/* How much of the stack is copied. */
#define FAULT_SAMPLE_STACK 8192

#endif
