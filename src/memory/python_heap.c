/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/python_heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "memory/python_types.h"
#include "memory/window.h"

/* struct pool_header, Objects/obmalloc.c; pools have 16 KiB since 3.10, 4 KiB
   before. */
struct pool_head {
	uint64_t used; /* the upper half is none of it */
	uint64_t first_free, next, previous;
	uint32_t arena, size_index, carved, carved_most;
};

#define POOL_HEAD   48
#define POOL_OLD    4096
#define POOL_NEW    16384
#define PIECE       16
#define SIZES       32
#define PIECES_MOST (POOL_NEW / PIECE)

struct python_look {
	struct window *window;
	struct python_types *types;
	struct object_heap *heap;
	const struct object_observer *observer; /* or NULL */
	size_t pool_size;                       /* 0: none was found yet */
};

bool python_is_there(const struct mappings *mappings)
{
	static const char *const files[] = { "libpython3", "python3" };

	return object_heap_has_file(mappings, files, ARRAY_SIZE(files));
}

/* ---- pools ---- */

static size_t piece_size(const struct pool_head *head)
{
	return ((size_t)head->size_index + 1) * PIECE;
}

static bool is_pool(const struct pool_head *head, taddr_t at, size_t size)
{
	const size_t piece = piece_size(head);
	const uint32_t used = (uint32_t)head->used;

	return head->size_index < SIZES && head->carved_most == size - piece &&
	       head->carved >= POOL_HEAD + piece && head->carved <= size &&
	       (head->carved - POOL_HEAD) % piece == 0 &&
	       used <= (head->carved - POOL_HEAD) / piece &&
	       (!head->first_free || head->first_free - at < size);
}

/* Which size it has: all of a process have the same. */
static size_t pool_size(const struct python_look *look,
			const struct pool_head *head, taddr_t at)
{
	if (look->pool_size != POOL_OLD && at % POOL_NEW == 0 &&
	    is_pool(head, at, POOL_NEW))
		return POOL_NEW;
	if (look->pool_size != POOL_NEW && is_pool(head, at, POOL_OLD))
		return POOL_OLD;
	return 0;
}

/* Free pieces lead to each other; false where they lead elsewhere. */
static bool mark_free(const uint8_t *pool, taddr_t at,
		      const struct pool_head *head, bool *ret)
{
	const size_t piece = piece_size(head);
	const size_t carved = (head->carved - POOL_HEAD) / piece;
	size_t left = carved - (uint32_t)head->used;
	uint64_t next = head->first_free;

	while (next) {
		const uint64_t offset = next - at - POOL_HEAD;

		if (offset % piece || offset / piece >= carved || !left-- ||
		    ret[offset / piece])
			return false;
		ret[offset / piece] = true;
		memcpy(&next, pool + POOL_HEAD + offset, sizeof(next));
	}
	return !left;
}

static void count_piece(struct python_look *look,
			const struct object_found *piece)
{
	struct object_heap *heap = look->heap;
	struct object_found found = *piece;

	found.type = python_types_count(look->types, piece->bytes, piece->seen,
					piece->seen, &found.head);
	object_sum_add(found.type ? &heap->objects : &heap->others,
		       piece->seen);
	object_tell_piece(look->observer, found.address, found.seen);
	object_tell(look->observer, &found);
}

/* Free pieces there are nobody's, too. */
static void tell_pool(const struct python_look *look, taddr_t at, size_t size)
{
	object_tell_pool(look->observer, at, at + size);
}

static void count_pieces(struct python_look *look, const uint8_t *pool,
			 taddr_t address, const struct pool_head *head,
			 const bool *free)
{
	const size_t piece = piece_size(head);
	const size_t carved = (head->carved - POOL_HEAD) / piece;

	for (size_t i = 0; i < carved; i++) {
		const size_t at = POOL_HEAD + i * piece;

		if (free[i])
			object_sum_add(&look->heap->free, piece);
		else
			count_piece(look, &(struct object_found){
						  .address = address + at,
						  .bytes = pool + at,
						  .seen = piece,
					  });
	}
}

static void count_pool(struct python_look *look, taddr_t at,
		       const struct pool_head *head, size_t size)
{
	uint8_t pool[POOL_NEW];
	bool free[PIECES_MOST] = { false };

	look->heap->pools++;
	if (!(uint32_t)head->used) {
		tell_pool(look, at, size);
		object_sum_add(&look->heap->empty, size);
		return;
	}
	if (memory_read(&look->window->memory, at, pool, size) ||
	    !mark_free(pool, at, head, free)) {
		object_sum_add(&look->heap->broken, size);
		return;
	}
	tell_pool(look, at, size);
	count_pieces(look, pool, at, head, free);
}

static void look_through(void *context, taddr_t at, taddr_t end)
{
	struct python_look *look = context;

	while (at < end) {
		struct pool_head head;
		size_t size = 0;

		if (!memory_read(&look->window->memory, at, &head,
				 sizeof(head)))
			size = pool_size(look, &head, at);
		if (size) {
			look->pool_size = size;
			count_pool(look, at, &head, size);
		}
		at += size ? size : POOL_OLD;
	}
}

/* ---- larger objects ---- */

#define LOOKED_AT 256

static void look_at_block(struct python_look *look, const struct block *block)
{
	uint8_t bytes[LOOKED_AT];
	size_t size = block_usable(block), head;
	const char *type;

	if (size > sizeof(bytes))
		size = sizeof(bytes);
	if (memory_read(&look->window->memory, block->address, bytes, size))
		return;
	type = python_types_count(look->types, bytes, size, block_usable(block),
				  &head);
	if (!type)
		return;
	object_sum_add(&look->heap->objects, block_usable(block));
	object_tell(look->observer, &(struct object_found){
					    .address = block->address,
					    .bytes = bytes,
					    .seen = size,
					    .type = type,
					    .head = head,
				    });
}

static void find_large(struct python_look *look, const struct blocks *blocks)
{
	for (size_t i = 0; i < blocks->count; i++)
		if (block_is_used(&blocks->list[i]))
			look_at_block(look, &blocks->list[i]);
}

void python_heap_read(struct memory *memory, const struct mappings *mappings,
		      const struct blocks *blocks,
		      const struct object_observer *observer,
		      struct object_heap *ret)
{
	struct python_look look = { .heap = ret, .observer = observer };

	look.window = xmalloc(sizeof(*look.window));
	window_init(look.window, memory);
	look.types = python_types_new(memory, mappings);
	object_heap_scan(mappings, false, look_through, &look, &ret->unread);
	find_large(&look, blocks);
	ret->types = python_types_list(look.types, &ret->type_count);
	python_types_free(look.types);
	free(look.window);
}
