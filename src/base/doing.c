/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/doing.h"

#include <stdarg.h>
#include <stdio.h>

/* As that of base/diag.c. */
static struct {
	struct doing *place;
	void (*make_room)(void);
} state;

void doing_keep(struct doing *place, void (*make_room)(void))
{
	state.place = place;
	state.make_room = make_room;
}

void doing(const char *format, ...)
{
	va_list args;

	if (!state.place)
		return;
	*state.place->part = 0;
	va_start(args, format);
	vsnprintf(state.place->what, DOING_MAX, format, args);
	va_end(args);
}

void doing_part(const char *format, ...)
{
	va_list args;

	if (!state.place)
		return;
	va_start(args, format);
	vsnprintf(state.place->part, DOING_MAX, format, args);
	va_end(args);
}

void doing_part_ended(void)
{
	if (state.place)
		*state.place->part = 0;
}

void doing_make_room(void)
{
	if (state.make_room)
		state.make_room();
}
