/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/window.h"

#include <string.h>

static size_t window_read(struct memory *memory, taddr_t address, void *ret,
			  size_t size)
{
	struct window *window = (struct window *)memory;
	taddr_t behind = address - window->start;

	if (size > WINDOW_SIZE / 2)
		return memory_read_some(window->original, address, ret, size);
	if (behind > window->size || window->size - behind < size) {
		window->start = address & ~(taddr_t)4095;
		window->size = memory_read_some(window->original, window->start,
						window->bytes, WINDOW_SIZE);
		behind = address - window->start;
	}
	if (behind >= window->size)
		return 0;
	if (size > window->size - behind)
		size = window->size - behind;
	memcpy(ret, window->bytes + behind, size);
	return size;
}

static const struct memory_ops window_ops = { .read = window_read };

void window_init(struct window *window, struct memory *original)
{
	window->memory.ops = &window_ops;
	window->original = original;
	window_forget(window);
}

void window_forget(struct window *window)
{
	window->start = 0;
	window->size = 0;
}
