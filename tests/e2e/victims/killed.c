/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls ident(), and sleeps so many microseconds between calls, until a line
 * comes. Without its first byte ident() loses the upper half of its argument:
 * a task that is let run behind an int3 computes wrong results.
 */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__asm__(".globl ident\n"
	".type ident, %function\n"
	"ident:\n"
#ifdef __aarch64__
	"	neg x0, x0\n"
	"	neg x0, x0\n"
#else
	"	mov %rdi, %rax\n"
#endif
	"	ret\n"
	".size ident, . - ident\n");
long ident(long x);

static int is_over(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, 0) > 0;
}

int main(int argc, char **argv)
{
	useconds_t pause = argc > 1 ? atoi(argv[1]) : 0;
	long n, wrong = 0;

	puts("ready");
	fflush(stdout);
	for (n = 0; pause || n % 256 || !is_over(); n++) {
		long x = 0x123456780000000 + n;

		wrong += ident(x) != x;
		if (pause && is_over())
			break;
		if (pause)
			usleep(pause);
	}
	return wrong ? 9 : 7;
}
