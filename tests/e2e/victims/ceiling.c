/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes memory until its cgroup has no more than so many KiB left, and then
 * calls f1 and f2 all the time; ends with 7 for SIGTERM.
 *
 *	ceiling KIB USAGE-FILE LIMIT
 */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

long f1(long i);
long f2(long i);

static volatile sig_atomic_t over;

static void on_term(int signal)
{
	(void)signal;
	over = 1;
}

static long usage(int file)
{
	char text[32] = "";

	return pread(file, text, sizeof(text) - 1, 0) > 0 ? atol(text) : 0;
}

int main(int argc, char **argv)
{
	const long left = argc == 4 ? atol(argv[1]) * 1024 : 0;
	const long limit = argc == 4 ? atol(argv[3]) : 0;
	int file = argc == 4 ? open(argv[2], O_RDONLY) : -1;
	long wrong = 0;

	if (file < 0)
		return 2;
	signal(SIGTERM, on_term);
	printf("begun\n");
	while (limit - usage(file) > left) {
		char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED)
			return 3;
		*page = 1;
	}
	printf("ready\n");
	fflush(stdout);
	for (long i = 0; !over; i++) {
		wrong += f1(i) != i + 1 || f2(i) != i + 1;
		usleep(1000);
	}
	return wrong ? 1 : 7;
}
