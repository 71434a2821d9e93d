/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jumps out of operator new (libleft_new.cc), 20 times, acquires above it in the stack,
 * and then ten times below it, where its return address still lies.
 */
#include <cstdlib>
#include <new>
#include <unistd.h>

extern "C" {
extern void *left_by[5];
extern volatile int left_next;
}

static void *volatile kept;

static void use(void *room)
{
	__asm__ volatile("" : : "r"(room) : "memory");
}

__attribute__((noinline)) static void leave()
{
	char room[5000];

	use(room);
	left_next = 1;
	if (!__builtin_setjmp(left_by))
		kept = ::operator new(10);
	use(room);
}

__attribute__((noinline)) static void acquire_below()
{
	char room[7000];

	use(room);
	kept = std::malloc(7000);
	use(room);
}

/* Until calls are caught in the process; it is seen who throws. */
__attribute__((noinline)) static void begin()
{
	for (int i = 0; i < 200; i++) {
		kept = ::operator new(20);
		::operator delete(kept);
	}
	try {
		throw 1;
	} catch (int) {
	}
	usleep(5000);
}

__attribute__((noinline)) static void jump_out()
{
	leave();
	kept = std::malloc(3);
	for (int i = 0; i < 10; i++)
		acquire_below();
}

int main()
{
	for (int i = 0; i < 40; i++)
		begin();
	for (int i = 0; i < 20; i++)
		jump_out();
	return 7;
}
