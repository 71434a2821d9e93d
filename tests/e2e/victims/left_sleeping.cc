/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * left_sleeping THREADS CALLS: one sleeps, time and again, and ever longer when a line
 * has come. Then so many others call labs() so often. Ends at the next line; 7 = all
 * were right.
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <vector>

#define LONGEST 2000 /* ms */

int main(int argc, char **argv)
{
	const long count = argc == 3 ? atol(argv[1]) : 0;
	const long calls = argc == 3 ? atol(argv[2]) : 0;
	std::vector<std::thread> threads;
	std::atomic<long> wrong(0);
	std::atomic<bool> begun(false), over(false);
	char line[8];

	std::thread sleeper([&] {
		for (int i = 5; !over; i = begun && i < LONGEST ? 2 * i : i)
			wrong += usleep(1000 * i) != 0;
	});
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 2;
	begun = true;
	for (long i = 0; i < count; i++)
		threads.emplace_back([&] {
			for (long k = 0; k < calls; k++)
				wrong += labs(-k) != k;
		});
	for (std::thread &thread : threads)
		thread.join();
	over = true;
	sleeper.join();
	puts("done");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 2;
	return wrong ? 1 : 7;
}
