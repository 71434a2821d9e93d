/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <lzma.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "image/private.h"

/*
 * MiniDebugInfo: .gnu_debugdata holds an ELF file, compressed with xz, whose
 * .symtab has the functions that aren't in the dynamic symbol table. Some
 * Linux distributions ship every binary with one.
 */

/* xz -9 needs 65 MiB to unpack; what comes out is a few MiB at most. */
#define DECODER_MEMORY (80ull << 20)
#define UNPACKED_MAX   (64u << 20)

static bool run(lzma_stream *stream, uint8_t **bytes_ret, size_t *size_ret)
{
	uint8_t *bytes = NULL;
	size_t room = 256u << 10, size = 0;
	lzma_ret state = LZMA_OK;

	while (state == LZMA_OK && room < UNPACKED_MAX) {
		room *= 2;
		bytes = xreallocarray(bytes, room, 1);
		stream->next_out = bytes + size;
		stream->avail_out = room - size;
		do
			state = lzma_code(stream, LZMA_FINISH);
		while (state == LZMA_OK && stream->avail_out);
		size = room - stream->avail_out;
	}
	if (state != LZMA_STREAM_END) {
		free(bytes);
		return false;
	}
	*bytes_ret = bytes;
	*size_ret = size;
	return true;
}

static bool unpack(const struct blob *packed, struct source *ret)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	uint8_t *bytes;
	size_t size;
	bool done;

	if (lzma_stream_decoder(&stream, DECODER_MEMORY, 0) != LZMA_OK)
		return false;
	stream.next_in = packed->bytes;
	stream.avail_in = packed->size;
	done = run(&stream, &bytes, &size);
	lzma_end(&stream);
	return done && !source_init_bytes(ret, bytes, size);
}

bool image_add_minidebug(const struct image *image)
{
	struct tables *tables = image_basis(image);
	const struct section *section =
		sections_find(&tables->sections, ".gnu_debugdata");
	struct sections sections;
	struct elf_header header;
	struct source source;
	struct blob packed;
	bool added = false;

	if (!section)
		return false;
	blob_load(&packed, &image->source, section->offset, section->size);
	if (!unpack(&packed, &source)) {
		diag_debug(DIAG_MODULE, "%s: .gnu_debugdata can't be unpacked",
			   image->name);
		goto out;
	}
	if (!elf_read_header(&source, &header) &&
	    header.arch == image_arch(image)) {
		sections_init(&sections, &source);
		added = image_keep_debug(image, &source, &sections);
		sections_fini(&sections);
	}
	if (!added)
		source_fini(&source);
out:
	blob_fini(&packed);
	return added;
}
