/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that nobody vouches for: as a file; and (most are refused by their
 * checksums) as what is in its blocks: a byte for how many entries there are, two
 * for how long the dictionary is, the dictionary, then events.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "heap/families.h"
#include "recording/playback.h"
#include "report/file/whole_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void ended(void *context, const struct watched *process,
		  const struct heap_cost *cost)
{
	uint64_t *blocks = context;

	(void)cost;
	if (heap_family_count(process->heap))
		*blocks +=
			heap_total(process->heap, heap_family(process->heap, 0))
				->blocks;
}

static void play(const void *bytes, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	uint64_t blocks = 0;
	struct playback_options options = {
		.stacks = stacks_new(),
		.families = families_new(),
		.namer = namer_new(&(struct namer_options){ 0 }),
		.ended = ended,
		.context = &blocks,
	};
	struct playback *playback = playback_new(&options);
	struct playback_end end;

	if (write_bytes(fd, bytes, size) || lseek(fd, 0, SEEK_SET))
		__builtin_trap();
	end = playback_run(playback, fd);
	if (end.error == -EBADMSG && !end.problem)
		__builtin_trap();
	playback_free(playback);
	namer_free(options.namer);
	stacks_free(options.stacks);
	families_free(options.families);
}

static void add_block(struct strbuf *out, enum block_kind kind,
		      uint32_t sequence, uint32_t count, const uint8_t *bytes,
		      size_t size)
{
	const struct block_head head = { .kind = kind,
					 .sequence = sequence,
					 .count = count };

	block_add(out, &head, bytes, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct strbuf file = { 0 };
	size_t length;

	play(bytes, size);
	if (size < 4)
		return 0;
	length = bytes[1] | bytes[2] << 8;
	if (length > size - 4)
		length = size - 4;
	recording_head_add(&file, &(struct recording_head){ .start = 1 });
	add_block(&file, BLOCK_DICTIONARY, 0, bytes[0], bytes + 4, length);
	add_block(&file, BLOCK_EVENTS, 1, bytes[3], bytes + 4 + length,
		  size - 4 - length);
	play(file.text, file.length);
	strbuf_fini(&file);
	return 0;
}
