/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot of memory that nobody vouches for: as a file; and (most are refused
 * by their checksums) as what is in its blocks: for each a byte for how many
 * entries there are, two for how long it is, and that. What could be read is
 * asked everything, and compared with itself.
 */
#include <string.h>

#include "memory/held.h"
#include "memory/holders.h"
#include "recording/block.h"
#include "report/usage/difference_text.h"
#include "report/usage/held_flame.h"
#include "report/usage/held_text.h"
#include "report/usage/holders_text.h"
#include "report/usage/json.h"
#include "report/usage/leaks_text.h"
#include "report/usage/text.h"
#include "snapshot/difference.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void ask_for(const struct snapshot *snapshot, const char *whose)
{
	struct strbuf out = { 0 };
	struct holders holders;

	if (!holders_find(&snapshot->leaks, snapshot->names, &snapshot->owners,
			  whose, &holders)) {
		holders_text(&snapshot->leaks, &holders, 10, &out);
		json_decref(holders_json(&snapshot->leaks, &holders));
	}
	holders_fini(&holders);
	strbuf_fini(&out);
}

static void ask_owners(const struct snapshot *snapshot)
{
	struct strbuf out = { 0 };
	struct held_tree tree;

	if (held_find(&snapshot->leaks, snapshot->names, &tree))
		return;
	held_text(&snapshot->leaks, &tree, 10, &out);
	json_decref(held_json(&snapshot->leaks, &tree));
	held_fold(&tree, &out);
	held_fini(&tree);
	strbuf_fini(&out);
}

static void ask_blocks(const struct snapshot *snapshot)
{
	const struct blocks *blocks = &snapshot->leaks.glibc.blocks;
	struct strbuf out = { 0 };
	struct difference difference;

	leaks_text(&snapshot->leaks, 10, &out);
	json_decref(leaks_json(&snapshot->leaks));
	for (size_t i = 0; i < blocks->count && i < 8; i++) {
		const char *class =
			block_names_class(snapshot->names, &blocks->list[i]);
		const struct debug_step step =
			block_names_step(snapshot->names, &blocks->list[i]);
		char whose[32];

		snprintf(whose, sizeof(whose), "0x%llx",
			 (unsigned long long)blocks->list[i].address);
		ask_for(snapshot, whose);
		if (class)
			ask_for(snapshot, class);
		if (step.type)
			ask_for(snapshot, step.type);
	}
	if (snapshot->has_graph)
		ask_owners(snapshot);
	difference_find(snapshot, snapshot, &difference);
	difference_text(snapshot, snapshot, &difference, 10, &out);
	json_decref(difference_json(snapshot, snapshot, &difference));
	difference_fini(&difference);
	strbuf_fini(&out);
}

static void play(const void *bytes, size_t size)
{
	struct strbuf out = { 0 };
	struct snapshot snapshot;

	if (snapshot_read(bytes, size, &snapshot))
		return;
	memory_text(&snapshot.view, 10, &out);
	json_decref(memory_json(&snapshot.view));
	if (snapshot.has_blocks)
		ask_blocks(&snapshot);
	strbuf_fini(&out);
	snapshot_fini(&snapshot);
}

#define BLOCK_HEAD 3

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct strbuf file = { 0 };
	size_t at = 0;

	play(bytes, size);
	snapshot_head_add(&file);
	for (uint32_t sequence = 0; at + BLOCK_HEAD <= size; sequence++) {
		const struct block_head head = { .kind = BLOCK_SNAPSHOT,
						 .sequence = sequence,
						 .count = bytes[at] };
		size_t length = bytes[at + 1] | bytes[at + 2] << 8;

		at += BLOCK_HEAD;
		if (length > size - at)
			length = size - at;
		block_add(&file, &head, bytes + at, length);
		at += length;
	}
	play(file.text, file.length);
	strbuf_fini(&file);
	return 0;
}
