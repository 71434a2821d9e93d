/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/rseq.h"

#include <stdint.h>
#include <sys/ptrace.h>

#include "sysdeps/linux/procmem.h"

/* Since Linux 5.13; C libraries may not know it yet. */
#define GET_RSEQ_CONFIGURATION 0x420f

struct rseq_configuration {
	uint64_t area;
	uint32_t size, signature, flags, pad;
};

#define RSEQ_SEQUENCE 8 /* the one that it is in, or 0 */

bool rseq_is_entered(pid_t tid)
{
	struct rseq_configuration rseq = { .area = 0 };
	struct procmem memory;
	uint64_t sequence;
	int err;

	if (ptrace((enum __ptrace_request)GET_RSEQ_CONFIGURATION, tid,
		   sizeof(rseq), &rseq) < 0)
		return true; /* it may */
	if (!rseq.area)
		return false;
	procmem_init(&memory, tid);
	err = memory_read(&memory.memory, rseq.area + RSEQ_SEQUENCE, &sequence,
			  sizeof(sequence));
	procmem_fini(&memory);
	return err || sequence;
}
