/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/printable.h"
#include "base/writable.h"
#include "base/xalloc.h"
#include "cli/working.h"

#define PATIENCE 200 /* ms */

/* Of the messages, as those of base/diag.c. */
static struct {
	bool hurry;
	bool stuck;
	uint64_t dropped;
} state;

void complain_hurry(bool hurry)
{
	state.hurry = hurry;
	state.stuck = false;
}

uint64_t complain_dropped(void)
{
	return state.dropped;
}

/* A tick of our timer doesn't end the wait: it is short. */
static bool is_taken(void)
{
	uint64_t began = clock_now();
	int ready;

	do
		ready = writable_within(STDERR_FILENO,
					state.stuck ? 0 : PATIENCE / 4);
	while (ready <= 0 && !state.stuck &&
	       clock_now() - began < PATIENCE * 1000000ull);
	state.stuck = ready <= 0;
	return !state.stuck;
}

int complain(int err, const char *format, ...)
{
	char *message;
	va_list args;

	va_start(args, format);
	if (vasprintf(&message, format, args) < 0)
		fatal("out of memory (formatting a message)");
	va_end(args);
	printable_make(message, strlen(message));
	working_pause();
	if (state.hurry && !is_taken())
		state.dropped++;
	else
		fprintf(stderr, "calltrap: %s\n", message);
	working_resume();
	free(message);
	return err;
}
