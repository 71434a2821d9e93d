/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/rdebug.h"

#include "base/cursor.h"
#include "tracee/space.h"

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

int rdebug_read_entry(struct space *space, taddr_t address,
		      struct link_entry *ret)
{
	uint64_t words[4];
	int err = rdebug_read_words(space, address, words, 4);

	if (!err)
		*ret = (struct link_entry){ words[0], words[1], words[2],
					    words[3] };
	return err;
}
