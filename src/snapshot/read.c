/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/xalloc.h"
#include "recording/block.h"
#include "recording/numbers.h"
#include "snapshot/read_private.h"

bool snapshot_is(const void *bytes, size_t size)
{
	return size >= SNAPSHOT_MAGIC_SIZE &&
	       !memcmp(bytes, SNAPSHOT_MAGIC, SNAPSHOT_MAGIC_SIZE);
}

static const char *check_head(const uint8_t *bytes, size_t size,
			      unsigned *version_ret)
{
	struct cursor in = cursor_of(bytes, size);
	uint16_t version, length;

	if (!snapshot_is(bytes, size))
		return "it is no snapshot of memory";
	if (size < SNAPSHOT_HEAD_SIZE)
		return "it ends within its head";
	cursor_skip(&in, SNAPSHOT_MAGIC_SIZE);
	if (cursor_u32(&in) != SNAPSHOT_ORDER)
		return "its head is damaged";
	version = cursor_u16(&in);
	if (version > SNAPSHOT_VERSION)
		return "it is of a newer version than this calltrap";
	length = cursor_u16(&in);
	(void)cursor_u32(&in);
	*version_ret = version;
	if (!version || length != SNAPSHOT_HEAD_SIZE ||
	    cursor_u32(&in) != crc32(0, bytes, SNAPSHOT_HEAD_SIZE - 4))
		return "its head is damaged";
	return NULL;
}

/* ---- blocks ---- */

static bool read_entries(struct snapshot_reader *reader,
			 enum snapshot_part part, uint32_t count,
			 struct cursor *in)
{
	for (uint32_t i = 0; i < count; i++)
		if (!snapshot_read_entry(reader, part, in) || in->bad)
			return false;
	return cursor_at_end(in);
}

static const char *read_block(struct snapshot_reader *reader,
			      const struct block_head *head,
			      const uint8_t *stored)
{
	CLEANUP(strbuf_fini) struct strbuf plain = { 0 };
	const char *problem = block_expand(head, stored, &plain);
	struct cursor in;
	uint64_t part;

	if (problem)
		return problem;
	in = cursor_of(strbuf_text(&plain), plain.length);
	part = take_varint(&in);
	if (!part || part >= PARTS || in.bad)
		return "a block is of a kind that isn't known";
	return read_entries(reader, part, head->count, &in) ?
		       NULL :
		       "a block makes no sense";
}

static const char *read_blocks(struct snapshot_reader *reader,
			       const uint8_t *bytes, size_t size)
{
	size_t at = SNAPSHOT_HEAD_SIZE;

	for (uint32_t sequence = 0; at < size; sequence++) {
		struct block_head head;
		const char *problem;

		if (reader->ended)
			return "it goes on behind its end";
		if (size - at < BLOCK_HEAD_SIZE)
			return "it was cut";
		problem = block_head_parse(bytes + at, &head);
		if (problem)
			return problem;
		at += BLOCK_HEAD_SIZE;
		if (head.kind != BLOCK_SNAPSHOT || head.sequence != sequence)
			return "a block is missing, or of another file";
		if (size - at < head.stored_size)
			return "it was cut";
		problem = read_block(reader, &head, bytes + at);
		if (problem)
			return problem;
		at += head.stored_size;
	}
	return reader->ended ? NULL : "it was cut";
}

/* ---- what follows from that ---- */

static void count_blocks(struct leaks *leaks)
{
	const struct blocks *blocks = &leaks->glibc.blocks;

	for (size_t i = 0; i < blocks->count; i++) {
		const struct block *block = &blocks->list[i];
		struct reach_total *total = &leaks->reach.totals[block->mark];

		total->blocks++;
		total->bytes += block_usable(block);
		leaks->reach.block_bytes += block_usable(block);
	}
}

static void conclude(struct snapshot_reader *reader)
{
	struct snapshot *snapshot = reader->snapshot;
	struct leaks *leaks = &snapshot->leaks;

	memory_view_sum_up(&snapshot->view);
	snapshot->has_blocks = reader->flags & PROCESS_HEAP;
	if (!snapshot->has_blocks)
		return;
	leaks->pid = snapshot->view.pid;
	memcpy(leaks->name, snapshot->view.name, sizeof(leaks->name));
	leaks->copied = reader->flags & PROCESS_COPIED;
	leaks->swapped = reader->flags & PROCESS_SWAPPED;
	leaks->picture.huge_known = reader->version > 3 &&
				    reader->flags & PROCESS_HUGE;
	snapshot->has_graph = reader->graph;
	snapshot->view.has_glibc = true;
	snapshot->view.glibc = leaks->glibc;
	count_blocks(leaks);
	leaks_group(leaks, snapshot->names);
}

static const char *read_all(struct snapshot_reader *reader,
			    const uint8_t *bytes, size_t size)
{
	const char *problem = check_head(bytes, size, &reader->version);

	if (!problem && reader->version > 1)
		reader->graph = reader->snapshot->leaks.kept =
			xcalloc(1, sizeof(*reader->graph));
	if (!problem)
		problem = read_blocks(reader, bytes, size);
	return problem;
}

const char *snapshot_read(const void *bytes, size_t size, struct snapshot *ret)
{
	struct snapshot_reader reader = { .snapshot = ret,
					  .flags = ~UINT64_C(0) };
	const char *problem;

	*ret = (struct snapshot){ .wall = 0 };
	/* Of which nothing is there. */
	picture_init(&ret->leaks.picture);
	blocks_init(&ret->leaks.glibc.blocks);
	reader.kept = kept_names_new(&ret->leaks.glibc.blocks);
	ret->names = &reader.kept->names;
	problem = read_all(&reader, bytes, size);
	if (problem) {
		/* Not shared with the view yet. */
		ret->has_blocks = true;
		snapshot_fini(ret);
		return problem;
	}
	conclude(&reader);
	return NULL;
}
