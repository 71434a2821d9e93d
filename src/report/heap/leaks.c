/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/leaks.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "heap/caller.h"

/* Of ratios, and for what is just being made. */
#define NEARLY 0.1
#define MAKING 2

/* Where the program's own code called. */
struct own_call {
	const struct code *code;
	uint64_t address;
};

/* The first row of a call with that number of blocks. */
struct leak {
	struct own_call call;
	struct heap_row *row;
	struct leak *next; /* of the same call, with another number */
	UT_hash_handle hh;
};

static bool is_multiple(double many, double few)
{
	double times = (uint64_t)(many / few + 0.5);
	double difference = many - times * few;

	return difference <= MAKING * times + NEARLY * few &&
	       -difference <= MAKING * times + NEARLY * few;
}

static bool belong_together(const struct heap_row *a, const struct heap_row *b)
{
	return a->blocks > b->blocks ? is_multiple(a->blocks, b->blocks) :
				       is_multiple(b->blocks, a->blocks);
}

static void add_part(struct heap_row *row, struct heap_row *part)
{
	part->is_part = true;
	row->parts++;
	row->part_bytes += part->bytes;
	row->part_blocks += part->blocks;
}

static void gather_row(struct leak **leaks, const struct own_call *call,
		       struct heap_row *row)
{
	struct leak *leak, *first;

	HASH_FIND(hh, *leaks, call, sizeof(*call), first);
	for (leak = first; leak; leak = leak->next) {
		if (belong_together(leak->row, row)) {
			add_part(leak->row, row);
			return;
		}
	}
	leak = xcalloc(1, sizeof(*leak));
	memcpy(&leak->call, call, sizeof(*call));
	leak->row = row;
	if (first) {
		leak->next = first->next;
		first->next = leak;
	} else {
		HASH_ADD(hh, *leaks, call, sizeof(*call), leak);
	}
}

static void free_leaks(struct leak *leaks)
{
	struct leak *first, *next;

	HASH_ITER(hh, leaks, first, next) {
		HASH_DEL(leaks, first);
		while (first) {
			struct leak *leak = first;

			first = leak->next;
			free(leak);
		}
	}
}

void heap_leaks_gather(const struct heap_report_config *config,
		       struct heap_rows *rows)
{
	struct leak *leaks = NULL;

	for (size_t i = 0; i < rows->count; i++) {
		struct heap_row *row = rows->list[i];
		struct frame frame;
		struct own_call call;

		if (!row->site || !row->blocks ||
		    row->verdict->level != VERDICT_LIKELY ||
		    !heap_caller_own_frame(config->stacks, row->site, &frame))
			continue;
		memset(&call, 0, sizeof(call));
		call.code = frame.code;
		call.address = frame.address;
		gather_row(&leaks, &call, row);
	}
	free_leaks(leaks);
}
