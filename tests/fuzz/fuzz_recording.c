/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that nobody vouches for: as a file; and (most are refused by their
 * checksums) as what is in its blocks. A byte says whether it comes through a
 * pipe, where a dictionary is read only after the events before it. Then, in
 * turns, there are dictionaries and blocks of events: a byte for how many entries
 * or events there are, two for how many bytes, and these.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cursor.h"
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

static void play(int fd)
{
	uint64_t blocks = 0;
	struct playback_options options = {
		.stacks = stacks_new(),
		.families = families_new(),
		.namer = namer_new(&(struct namer_options){ 0 }),
		.ended = ended,
		.context = &blocks,
	};
	struct playback *playback = playback_new(&options);
	struct playback_end end = playback_run(playback, fd);

	if (end.error == -EBADMSG && !end.problem)
		__builtin_trap();
	playback_free(playback);
	namer_free(options.namer);
	stacks_free(options.stacks);
	families_free(options.families);
}

static void play_file(const void *bytes, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (write_bytes(fd, bytes, size) || lseek(fd, 0, SEEK_SET))
		__builtin_trap();
	play(fd);
}

/* Nobody reads as yet, and who has many pipes gets small ones. */
static bool has_room(int pipe, size_t size)
{
	const int room = fcntl(pipe, F_GETPIPE_SZ);

	return room > 0 && size <= (size_t)room;
}

static void play_pipe(const void *bytes, size_t size)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		__builtin_trap();
	if (!has_room(ends[1], size)) {
		close(ends[0]);
		close(ends[1]);
		return;
	}
	if (write_bytes(ends[1], bytes, size))
		__builtin_trap();
	close(ends[1]);
	play(ends[0]);
}

static void add_block(struct strbuf *out, enum block_kind kind,
		      uint32_t sequence, struct cursor *in)
{
	const struct block_head head = { .kind = kind,
					 .sequence = sequence,
					 .count = cursor_u8(in) };
	size_t size = cursor_u16(in);

	if (in->bad)
		return;
	if (size > in->size - in->position)
		size = in->size - in->position;
	block_add(out, &head, in->bytes + in->position, size);
	cursor_skip(in, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct cursor in = cursor_of(bytes, size);
	struct strbuf file = { 0 };
	bool through_pipe;

	play_file(bytes, size);
	through_pipe = cursor_u8(&in) & 1;
	recording_head_add(&file, &(struct recording_head){ .start = 1 });
	for (uint32_t i = 0; !in.bad && !cursor_at_end(&in); i++)
		add_block(&file, i % 2 ? BLOCK_EVENTS : BLOCK_DICTIONARY, i,
			  &in);
	if (through_pipe)
		play_pipe(file.text, file.length);
	else
		play_file(file.text, file.length);
	strbuf_fini(&file);
	return 0;
}
