/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program can do to those who look at it; argv[1] says which. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* System calls that there are not. */
static void numbers(long count)
{
	for (long i = 0; i < count; i++)
		syscall(100000 + i);
	printf("count MAIN numbers %ld\n", count);
}

/* ESC, DEL, and U+009B, which terminals take for ESC [. */
#define CONTROLS "a\033[31mb\177c\302\233" "31md"

static void text(void)
{
	prctl(PR_SET_NAME, CONTROLS);
	if (!getenv(CONTROLS))
		setenv("NAME", CONTROLS, 1);
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "numbers"))
		numbers(atol(argv[2]));
	else if (argc > 1 && !strcmp(argv[1], "text"))
		text();
	return 0;
}
