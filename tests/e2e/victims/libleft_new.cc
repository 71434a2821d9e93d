/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An operator new that is left by a jump that nobody sees, when it is told to. */
#include <cstdlib>
#include <new>

extern "C" {
void *left_by[5];
volatile int left_next;
}

void *operator new(std::size_t size)
{
	void *found = std::malloc(size);

	if (left_next) {
		left_next = 0;
		__builtin_longjmp(left_by, 1);
	}
	return found;
}

void operator delete(void *pointer) noexcept
{
	std::free(pointer);
}
