/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_MODULE_DATA_H
#define CALLTRAP_MODULE_DATA_H

#include <stdbool.h>

#include "base/memory.h"
#include "memory/mappings.h"

/* Variables of a module: .data and .bss, as far as they can be written. */
struct module_data {
	taddr_t start;
	uint8_t *bytes; /* to be freed */
	size_t size;    /* that could be read */
};

/* The next one, from mapping *at on, which is set behind it; false: none. */
bool module_data_next(struct memory *memory, const struct mappings *mappings,
		      size_t *at, struct module_data *ret);

#endif
