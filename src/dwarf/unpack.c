/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/unpack.h"

#include <elf.h>
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#include <zlib.h>
#include <zstd.h>

/* Since glibc 2.37. */
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

bool unpack_knows(uint32_t type)
{
	return type == ELFCOMPRESS_ZLIB || type == ELFCOMPRESS_ZSTD;
}

#ifdef HAVE_LIBDEFLATE
/* In less than half of zlib's time; what is no whole stream is left to that. */
static bool inflate_at_once(struct cursor from, uint8_t *to, uint64_t size)
{
	struct libdeflate_decompressor *state = libdeflate_alloc_decompressor();
	bool done;

	if (!state)
		return false;
	done = libdeflate_zlib_decompress(state, from.bytes + from.position,
					  from.size - from.position, to, size,
					  NULL) == LIBDEFLATE_SUCCESS;
	libdeflate_free_decompressor(state);
	return done;
}
#else
static bool inflate_at_once(struct cursor from UNUSED, uint8_t *to UNUSED,
			    uint64_t size UNUSED)
{
	return false;
}
#endif

static bool inflate_all(struct cursor from, uint8_t *to, uint64_t size)
{
	z_stream stream = { 0 };
	int state = inflateInit(&stream);
	uint64_t done = 0, used = from.position;

	while (state == Z_OK && done < size && used < from.size) {
		uint64_t in = from.size - used, out = size - done;

		stream.next_in = (Bytef *)from.bytes + used;
		stream.avail_in = in < 1u << 30 ? in : 1u << 30;
		stream.next_out = to + done;
		stream.avail_out = out < 1u << 30 ? out : 1u << 30;
		in = stream.avail_in;
		out = stream.avail_out;
		state = inflate(&stream, Z_NO_FLUSH);
		used += in - stream.avail_in;
		done += out - stream.avail_out;
	}
	(void)inflateEnd(&stream);
	return done == size;
}

static bool unpack_zstd(struct cursor from, uint8_t *to, uint64_t size)
{
	return ZSTD_decompress(to, size, from.bytes + from.position,
			       from.size - from.position) == size;
}

bool unpack(uint32_t type, struct cursor from, uint8_t *to, uint64_t size)
{
	switch (type) {
	case ELFCOMPRESS_ZLIB:
		return inflate_at_once(from, to, size) ||
		       inflate_all(from, to, size);
	case ELFCOMPRESS_ZSTD:
		return unpack_zstd(from, to, size);
	default:
		return false;
	}
}
