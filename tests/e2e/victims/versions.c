/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls both versions, both names, the IFUNC, and libc's IFUNCs. */

#include <stdio.h>
#include <string.h>

long foo_v1(long i);
long foo(long i);
long twin(long i);
long __twin_internal(long i);
long chosen(long i);
__asm__(".symver foo_v1, foo@V1");

int main(int argc, char **argv)
{
	char buffer[64];
	long wrong = 0;
	volatile size_t size = sizeof(buffer) / 16;
	char *volatile text = argv[argc - 1];

	for (long i = 0; i < 10; i++)
		wrong += foo_v1(i) != i + 1;
	for (long i = 0; i < 20; i++)
		wrong += foo(i) != i + 2;
	for (long i = 0; i < 30; i++)
		wrong += twin(i) != i + 3;
	for (long i = 0; i < 40; i++)
		wrong += __twin_internal(i) != i + 3;
	for (long i = 0; i < 50; i++)
		wrong += chosen(i) != i + 4;
	for (long i = 0; i < 60; i++)
		wrong += strlen(text) == 0;
	for (long i = 0; i < 70; i++)
		memcpy(buffer, argv[0], size);
	printf("count MAIN foo 30\ncount MAIN twin 30\n"
	       "count MAIN __twin_internal 40\ncount MAIN chosen 50\n"
	       "count MAIN strlen 60\ncount MAIN memcpy 70\n");
	return wrong ? 1 : 7;
}
