/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/source_index.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "recording/numbers.h"

static bool read_at(int fd, uint64_t offset, void *bytes, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t more = pread(fd, (char *)bytes + n, size - n,
				     (off_t)(offset + n));

		if (more <= 0)
			return false;
		n += more;
	}
	return true;
}

/* Where the index begins; 0: there is none. */
static uint64_t find(int fd)
{
	uint8_t tail[RECORDING_TAIL_SIZE];
	struct stat status;
	uint64_t at, size;

	if (fstat(fd, &status))
		return 0;
	size = status.st_size;
	if (size < RECORDING_HEAD_SIZE + BLOCK_HEAD_SIZE + sizeof(tail) ||
	    !read_at(fd, size - sizeof(tail), tail, sizeof(tail)) ||
	    !recording_tail_parse(tail, &at) || at < RECORDING_HEAD_SIZE ||
	    at > size - sizeof(tail) - BLOCK_HEAD_SIZE)
		return 0;
	return at;
}

/* Only as long as there is room for as many blocks before it. */
static bool read_block(int fd, uint64_t at, struct block_head *head,
		       struct strbuf *out)
{
	uint8_t bytes[BLOCK_HEAD_SIZE];
	char *stored CLEANUP(xfree_cleanup) = NULL;
	struct stat status;

	if (!read_at(fd, at, bytes, sizeof(bytes)) ||
	    block_head_parse(bytes, head) || head->kind != BLOCK_INDEX ||
	    head->count != head->sequence ||
	    head->count > at / BLOCK_HEAD_SIZE || fstat(fd, &status) ||
	    head->stored_size > (uint64_t)status.st_size - at)
		return false;
	stored = xmalloc(head->stored_size + 1);
	return read_at(fd, at + BLOCK_HEAD_SIZE, stored, head->stored_size) &&
	       !block_expand(head, stored, out);
}

/* The entries must be those of blocks that come one after the other. */
static bool take_entries(struct cursor *in, struct source_index *index)
{
	uint64_t offset = 0, time = 0;

	for (size_t i = 0; i < index->count; i++) {
		struct indexed_block *block = &index->list[i];
		uint64_t farther = take_varint(in);

		if (farther > index->end - offset ||
		    (i ? farther < BLOCK_HEAD_SIZE :
			 farther != RECORDING_HEAD_SIZE))
			return false;
		offset += farther;
		block->offset = offset;
		block->kind = take_varint(in);
		take_varint(in);
		time += unzigzag(take_varint(in));
		block->first_time = time;
		block->last_time = time + take_varint(in);
	}
	return !in->bad;
}

bool source_index_read(int fd, struct source_index *ret)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct source_index index = { .end = find(fd) };
	struct block_head head;
	struct cursor in;

	if (!index.end || !read_block(fd, index.end, &head, &text))
		return false;
	index.count = head.count;
	index.list = xcalloc(index.count + 1, sizeof(*index.list));
	in = cursor_of(strbuf_text(&text), text.length);
	if (!take_entries(&in, &index)) {
		source_index_fini(&index);
		return false;
	}
	*ret = index;
	return true;
}

void source_index_fini(struct source_index *index)
{
	free(index->list);
	*index = (struct source_index){ 0 };
}
