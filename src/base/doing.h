/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DOING_H
#define CALLTRAP_DOING_H

#include "base/types.h"

/*
 * What is being done, for whoever waits for it to end. The lower rooms say it
 * and never show it: the command line sets where it is kept, in memory that it
 * shares with a process which looks there now and then. One that looks while it
 * is written sees some of both texts; it shall not rely on their end.
 */
#define DOING_MAX 512

struct doing {
	char what[DOING_MAX]; /* "": nothing */
	char part[DOING_MAX]; /* of that; "": all of it */
};

/*
 * NULL: nobody wants to know. make_room is called before anything else is
 * written to a terminal; or NULL.
 */
void doing_keep(struct doing *place, void (*make_room)(void));

/* Until the next is said. */
void doing(const char *format, ...) PRINTF_LIKE(1, 2);

/* Takes long itself; until it has ended. */
void doing_part(const char *format, ...) PRINTF_LIKE(1, 2);
void doing_part_ended(void);

void doing_make_room(void);

#endif
