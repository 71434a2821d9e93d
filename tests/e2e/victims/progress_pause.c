/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <unistd.h>

/* A recording of it, replayed at its own pace, takes two seconds and a half. */
int main(void)
{
	for (int i = 0; i < 5; i++) {
		void *volatile block = malloc(100);

		usleep(500000);
		free(block);
	}
	return 0;
}
