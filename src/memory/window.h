/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_WINDOW_H
#define CALLTRAP_WINDOW_H

#include "base/memory.h"

/*
 * Memory that is read from its beginning to its end: in large pieces, of which
 * one is kept. It can't be written.
 */
#define WINDOW_SIZE 65536

struct window {
	struct memory memory;
	struct memory *original;
	taddr_t start;
	size_t size; /* of what could be read */
	uint8_t bytes[WINDOW_SIZE];
};

void window_init(struct window *window, struct memory *original);

/* What is kept may have changed. */
void window_forget(struct window *window);

#endif
