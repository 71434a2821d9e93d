/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Appends samples to an array that doubles when it is full, and frees it every
 * six seconds, when they have been written.
 */
#include "server.h"

static uint64_t *samples;
static size_t n_samples, capacity;

static void append_sample(uint64_t sample)
{
	if (n_samples == capacity) {
		capacity = capacity ? 2 * capacity : 16;
		samples = realloc(samples, capacity * sizeof(*samples));
	}
	samples[n_samples++] = sample;
}

static void write_samples(void)
{
	free(samples);
	samples = NULL;
	n_samples = capacity = 0;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 1; serving(6); i++) {
		append_sample(i);
		if (i % 1000 == 0)
			write_samples();
	}
	return 0;
}
