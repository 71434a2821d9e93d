/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/beginnings.h"

#include <stdlib.h>

#include "base/strbuf.h"
#include "base/xalloc.h"

struct beginning {
	uint64_t handle;
	size_t at, size; /* in .bytes */
};

struct beginnings {
	struct beginning *list; /* sealed: by handle */
	size_t count, room;
	struct strbuf bytes;
};

struct beginnings *beginnings_new(void)
{
	return xcalloc(1, sizeof(struct beginnings));
}

void beginnings_free(struct beginnings *beginnings)
{
	if (!beginnings)
		return;
	free(beginnings->list);
	strbuf_fini(&beginnings->bytes);
	free(beginnings);
}

void beginnings_add(struct beginnings *beginnings, uint64_t handle,
		    const uint8_t *bytes, size_t size)
{
	struct beginnings *own = beginnings;

	own->list =
		xgrow(own->list, own->count, &own->room, sizeof(*own->list));
	own->list[own->count++] = (struct beginning){
		.handle = handle,
		.at = own->bytes.length,
		.size = size,
	};
	strbuf_add(&own->bytes, bytes, size);
}

static int compare(const void *a, const void *b)
{
	const struct beginning *x = a, *y = b;

	return (x->handle > y->handle) - (x->handle < y->handle);
}

void beginnings_seal(struct beginnings *beginnings)
{
	if (beginnings->count)
		qsort(beginnings->list, beginnings->count,
		      sizeof(*beginnings->list), compare);
}

const uint8_t *beginnings_find(const struct beginnings *beginnings,
			       uint64_t handle, size_t *size_ret)
{
	const struct beginning wanted = { .handle = handle };
	const struct beginning *found = NULL;

	if (beginnings && beginnings->count)
		found = bsearch(&wanted, beginnings->list, beginnings->count,
				sizeof(wanted), compare);
	if (!found)
		return NULL;
	*size_ret = found->size;
	return (const uint8_t *)strbuf_text(&beginnings->bytes) + found->at;
}
