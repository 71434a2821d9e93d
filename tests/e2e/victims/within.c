/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library's function whose time is that of calls within it; and who says how long
   each of its calls took, in nanoseconds. */
#include <stdio.h>
#include <time.h>

int outer(int calls);

#ifdef LIBRARY
int outer(int calls)
{
	char text[32];
	int i, length = 0;

	for (i = 0; i < calls; i++)
		length += snprintf(text, sizeof(text), "%d", i);
	return length;
}
#else
static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

int main(void)
{
	long long began;
	int i;

	for (i = 0; i < 200; i++) {
		began = now();
		if (outer(20) != 30)
			return 1;
		printf("%lld\n", now() - began);
	}
	return 0;
}
#endif
