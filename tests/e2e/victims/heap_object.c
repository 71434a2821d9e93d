/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forgets a compiled pattern twenty times a second: one leak, of all the blocks
 * that a library makes for one.
 */
#include <regex.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) static void forget_pattern(void)
{
	regex_t pattern; /* never regfree()d */

	regcomp(&pattern, "^([a-z]+)[0-9]*(x|yz)?$", REG_EXTENDED);
}

int main(void)
{
	puts("ready");
	fflush(stdout);
	for (unsigned i = 1;; i++) {
		forget_pattern();
		if (i % 10 == 0)
			puts("ten more");
		fflush(stdout);
		usleep(50000);
	}
}
