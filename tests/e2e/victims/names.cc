// SPDX-License-Identifier: GPL-2.0-or-later
// C++ names: namespace, template, method, operator, overloads.

#include <cstdio>

#define KEEP __attribute__((noinline, used))

namespace space {
KEEP int over(int i) { __asm__ volatile(""); return i + 1; }
KEEP int over(long i) { __asm__ volatile(""); return (int)i + 2; }

struct Thing {
	int value = 3;
	KEEP int method(int i) { __asm__ volatile(""); return value + i; }
	KEEP int operator+(int i) { __asm__ volatile(""); return value - i; }
};

template <typename T> KEEP T twice(T t) { __asm__ volatile(""); return t + t; }
}

int main()
{
	space::Thing thing;
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += space::over(i);
	for (long i = 0; i < 20; i++)
		sum += space::over(i);
	for (int i = 0; i < 30; i++)
		sum += thing.method(i);
	for (int i = 0; i < 40; i++)
		sum += thing + i;
	for (int i = 0; i < 50; i++)
		sum += space::twice<int>(i);
	std::printf("sum %d\n", sum);
	return 7;
}
