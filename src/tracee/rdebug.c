/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/rdebug.h"

#include <errno.h>

#include "base/cursor.h"
#include "tracee/space.h"

/* Longer lists are garbage. */
#define MODULES_MAX    16384
#define NAMESPACES_MAX 64

int rdebug_read_words(struct space *space, taddr_t address, uint64_t *words,
		      size_t count)
{
	unsigned size = space->arch->word_size;
	uint8_t bytes[RDEBUG_WORDS * sizeof(uint64_t)] = { 0 };
	struct cursor cursor = cursor_of(bytes, sizeof(bytes));
	int err = memory_read(&space->memory.memory, address, bytes,
			      count * size);

	while (!err && count--)
		*words++ = cursor_word(&cursor, size);
	return err;
}

int rdebug_read(struct space *space, taddr_t address, struct rendezvous *ret)
{
	/* r_version, r_map, r_brk, r_state, r_ldbase, r_next */
	uint64_t words[RDEBUG_WORDS] = { 0 };
	int err = rdebug_read_words(space, address, words, 5);

	if (err)
		return err;
	/* r_next is there from version 2 on. */
	if ((uint32_t)words[0] >= 2 &&
	    rdebug_read_words(space, address + 5 * space->arch->word_size,
			      &words[5], 1))
		words[5] = 0;
	*ret = (struct rendezvous){
		.map = words[1],
		.breakpoint = words[2],
		.consistent = (uint32_t)words[3] == 0, /* RT_CONSISTENT */
		.next = words[5],
	};
	return 0;
}

static int rdebug_read_entry(struct space *space, taddr_t address,
			     struct link_entry *ret)
{
	uint64_t words[4];
	int err = rdebug_read_words(space, address, words, 4);

	if (!err)
		*ret = (struct link_entry){ words[0], words[1], words[2],
					    words[3] };
	return err;
}

/* Whether address, the next of a list, has been met before. */
static bool ring_check(struct ring_check *ring, taddr_t address)
{
	if (address == ring->mark)
		return true;
	if (ring->steps++ == ring->limit) {
		ring->mark = address;
		ring->limit = ring->limit * 2 + 1;
		ring->steps = 0;
	}
	return false;
}

void rdebug_walk_init(struct rdebug_walk *walk, struct space *space,
		      const struct rendezvous *first)
{
	*walk = (struct rdebug_walk){
		.space = space,
		.current = *first,
		.map = first->map,
	};
}

static int next_namespace(struct rdebug_walk *walk)
{
	taddr_t address = walk->current.next;

	/* An r_next that can't be read: an old ld.so that claims a version. */
	if (!address || ring_check(&walk->namespaces, address) ||
	    rdebug_read(walk->space, address, &walk->current))
		return 0;
	if (++walk->link_namespace == NAMESPACES_MAX)
		return -ELOOP;
	walk->map = walk->current.map;
	walk->entries = (struct ring_check){ 0 };
	return 1;
}

int rdebug_walk_next(struct rdebug_walk *walk, struct link_entry *ret)
{
	while (!walk->map) {
		int more = next_namespace(walk);

		if (more <= 0)
			return more;
	}
	if (++walk->count > MODULES_MAX)
		return -ELOOP;
	if (rdebug_read_entry(walk->space, walk->map, ret))
		return -EFAULT;
	walk->map = ret->next;
	if (ring_check(&walk->entries, walk->map))
		walk->map = 0;
	return 1;
}
