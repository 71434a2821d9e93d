/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Under a load that comes and goes, what times out is forgotten. */
/* truth: begin */
#include "corpus.h"

#define OPEN 64

struct request {
	char *data;
	int ends, times_out;
} requests[OPEN];

PLAIN void begin(struct request *request, int now)
{
	request->data = malloc(256 + pick(1000));
	touch(request->data, 256);
	request->times_out = pick(12) == 0;
	request->ends = now + 1 + pick(10);
}

static void step(int i)
{
	int load = i % 100 < 50 ? i % 100 : 100 - i % 100;

	for (int k = 0; k < OPEN; k++) {
		if (requests[k].data && requests[k].ends <= i) {
			if (!requests[k].times_out)
				free(requests[k].data);
			requests[k].data = NULL;
		} else if (!requests[k].data && (int)pick(200) < load) {
			begin(&requests[k], i);
		}
	}
}
