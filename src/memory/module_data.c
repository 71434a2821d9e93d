/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/module_data.h"

#include "base/xalloc.h"

/* A module with more data than this isn't looked through. */
#define DATA_MAX (UINT64_C(64) << 20)

static bool is_data(const struct mapping *mapping)
{
	return (mapping->kind == MAPPING_PROGRAM_DATA ||
		mapping->kind == MAPPING_LIBRARY_DATA) &&
	       mapping->writable && mapping->readable;
}

bool module_data_next(struct memory *memory, const struct mappings *mappings,
		      size_t *at, struct module_data *ret)
{
	const struct mapping *list = mappings->list;
	size_t i = *at;
	taddr_t end;

	while (i < mappings->count && !is_data(&list[i]))
		i++;
	*at = i;
	if (i == mappings->count)
		return false;
	ret->start = list[i].start;
	end = list[i].end;
	while (++i < mappings->count && list[i].start == end &&
	       is_data(&list[i]))
		end = list[i].end;
	*at = i;
	if (end - ret->start > DATA_MAX)
		end = ret->start + DATA_MAX;
	ret->bytes = xmalloc(end - ret->start);
	ret->size = memory_read_some(memory, ret->start, ret->bytes,
				     end - ret->start);
	return true;
}
