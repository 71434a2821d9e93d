/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of allocators within operator new and delete, which stand for them, and calls
 * behind those that were left in all ways. With OWN operator new is the program's.
 */
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

#define TOO_MUCH (~0ul >> 2)

static thread_local jmp_buf back;
static thread_local void *volatile kept;

#ifdef OWN
__attribute__((noinline)) void *operator new(std::size_t size)
{
	void *first = std::malloc(16), *more = std::realloc(first, 4000);
	void *found = size < TOO_MUCH ? std::malloc(size) : nullptr;

	std::free(more);
	if (found)
		return found;
	if (std::get_new_handler())
		std::get_new_handler()();
	throw std::bad_alloc();
}

__attribute__((noinline)) void operator delete(void *pointer) noexcept
{
	std::free(std::malloc(8));
	std::free(pointer);
}

__attribute__((noinline)) void operator delete(void *pointer,
					       std::size_t) noexcept
{
	operator delete(pointer);
}
#endif

/* Leaves on the stack what was there. */
template <unsigned size> __attribute__((noinline)) static void acquire_deep()
{
	char room[size];

	__asm__ volatile("" : : "r"(room) : "memory");
	kept = std::malloc(size);
	__asm__ volatile("" : : "r"(room) : "memory");
}

static void jump()
{
	std::longjmp(back, 1);
}

static void fail()
{
	throw std::bad_alloc();
}

static void acquire()
{
	kept = std::malloc(77);
	kept = ::operator new(78);
	std::set_new_handler(nullptr);
}

static void handle(int)
{
	kept = std::malloc(55);
}

static void get_signal()
{
	raise(SIGUSR1);
	std::set_new_handler(nullptr);
}

__attribute__((noinline)) static void try_with(std::new_handler handler)
{
	std::set_new_handler(handler);
	if (setjmp(back))
		return;
	try {
		kept = ::operator new(TOO_MUCH);
	} catch (const std::bad_alloc &) {
	}
}

static void work()
{
	static const std::new_handler handlers[] = { jump, fail, acquire,
						     nullptr };

	for (int i = 0; i < 400; i++) {
		std::vector<std::string> texts(
			3, "one that has a block of its own");
		int *numbers = new int[5];

		kept = numbers;
		delete[] numbers;
		kept = new char(1);
		if (!(i % 4))
			kept = ::operator new[](30);
	}
	for (int i = 0; i < 20; i++) {
		for (std::new_handler handler : handlers) {
			try_with(handler);
			acquire_deep<40>();
			acquire_deep<160>();
			acquire_deep<1000>();
		}
		kept = ::operator new(TOO_MUCH, std::nothrow);
		acquire_deep<300>();
	}
}

static void set_signal_stack()
{
	stack_t stack = {};

	stack.ss_size = 64 << 10;
	stack.ss_sp = std::malloc(stack.ss_size);
	sigaltstack(&stack, nullptr);
}

int main()
{
	struct sigaction action = {};

	action.sa_handler = handle;
	sigaction(SIGUSR1, &action, nullptr);
	work();
	std::thread(work).join();
	for (int i = 0; i < 10; i++)
		try_with(get_signal);
	set_signal_stack();
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, nullptr);
	for (int i = 0; i < 10; i++)
		try_with(get_signal);
	acquire_deep<500>();
	return 7;
}
