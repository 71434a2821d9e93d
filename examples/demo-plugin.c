/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library that examples/demo.c loads while it is being watched. */
#include <string.h>
#include <time.h>

/* In cents. Looking it up takes a while. */
int shop_price(const char *what, int pieces)
{
	struct timespec a_while = { .tv_nsec = 2000000 };

	nanosleep(&a_while, NULL);
	return (int)strlen(what) * 25 * pieces;
}
