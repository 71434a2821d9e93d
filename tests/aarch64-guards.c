/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * For tests/aarch64.sh: calls a function of a guarded library CALLS times. Ends
 * with 77 where its pages aren't guarded.
 */
#define CALLS 100

int guarded(int number);

/* What the kernel says of the mapping that a function is in. */
static int is_guarded(unsigned long address)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	unsigned long low, high;
	char line[512];
	int is_there = 0, is = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &low, &high) == 2)
			is_there = low <= address && address < high;
		else if (is_there && !strncmp(line, "VmFlags:", 8))
			is = strstr(line, " bt") != NULL;
	}
	if (file)
		fclose(file);
	return is;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < CALLS; i++)
		sum += guarded(i) - i;
	if (!is_guarded((unsigned long)guarded))
		return 77;
	return sum == CALLS / 2 * 3 ? 0 : 1;
}
