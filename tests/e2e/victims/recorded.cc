// SPDX-License-Identifier: GPL-2.0-or-later
// Acquires, resizes and releases in a number of threads, as a seed says.
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static unsigned next(unsigned &state)
{
	state = state * 1103515245 + 12345;
	return state >> 8;
}

static void *leak(unsigned size)
{
	return malloc(size);
}

static void step(std::map<int, std::string> &map, unsigned &state)
{
	int key = next(state) % 100;
	std::vector<int> vector;
	void *block;

	if (map.count(key))
		map.erase(key);
	else
		map[key] = std::string(next(state) % 200, 'x');
	for (unsigned i = next(state) % 20; i; i--)
		vector.push_back(i);
	block = calloc(3, next(state) % 50);
	block = realloc(block, next(state) % 500 + 1);
	free(block);
	if (next(state) % 50 == 0 && !leak(100 + key))
		abort();
}

static void work(unsigned state, unsigned rounds)
{
	std::map<int, std::string> map;

	for (unsigned i = 0; i < rounds; i++)
		step(map, state);
	free(nullptr);
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? atoi(argv[1]) : 1;
	unsigned rounds = argc > 2 ? atoi(argv[2]) : 100;
	unsigned pause = argc > 3 ? atoi(argv[3]) : 0;
	std::vector<std::thread> all;

	for (unsigned i = 0; i < threads; i++)
		all.emplace_back(work, i + 1, rounds);
	for (auto &thread : all)
		thread.join();
	usleep(pause * 1000);
	for (unsigned i = 0; pause && i < 10; i++)
		if (!leak(5000))
			abort();
	return 0;
}
