/* SPDX-License-Identifier: GPL-2.0-or-later
 * needs: -lz
 *
 * Compresses parts and expands them again. One in nine is damaged on its way,
 * and then inflateEnd() isn't reached.
 */
#include "server.h"

#include <zlib.h>

static size_t deflate_part(unsigned char *to, size_t size)
{
	unsigned char text[500];
	z_stream z = { 0 };

	memset(text, 'a' + (int)pick(26), sizeof(text));
	if (deflateInit(&z, 1) != Z_OK)
		return 0;
	z.next_in = text;
	z.avail_in = sizeof(text);
	z.next_out = to;
	z.avail_out = (unsigned int)size;
	deflate(&z, Z_FINISH);
	deflateEnd(&z);
	return size - z.avail_out;
}

static int inflate_part(unsigned char *from, size_t size)
{
	unsigned char text[500];
	z_stream z = { 0 };

	if (inflateInit(&z) != Z_OK)
		return -1;
	z.next_in = from;
	z.avail_in = (unsigned int)size;
	z.next_out = text;
	z.avail_out = sizeof(text);
	if (inflate(&z, Z_FINISH) != Z_STREAM_END)
		return -1;
	return inflateEnd(&z);
}

int main(int argc, char **argv)
{
	unsigned char part[1000];
	size_t size;

	serve_for(argc, argv);
	while (serving(70)) {
		size = deflate_part(part, sizeof(part));
		if (pick(9) == 0)
			part[0] ^= 0xff;
		inflate_part(part, size);
	}
	return 0;
}
