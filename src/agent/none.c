/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/remains.h"
#include "agent/ticks.h"

/* On machines that no agent is written for. */

taddr_t remains_find(const struct space *space UNUSED, taddr_t after UNUSED)
{
	return 0;
}

uint64_t remains_size_before(void)
{
	return 0;
}

size_t remains_repair_code(struct space *space UNUSED)
{
	return 0;
}

size_t remains_repair(struct space *space UNUSED)
{
	return 0;
}

bool ticks_are_used(void)
{
	return false;
}

/* What it would be asked for. */
bool ticks_are_steady(void)
{
	return false;
}
