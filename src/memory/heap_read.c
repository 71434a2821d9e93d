/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/heap_read.h"

#include "memory/mallocng.h"

int heap_read(struct memory *memory, struct mappings *mappings,
	      struct glibc *ret)
{
	const int err = glibc_read(memory, mappings, ret);

	if (!err)
		return 0;
	glibc_fini(ret);
	return mallocng_read(memory, mappings, ret);
}
