/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gets signals within operator new, whose handler of failures runs for a few
 * milliseconds, until a line is read. Says how many calls have failed. With an
 * argument it makes a child each time instead, and waits for it.
 */
#include <atomic>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <new>
#include <thread>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void handle(int)
{
	handled = handled + 1;
}

static void spin(long ns)
{
	timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec -
		       begin.tv_nsec <
	       ns);
}

static void there_is_no_more()
{
	for (int i = 0; i < 4; i++) {
		raise(SIGUSR1);
		spin(1000000);
	}
	throw std::bad_alloc();
}

static void wait_for_child()
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	throw std::bad_alloc();
}

int main(int argc, char **)
{
	std::atomic<bool> over(false);
	long failed = 0;

	signal(SIGUSR1, handle);
	std::set_new_handler(there_is_no_more);
	std::thread reader([&] {
		(void)getchar();
		over = true;
	});
	while (!over) {
		try {
			if (argc > 1)
				wait_for_child();
			::operator delete(::operator new(~0ul >> 2));
		} catch (const std::bad_alloc &) {
			failed++;
		}
	}
	reader.join();
	printf("%ld failed, %s\n", failed,
	       handled == (argc > 1 ? 0 : 4 * failed) ? "right" : "wrong");
	return 0;
}
