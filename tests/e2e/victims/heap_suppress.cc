// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps blocks by functions whose names are C++'s: 3 of 40 bytes by a method,
// 4 of 50 by an array in an inlined function, 5 of 60 by a plain one.
#include <cstdlib>

namespace shop {
struct cart {
	__attribute__((noinline)) void *add(int size)
	{
		return malloc(size);
	}
};
}

static void *volatile keeper;

static inline __attribute__((always_inline)) void hidden()
{
	for (int i = 0; i < 4; i++)
		keeper = new char[50];
}

__attribute__((noinline)) static void plain()
{
	for (int i = 0; i < 5; i++)
		keeper = malloc(60);
}

int main()
{
	shop::cart cart;

	for (int i = 0; i < 3; i++)
		keeper = cart.add(40);
	hidden();
	plain();
}
