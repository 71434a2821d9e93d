/* SPDX-License-Identifier: GPL-2.0-or-later */
/* late_call: says `begun', and calls ident() when a byte has come; status 7. */

#include <stdio.h>
#include <unistd.h>

#include "ident.h"

int main(void)
{
	char byte;

	puts("begun");
	fflush(stdout);
	if (read(STDIN_FILENO, &byte, 1) != 1)
		return 2;
	return ident(0x123456789abcdef) == 0x123456789abcdef ? 7 : 9;
}
