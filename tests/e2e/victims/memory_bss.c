// SPDX-License-Identifier: GPL-2.0-or-later
// The last page of its data is made read-only: .bss follows what can't be
// written, as some linkers lay it out.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096

char data[3 * PAGE] __attribute__((aligned(PAGE))) = { 1 };
char room[16 * PAGE];
void *kept;

extern char __bss_start[];

int main(void)
{
	char *end = (char *)((uintptr_t)__bss_start & -(uintptr_t)PAGE);

	kept = malloc(5000);
	if (!kept || mprotect(end - PAGE, PAGE, PROT_READ))
		return 1;
	puts("ready");
	fflush(stdout);
	return getchar() == 'q' ? 0 : 1;
}
