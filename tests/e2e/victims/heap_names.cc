/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds memory through C++'s containers, and in a function whose name the test
 * makes a hostile one.
 */
#include <cstdlib>
#include <map>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

template <typename K, typename V> struct cache {
	std::map<K, V> entries;

	__attribute__((noinline)) void put(const K &key, const V &value)
	{
		entries.emplace(key, value);
	}
};

static cache<int, std::vector<std::pair<int, std::string>>> all;
static void *volatile kept;

extern "C" __attribute__((noinline)) void hostile_name_of_a_function()
{
	kept = malloc(77);
	__asm__ volatile("");
}

int main()
{
	for (int i = 0; i < 20; i++)
		all.put(i, {});
	hostile_name_of_a_function();
	_exit(0);
}
