// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that may be stopped at any moment: they call back through the C
// library, throw through frames that clean up, and are interrupted by a timer.
// Runs until its standard input ends.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <unistd.h>

static volatile unsigned sink;

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	sink += snprintf(nullptr, 0, "%d %s", x, "text");
	return (x > y) - (x < y);
}

static void sort()
{
	int numbers[32];

	for (int &number : numbers)
		number = rand() % 100;
	qsort(numbers, 32, sizeof(*numbers), compare);
	sink += numbers[0];
}

static __attribute__((noinline)) void go_deeper(int depth)
{
	std::string cleaned_up(depth * 7 + 20, 'x');

	if (depth == 0) {
		sort();
		throw std::runtime_error("the bottom");
	}
	go_deeper(depth - 1);
	sink += cleaned_up.size();
}

static void *work(void *)
{
	for (;;) {
		try {
			go_deeper(12);
		} catch (const std::exception &error) {
			sink += error.what()[0];
		}
	}
	return nullptr;
}

static void on_signal(int)
{
	int numbers[] = { 3, 1, 2 };

	qsort(numbers, 3, sizeof(*numbers), compare);
}

int main()
{
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } };
	pthread_t thread;
	char byte;

	signal(SIGPROF, on_signal);
	setitimer(ITIMER_PROF, &often, nullptr);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, nullptr, work, nullptr);
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) != 0)
		;
	_exit(0);
}
