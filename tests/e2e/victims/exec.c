/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Becomes the command of its arguments. */

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2)
		return 1;
	execv(argv[1], argv + 1);
	perror(argv[1]);
	return 1;
}
