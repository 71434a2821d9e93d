/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

/*
 * For tests/aarch64.sh: a library whose pages are guarded. An indirect jump in
 * them may only lead to a bti; so may one into them, its own PLT stubs
 * included.
 */
static int first(int number)
{
	return number + 1;
}

static int second(int number)
{
	return number + 2;
}

int guarded(int number)
{
	int (*const volatile functions[])(int) = { first, second };
	char *volatile block = malloc(10);

	free(block);
	return functions[number & 1](number);
}
