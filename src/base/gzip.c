/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/gzip.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "base/xalloc.h"

/* Added to the size of the window: gzip's head and foot, not zlib's. */
#define GZIP_FORMAT 16
#define WINDOW_BITS (15 + GZIP_FORMAT)
#define PIECE       65536

/* zlib counts what it is given in 32 bits. */
static void feed(z_stream *stream, const uint8_t **bytes, size_t *size)
{
	size_t n = *size < (1u << 30) ? *size : 1u << 30;

	if (stream->avail_in)
		return;
	stream->next_in = (uint8_t *)*bytes;
	stream->avail_in = n;
	*bytes += n;
	*size -= n;
}

void gzip_add(struct strbuf *out, const void *bytes, size_t size)
{
	const uint8_t *rest = bytes;
	z_stream stream = { 0 };
	uint8_t piece[PIECE];
	int result;

	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			 WINDOW_BITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		fatal("no memory to compress");
	do {
		feed(&stream, &rest, &size);
		stream.next_out = piece;
		stream.avail_out = sizeof(piece);
		result = deflate(&stream, size ? Z_NO_FLUSH : Z_FINISH);
		strbuf_add(out, piece, sizeof(piece) - stream.avail_out);
	} while (result != Z_STREAM_END);
	deflateEnd(&stream);
}

bool gzip_is(const void *bytes, size_t size)
{
	return size >= 2 && !memcmp(bytes, "\x1f\x8b", 2);
}

static int expand(z_stream *stream, struct strbuf *out, const uint8_t *rest,
		  size_t size, size_t limit)
{
	size_t start = out->length;
	uint8_t piece[PIECE];

	for (;;) {
		int result;

		feed(stream, &rest, &size);
		stream->next_out = piece;
		stream->avail_out = sizeof(piece);
		result = inflate(stream, Z_NO_FLUSH);
		strbuf_add(out, piece, sizeof(piece) - stream->avail_out);
		if (out->length - start > limit)
			return -EFBIG;
		if (result == Z_STREAM_END)
			return 0;
		if (result != Z_OK ||
		    (!stream->avail_in && !size && stream->avail_out))
			return -EINVAL;
	}
}

int gzip_expand(struct strbuf *out, const void *bytes, size_t size,
		size_t limit)
{
	z_stream stream = { 0 };
	int err;

	if (inflateInit2(&stream, WINDOW_BITS) != Z_OK)
		fatal("no memory to expand");
	err = expand(&stream, out, bytes, size, limit);
	inflateEnd(&stream);
	return err;
}
