/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library that examples/demo.c loads while it is being watched. */
#include <string.h>
#include <unistd.h>

/* In cents. Looking it up takes a while. */
int shop_price(const char *what, int pieces)
{
	usleep(2000);
	return (int)strlen(what) * 25 * pieces;
}
