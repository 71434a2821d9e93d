/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/affinity.h"

void affinity_init(struct affinity *affinity)
{
	affinity->processor = -1;
	if (sched_getaffinity(0, sizeof(affinity->allowed), &affinity->allowed))
		CPU_ZERO(&affinity->allowed);
}

void affinity_keep_to(struct affinity *affinity, int processor)
{
	cpu_set_t set = affinity->allowed;

	if (processor >= CPU_SETSIZE ||
	    (processor >= 0 && !CPU_ISSET(processor, &affinity->allowed)))
		processor = -1;
	if (processor == affinity->processor)
		return;
	if (processor >= 0) {
		CPU_ZERO(&set);
		CPU_SET(processor, &set);
	}
	if (!sched_setaffinity(0, sizeof(set), &set))
		affinity->processor = processor;
}
