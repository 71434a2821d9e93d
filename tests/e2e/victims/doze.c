/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits for a line in epoll_wait(), which a stop ends with EINTR, and calls
 * ident(); until a line begins with 'o'. Then it says how many waits have ended
 * without a cause, with status 7.
 */

#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

long ident(long x);

__attribute__((noinline)) long ident(long x)
{
	__asm__ volatile("" : "+r"(x));
	return x;
}

int main(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0), disturbed = 0;
	char line[16] = "";

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event))
		return 1;
	puts("ready");
	while (*line != 'o') {
		fflush(stdout);
		if (epoll_wait(epoll, &event, 1, -1) != 1) {
			disturbed++;
			continue;
		}
		if (read(0, line, sizeof(line)) <= 0)
			return 2;
		puts(ident(*line) == 'o' ? "over" : "called");
	}
	printf("disturbed %d\n", disturbed);
	return 7;
}
