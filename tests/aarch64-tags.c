/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * For tests/aarch64.sh: pointers that something is kept in the upper byte of,
 * which the processor leaves out.
 */
static const char text[] = "tagged";

int main(void)
{
	static const unsigned char tags[] = { 0, 1, 0x7f, 0x80, 0xff };

	for (size_t i = 0; i < sizeof(tags); i++) {
		const uintptr_t tag = (uintptr_t)tags[i] << 56;
		char *copy = strdup((const char *)((uintptr_t)text | tag));

		if (!copy || strcmp(copy, text) != 0)
			return 1;
	}
	return 0;
}
