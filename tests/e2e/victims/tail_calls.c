/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that leave by a jump, when compilers optimize: on the way to calls
 * of probe_here(). test_tail_calls.py knows what their stacks look like.
 */
#include <stdlib.h>
#include <string.h>

#include "tail_calls.h"

int sum;
char *kept[4];

KEEP void probe_here(int n)
{
	sum += n;
	__asm__ volatile("" ::: "memory");
}

KEEP static int last(int n)
{
	probe_here(n);
	return sum + n;
}

/* ---- one way ---- */

KEEP static int second(int n)
{
	sum++;
	return last(n + 1);
}

KEEP int chain(int n)
{
	sum += 2;
	return second(n * 2);
}

/* Nothing but its name is known of what it jumps to. */
KEEP void leaver(int n)
{
	sum += 3;
	probe_here(n);
}

KEEP int to_other(int n)
{
	sum += 4;
	return other_first(n);
}

/* gcc makes a clone of it, with a cold part. */
KEEP static int cloned(int n, int always)
{
	if (n > 100)
		abort();
	sum += always;
	return last(n ^ always);
}

KEEP int to_clone(int n)
{
	sum ^= 1;
	return cloned(n, 5);
}

/* In an inlined function. */
static inline __attribute__((always_inline)) int inlined(int n)
{
	sum += 7;
	return last(n + 2);
}

KEEP int around(int n)
{
	if (n > 1000)
		sum += 6;
	return inlined(n);
}

/* ---- several ways ---- */

KEEP int left(int n)
{
	sum += 8;
	return last(n);
}

KEEP int right(int n)
{
	sum += 9;
	return last(n);
}

KEEP int either(int n)
{
	if (n & 1)
		return left(n + 1);
	return right(n + 3);
}

KEEP int join(int n)
{
	sum += 10;
	return last(n - 1);
}

KEEP int upper(int n)
{
	sum += 11;
	return join(n);
}

KEEP int lower(int n)
{
	sum += 12;
	return join(n);
}

KEEP int parting(int n)
{
	if (n & 1)
		return upper(n + 1);
	return lower(n + 3);
}

KEEP int ends(int n)
{
	sum += 13;
	return parting(n);
}

/* ---- round and round ---- */

int even(int n);

KEEP int odd(int n)
{
	sum += 14;
	if (n < 2)
		return last(n);
	return even(n - 1);
}

KEEP int even(int n)
{
	sum += 15;
	return odd(n - 1);
}

/* ---- through pointers ---- */

int (*volatile pointer)(int) = last;

KEEP int by_pointer(int n)
{
	sum += 16;
	return pointer(n);
}

KEEP int perhaps(int n)
{
	if (n & 2)
		return pointer(n);
	return last(n + 4);
}

KEEP int to_perhaps(int n)
{
	sum += 17;
	return perhaps(n);
}

/* ---- into a library ---- */

KEEP char *copy(const char *text)
{
	sum += 18;
	return strdup(text + 1);
}

KEEP void *reserve(size_t size)
{
	sum += 19;
	return malloc(size * 2);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	int n = argc;

	if (!strcmp(kind, "chain"))
		n += chain(n);
	else if (!strcmp(kind, "leaver"))
		leaver(n);
	else if (!strcmp(kind, "other"))
		n += to_other(n);
	else if (!strcmp(kind, "clone"))
		n += to_clone(n) + cloned(n, 5);
	else if (!strcmp(kind, "inlined"))
		n += around(n);
	else if (!strcmp(kind, "either"))
		n += either(n);
	else if (!strcmp(kind, "ends"))
		n += ends(n);
	else if (!strcmp(kind, "round"))
		n += even(7);
	else if (!strcmp(kind, "pointer"))
		n += by_pointer(n);
	else if (!strcmp(kind, "perhaps"))
		n += to_perhaps(n);
	else if (!strcmp(kind, "library"))
		kept[0] = copy("text");
	else if (!strcmp(kind, "reserve"))
		kept[1] = reserve(21);
	return n + sum == 12345;
}
