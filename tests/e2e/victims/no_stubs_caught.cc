// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * no_stubs_caught ROUNDS: built with -fno-plt. Calls labs() 75 times in each when a line
 * has come, and keeps its address where it catches: clang has it in a register there, which
 * was loaded before. Ends at the next line: 7 = each is that of the symbol.
 */
#include <dlfcn.h>
#include <stdio.h>

// As one that may throw, as far as the compiler knows.
extern "C" long labs(long n);
extern "C" int atoi(const char *text);
static decltype(&labs) volatile kept[16];

__attribute__((noinline)) static void odd_throws(int n)
{
	if (n % 2)
		throw n;
}

__attribute__((noinline)) static long run(int count)
{
	long sum = 0;

	for (int i = 0; i < count; i++)
		try {
			sum += labs(-i);
			odd_throws(i);
			sum += labs(i);
		} catch (...) {
			kept[i / 2 % 16] = labs;
		}
	return sum;
}

static bool wait_for_line(const char *what)
{
	char line[64];

	printf("%s\n", what);
	fflush(stdout);
	return fgets(line, sizeof(line), stdin);
}

int main(int argc, char **argv)
{
	void *symbol = dlsym(RTLD_DEFAULT, "labs");
	int wrong = 0;

	if (!wait_for_line("ready"))
		return 2;
	for (int round = argc > 1 ? atoi(argv[1]) : 1; round; round--)
		run(50);
	for (auto one : kept)
		wrong += (void *)one != symbol;
	if (!wait_for_line("done"))
		return 2;
	return wrong ? 9 : 7;
}
