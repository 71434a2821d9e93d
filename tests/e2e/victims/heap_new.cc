/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All forms of operator new and delete, with what doesn't fit each other, and
 * what is too much. The argument says which. Says `count MAIN ...' itself.
 */
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>
#include <unistd.h>

#define KEEP(x) __asm__ volatile("" : : "r"(x) : "memory")

struct alignas(64) wide {
	char text[64];
};

static uint64_t news, deletes, bytes;
static void *volatile kept[64];

/* Calls that compilers can't take away. */
template <typename T> static T *note(T *pointer, size_t size)
{
	KEEP(pointer);
	if (pointer) {
		news++;
		bytes += size;
	}
	return pointer;
}

static void forms()
{
	const std::align_val_t align = std::align_val_t(128);
	const std::nothrow_t &quiet = std::nothrow;

	for (int i = 0; i < 10; i++) {
		::operator delete(note(::operator new(10), 10));
		::operator delete(note(::operator new(11), 11), 11);
		::operator delete(note(::operator new(12, quiet), 12), quiet);
		::operator delete(note(::operator new(128, align), 128),
				  align);
		::operator delete(note(::operator new(256, align), 256), 256,
				  align);
		::operator delete(note(::operator new(128, align, quiet), 128),
				  align, quiet);
		::operator delete[](note(::operator new[](20), 20));
		::operator delete[](note(::operator new[](21), 21), 21);
		::operator delete[](note(::operator new[](22, quiet), 22),
				    quiet);
		::operator delete[](note(::operator new[](128, align), 128),
				    align);
		::operator delete[](note(::operator new[](256, align), 256),
				    256, align);
		::operator delete[](
			note(::operator new[](128, align, quiet), 128), align,
			quiet);
		deletes += 12;
	}
	kept[0] = note(new int(1), sizeof(int));
	kept[1] = note(new int[100], 100 * sizeof(int));
	kept[2] = note(new wide, sizeof(wide));
	kept[3] = note(new wide[3], 3 * sizeof(wide));
	KEEP(kept);
}

__attribute__((noinline)) static void by_free(void *pointer)
{
	free(pointer);
	KEEP(pointer);
}

__attribute__((noinline)) static void by_delete(void *pointer)
{
	::operator delete(pointer);
	KEEP(pointer);
}

static void mismatches()
{
	for (volatile int i = 0; i < 4; i++) {
		by_free(note(::operator new(10), 10));
		by_delete(note(::operator new[](20), 20));
		by_delete(note(malloc(30), 30));
	}
	deletes += 12;
}

/* Sizes given back that weren't acquired. */
static void sizes()
{
	void *pointer = note(::operator new(10), 10);

	::operator delete(pointer, 24);
	deletes++;
}

static void too_much()
{
	uint64_t caught = 0;

	for (volatile int i = 0; i < 5; i++) {
		try {
			kept[0] = ::operator new(PTRDIFF_MAX - 100);
		} catch (const std::bad_alloc &) {
			caught++;
		}
		kept[1] = ::operator new(PTRDIFF_MAX - 100, std::nothrow);
		KEEP(kept[1]);
	}
	kept[2] = note(::operator new(10), 10);
	printf("count MAIN caught %ju\n", (uintmax_t)caught);
}

static void vectors()
{
	std::vector<int> numbers;

	for (int i = 0; i < 1000; i++)
		numbers.push_back(i);
	KEEP(numbers.data());
	deletes = news = 11; /* of 1, 2, 4, … 1024 ints */
	bytes = 2047 * sizeof(int);
}

static const struct {
	const char *name;
	void (*function)();
} cases[] = {
	{ "forms", forms },   { "mismatches", mismatches },
	{ "sizes", sizes },   { "too_much", too_much },
	{ "vectors", vectors },
};

int main(int argc, char **argv)
{
	static char buffer[BUFSIZ];

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	for (const auto &each : cases)
		if (argc > 1 && !strcmp(each.name, argv[1]))
			each.function();
	printf("count MAIN news %ju\ncount MAIN deletes %ju\n"
	       "count MAIN bytes %ju\n",
	       (uintmax_t)news, (uintmax_t)deletes, (uintmax_t)bytes);
	return 0;
}
