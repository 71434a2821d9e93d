/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls each function of libdescribed.so once, N times over. */
#include <stdlib.h>

#include "described.h"

static int called_back(int n, void *data)
{
	return data ? n : 0;
}

static void call_all(void)
{
	struct point point = { 1, 2 };
	struct line line = { { 3, 4 }, { 5, 6 }, 2.5, "hello" };
	struct list second = { NULL, 5, "tail" };
	struct list first = { &second, 4, "head" };
	struct bits bits = { 5, -3, 8192 };
	union number number = { .f = 1.5 };
	char junk[] = "\1\2\377\376\3";
	int n = 42;

	ints('a', -2, 200, -300, 40000, -5, 1ull << 60, true);
	floats(1.5f, 2.25, 3.125L, 1 + 2 * I);
	enums(RED, READ | EXEC);
	structs(point, line, (boxed){ 77 });
	large(number, &bits);
	pointers("some text", junk, &n, &n, &point, &first, stdout,
		 called_back, (wchar_t *)L"wide");
	text((const unsigned char *)"bytes", "format %d", 3);
	nothing();
}

int main(int argc, char **argv)
{
	int i, count = argc > 1 ? atoi(argv[1]) : 1;

	for (i = 0; i < count; i++)
		call_all();
	return 0;
}
