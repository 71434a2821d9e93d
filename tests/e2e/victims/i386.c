/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of an i386 program, all on the stack. */

#include <stdio.h>

int add4(int a, int b, int c, int d);
const char *name_of(const char *text, int i);
long f1(long i);

int main(void)
{
	long wrong = 0;

	for (int i = 0; i < 100; i++)
		wrong += add4(i, 2 * i, 3 * i, -i) != 5 * i;
	for (int i = 0; i < 50; i++)
		wrong += name_of("some text", i)[0] != 's';
	for (int i = 0; i < 1000; i++)
		wrong += f1(i) != i + 1;
	printf("count MAIN add4 100\ncount MAIN name_of 50\n"
	       "count MAIN f1 1000\n");
	return wrong ? 1 : 7;
}
