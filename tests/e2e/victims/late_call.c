/* SPDX-License-Identifier: GPL-2.0-or-later */
/* late_call: says `begun', and calls ident() when a byte has come; status 7. */

#include <stdio.h>
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

int main(void)
{
	char byte;

	puts("begun");
	fflush(stdout);
	if (read(STDIN_FILENO, &byte, 1) != 1)
		return 2;
	return ident(0x123456789abcdef) == 0x123456789abcdef ? 7 : 9;
}
