// SPDX-License-Identifier: GPL-2.0-or-later
// A stack of C++ frames: a template's method, an operator, a lambda, and the
// C library's qsort in between.

#include <cstdlib>
#include <string>
#include <vector>

#define KEEP __attribute__((noinline, used))
#define NO_TAIL_CALL __asm__ volatile("" ::: "memory")

extern "C" KEEP void probe_here() { NO_TAIL_CALL; }

namespace space {

template <typename Key, typename Value> struct Table {
	KEEP int look_up(const Key &, const std::vector<Value> &)
	{
		probe_here();
		NO_TAIL_CALL;
		return 0;
	}

	KEEP int operator()(int i)
	{
		i += look_up(Key("x"), std::vector<Value>(i));
		NO_TAIL_CALL;
		return i;
	}
};

KEEP int compare(const void *, const void *)
{
	static bool done;

	if (!done)
		Table<std::string, long>()(2);
	done = true;
	NO_TAIL_CALL;
	return 0;
}
}

int main()
{
	int items[] = { 1, 2 };

	std::qsort(items, 2, sizeof(int), space::compare);
}
