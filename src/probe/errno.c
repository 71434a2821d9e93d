/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/private.h"

bool errno_place(const struct moment *moment, taddr_t *ret)
{
	return asked_evaluate(moment->space, ASKED_ERRNO, moment->regs,
			      moment->memory, NULL, ret);
}

int errno_read(const struct moment *moment)
{
	taddr_t place;
	int32_t error;

	if (moment->alone)
		return moment->error;
	if (!errno_place(moment, &place) ||
	    memory_read(moment->memory, place, &error, sizeof(error)))
		return 0;
	return error > 0 && error < 4096 ? error : 0;
}
