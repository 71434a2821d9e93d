/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth: new_plane */
#include "../corpus.h"

/* Frames of a film have three planes, which are used again as long as frames are of
   one size. When that changes, two of them are given back. */
static unsigned char *planes[3];
static size_t size;

PLAIN static unsigned char *new_plane(size_t bytes)
{
	unsigned char *plane = malloc(bytes);

	memset(plane, 16, bytes);
	return plane;
}

static void resize(size_t bytes)
{
	free(planes[0]);
	free(planes[1]);
	for (int i = 0; i < 3; i++)
		planes[i] = new_plane(i ? bytes / 4 : bytes);
	size = bytes;
}

PLAIN static void encode(void)
{
	unsigned char *packet = malloc(size / 10);

	memcpy(packet, planes[0], size / 10);
	touch(packet, size / 10);
	free(packet);
}

static void step(int i)
{
	if (i % 6 == 0)
		resize(200000 + 1000 * pick(5));
	for (int n = 0; n < 4; n++)
		encode();
}
