/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/python.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "memory/window.h"
#include "sysdeps/linux/pagemap.h"

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
	const struct mappings *mappings;
	struct window *window;
	struct python_types *types;
	struct python_heap *heap;
	size_t pool_size; /* 0: none was found yet */
};

bool python_is_there(const struct mappings *mappings)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const char *name = file_base_name(mappings->list[i].path);

		if (!strncmp(name, "libpython3", 10) ||
		    !strncmp(name, "python3", 7))
			return true;
	}
	return false;
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

static void add(struct python_sum *sum, uint64_t bytes)
{
	sum->count++;
	sum->bytes += bytes;
}

static void count_pieces(struct python_look *look, const uint8_t *pool,
			 const struct pool_head *head, const bool *free)
{
	struct python_heap *heap = look->heap;
	const size_t piece = piece_size(head);
	const size_t carved = (head->carved - POOL_HEAD) / piece;

	for (size_t i = 0; i < carved; i++) {
		const uint8_t *at = pool + POOL_HEAD + i * piece;

		if (free[i])
			add(&heap->free, piece);
		else if (python_types_count(look->types, at, piece, piece))
			add(&heap->objects, piece);
		else
			add(&heap->others, piece);
	}
}

static void count_pool(struct python_look *look, taddr_t at,
		       const struct pool_head *head, size_t size)
{
	uint8_t pool[POOL_NEW];
	bool free[PIECES_MOST] = { false };

	look->heap->pools++;
	if (!(uint32_t)head->used) {
		add(&look->heap->empty, size);
		return;
	}
	if (memory_read(&look->window->memory, at, pool, size) ||
	    !mark_free(pool, at, head, free)) {
		add(&look->heap->broken, size);
		return;
	}
	count_pieces(look, pool, head, free);
}

static void look_through(struct python_look *look, taddr_t at, taddr_t end)
{
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

/* The kernel joins them with what lies beside them: .bss, a stack. */
static bool may_have_pools(const struct mapping *mapping)
{
	return mapping->kind != MAPPING_HEAP &&
	       mapping->kind != MAPPING_ARENA && mapping->readable &&
	       mapping->writable && !mapping->shared && !mapping->inode &&
	       !*mapping->path;
}

static void find_pools(struct python_look *look)
{
	const struct mappings *mappings = look->mappings;
	struct pagemap map;

	if (pagemap_open(&map, mappings->pid))
		return;
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *mapping = &mappings->list[i];
		taddr_t at = mapping->start;
		struct page_run run;

		while (may_have_pools(mapping) &&
		       !pagemap_next(&map, at, mapping->end, &run) &&
		       run.begin < run.end) {
			look_through(look, run.begin, run.end);
			at = run.end;
		}
	}
	pagemap_close(&map);
}

/* ---- larger objects ---- */

static void find_large(struct python_look *look, const struct glibc *glibc)
{
	for (size_t i = 0; i < glibc->blocks.count; i++) {
		const struct block *block = &glibc->blocks.list[i];
		uint8_t head[PYTHON_HEAD_SIZE];
		uint64_t bytes = block_usable(block);

		if (!block_is_used(block))
			continue;
		if (bytes > sizeof(head))
			bytes = sizeof(head);
		if (!memory_read(&look->window->memory, block->address, head,
				 bytes) &&
		    python_types_count(look->types, head, bytes,
				       block_usable(block)))
			add(&look->heap->objects, block_usable(block));
	}
}

int python_heap_read(struct memory *memory, const struct mappings *mappings,
		     const struct glibc *glibc, struct python_heap *ret)
{
	struct python_look look = { .mappings = mappings, .heap = ret };

	*ret = (struct python_heap){ .types = NULL };
	if (!python_is_there(mappings))
		return -ENOENT;
	look.window = xmalloc(sizeof(*look.window));
	window_init(look.window, memory);
	look.types = ret->keeper = python_types_new(memory, mappings);
	find_pools(&look);
	if (ret->pools)
		find_large(&look, glibc);
	ret->types = python_types_list(look.types, &ret->type_count);
	free(look.window);
	if (ret->pools)
		return 0;
	python_heap_fini(ret);
	return -ENOENT;
}

void python_heap_fini(struct python_heap *heap)
{
	free(heap->types);
	if (heap->keeper)
		python_types_free(heap->keeper);
	*heap = (struct python_heap){ .types = NULL };
}
