/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/ruby_heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "memory/ruby_classes.h"
#include "memory/window.h"

/* A page begins with the address of its struct heap_page (gc.c of Ruby 3.1). */
#define PAGE_SIZE  16384
#define SLOT_LEAST 40

struct ruby_page {
	int16_t slot_size, total, free, pinned, final;
	int16_t flags[3];
	uint64_t pool, next;
	taddr_t start;
};

struct ruby_look {
	struct window *window;
	struct ruby_classes classes;
	struct object_heap *heap;
	const struct object_observer *observer; /* or NULL */
	void (*slot)(struct ruby_look *look, taddr_t address,
		     const uint8_t *bytes, uint64_t size);
};

bool ruby_is_there(const struct mappings *mappings)
{
	static const char *const files[] = { "libruby", "ruby" };

	return object_heap_has_file(mappings, files, ARRAY_SIZE(files));
}

/* 40 bytes, or twice that so many times; the same structure has other numbers
   there in Ruby 2.7 and 3.0. */
static bool is_slot_size(int size)
{
	int one = SLOT_LEAST;

	while (one < size)
		one *= 2;
	return one == size;
}

static bool is_page(struct ruby_look *look, taddr_t at, struct ruby_page *ret)
{
	struct memory *memory = &look->window->memory;
	taddr_t page;
	uint64_t behind;

	if (memory_read(memory, at, &page, sizeof(page)) || !page || page % 8 ||
	    memory_read(look->window->original, page, ret, sizeof(*ret)))
		return false;
	behind = ret->start - at;
	return ret->start % 8 == 0 && behind >= sizeof(page) &&
	       behind < PAGE_SIZE && is_slot_size(ret->slot_size) &&
	       ret->total > 0 && ret->free >= 0 && ret->free <= ret->total &&
	       behind + (uint64_t)ret->total * (uint64_t)ret->slot_size <=
		       PAGE_SIZE;
}

static void look_through_page(struct ruby_look *look, taddr_t at,
			      const struct ruby_page *page)
{
	const uint64_t size = (uint64_t)page->slot_size;
	uint8_t bytes[PAGE_SIZE];

	if (memory_read(&look->window->memory, at, bytes, sizeof(bytes)))
		return;
	look->heap->pools++;
	object_tell_pool(look->observer, page->start,
			 page->start + (uint64_t)page->total * size);
	for (int16_t i = 0; i < page->total; i++) {
		const uint64_t offset = page->start - at + (uint64_t)i * size;

		look->slot(look, at + offset, bytes + offset, size);
	}
}

static void look_through(void *context, taddr_t begin, taddr_t end)
{
	struct ruby_look *look = context;
	taddr_t at = (begin + PAGE_SIZE - 1) & -(taddr_t)PAGE_SIZE;
	struct ruby_page page;

	for (; at >= begin && at < end; at += PAGE_SIZE)
		if (is_page(look, at, &page))
			look_through_page(look, at, &page);
}

static struct ruby_head head_of(const uint8_t *bytes)
{
	struct ruby_head head;

	memcpy(&head, bytes, sizeof(head));
	return head;
}

static void learn(struct ruby_look *look, taddr_t address, const uint8_t *bytes,
		  uint64_t size UNUSED)
{
	const struct ruby_head head = head_of(bytes);

	if (ruby_kind_of(&head) == RUBY_CLASS)
		ruby_classes_add(&look->classes, address);
}

/* A syntax tree, which is one of the things that the interpreter has for itself. */
#define OWN_KIND(flags) ((flags) >> 12 & 15)
#define OWN_TREE        9

/* rstring.h and rarray.h: what is short lies in the slot itself. */
#define FLAG_LONG_TEXT     0x2000
#define FLAG_SHORT_ARRAY   0x2000
#define SHORT_COUNT(flags) ((flags) >> 15 & 127)

/* How much of a slot holds something. Behind that may be addresses of memory that
   was given back, which lead to whoever has it then: of a text's, when that has
   got short; of the root of a tree that was compiled, whose memory's is gone. */
static uint64_t seen_of(const struct ruby_head *head, uint64_t size)
{
	const uint64_t items = SHORT_COUNT(head->flags) * sizeof(uint64_t);

	switch (ruby_kind_of(head)) {
	case RUBY_STRING:
		return head->flags & FLAG_LONG_TEXT ? size : sizeof(*head);
	case RUBY_ARRAY:
		return head->flags & FLAG_SHORT_ARRAY &&
				       items < size - sizeof(*head) ?
			       sizeof(*head) + items :
			       size;
	case RUBY_OWN:
		return OWN_KIND(head->flags) == OWN_TREE && !head->class ?
			       sizeof(head->flags) :
			       size;
	default:
		return size;
	}
}

static void count(struct ruby_look *look, taddr_t address, const uint8_t *bytes,
		  uint64_t size)
{
	const struct object_observer *observer = look->observer;
	const struct ruby_head head = head_of(bytes);
	const char *type;

	if (!head.flags) {
		object_sum_add(&look->heap->free, size);
		if (observer && observer->empty)
			observer->empty(observer->context, address);
		return;
	}
	object_sum_add(&look->heap->objects, size);
	object_tell_piece(observer, address, size);
	type = ruby_classes_count(&look->classes, &head, size);
	object_tell(observer, &(struct object_found){
				      .address = address,
				      .bytes = bytes,
				      .seen = seen_of(&head, size),
				      .type = type,
			      });
}

void ruby_heap_read(struct memory *memory, const struct mappings *mappings,
		    const struct object_observer *observer,
		    struct object_heap *ret)
{
	struct ruby_look look = { .heap = ret, .slot = learn };

	look.window = xmalloc(sizeof(*look.window));
	window_init(look.window, memory);
	ruby_classes_init(&look.classes, memory);
	object_heap_scan(mappings, true, look_through, &look, &ret->unread);
	ruby_classes_learn(&look.classes);
	look.slot = count;
	look.observer = observer;
	*ret = (struct object_heap){ .pools = 0 };
	window_forget(look.window);
	object_heap_scan(mappings, true, look_through, &look, &ret->unread);
	object_types_take(&look.classes.types, ret);
	ruby_classes_fini(&look.classes);
	free(look.window);
}
