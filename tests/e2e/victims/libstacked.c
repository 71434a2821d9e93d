/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that count down an argument in the place where it was passed. */

#define KEEP __attribute__((noinline))

KEEP int *k_last(int *room, int count)
{
	volatile int *left = &count;

	for (int i = 0; *left > 0; i++, --*left)
		room[i] = *left;
	return room;
}

KEEP int *k_seventh(int *room, long b, long c, long d, long e, long f,
		    int count)
{
	volatile int *left = &count;

	for (int i = 0; *left > 0; i++, --*left)
		room[i] = *left + (int)(b + c + d + e + f);
	return room;
}

KEEP void k_out(int *room, long b, long c, long d, long e, long f, int *out)
{
	int *volatile *where = &out;

	*out = room[0] + (int)(b + c + d + e + f);
	*where = 0;
}
