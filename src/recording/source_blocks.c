/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/source_blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"

static int damaged(struct source_blocks *source, const char *problem)
{
	source->problem = problem;
	return -EBADMSG;
}

/* How many bytes there were: fewer at the end. */
static ssize_t read_some(int fd, uint8_t *bytes, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t more = read(fd, bytes + n, size - n);

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return -errno;
		if (!more)
			break;
		n += more;
	}
	return n;
}

int source_blocks_open(struct source_blocks *source, int fd)
{
	uint8_t bytes[RECORDING_HEAD_SIZE];
	const char *problem;
	struct stat status;
	ssize_t n;

	*source = (struct source_blocks){ .fd = fd };
	source->can_seek = !fstat(fd, &status) && S_ISREG(status.st_mode);
	n = read_some(fd, bytes, sizeof(bytes));
	if (n < 0)
		return n;
	if (n < (ssize_t)sizeof(bytes))
		return damaged(source, recording_is(bytes, n) ?
					       "its head is cut" :
					       "it is no recording");
	problem = recording_head_parse(bytes, &source->head);
	if (problem)
		return damaged(source, problem);
	source->offset = sizeof(bytes);
	return 0;
}

void source_blocks_fini(struct source_blocks *source)
{
	if (source->fd >= 0)
		close(source->fd);
	strbuf_fini(&source->stored);
	source_index_fini(&source->index);
	*source = (struct source_blocks){ .fd = -1 };
}

int source_blocks_next(struct source_blocks *source, struct block_head *ret)
{
	uint8_t bytes[BLOCK_HEAD_SIZE];
	const char *problem;
	ssize_t n;

	source->at = source->offset;
	n = read_some(source->fd, bytes, sizeof(bytes));
	if (n < 0)
		return n;
	if (n < (ssize_t)sizeof(bytes))
		return -ENODATA;
	problem = block_head_parse(bytes, ret);
	if (!problem && ret->kind == BLOCK_SNAPSHOT)
		problem = "a block is of another kind of file";
	if (problem)
		return damaged(source, problem);
	if (ret->sequence != source->sequence)
		return damaged(source, "blocks before it are missing");
	source->sequence++;
	source->offset += sizeof(bytes);
	return ret->kind == BLOCK_INDEX ? 0 : 1;
}

/* What a head promises is believed only as far as it is there. */
#define CHUNK (1u << 18)

static int read_stored(struct source_blocks *source, size_t size)
{
	uint8_t *chunk CLEANUP(xfree_cleanup) = xmalloc(CHUNK);

	strbuf_clear(&source->stored);
	while (source->stored.length < size) {
		size_t left = size - source->stored.length;
		size_t wanted = left < CHUNK ? left : CHUNK;
		ssize_t n = read_some(source->fd, chunk, wanted);

		if (n < 0)
			return n;
		strbuf_add(&source->stored, chunk, n);
		if (n < (ssize_t)wanted)
			return -ENODATA;
	}
	source->offset += size;
	return 0;
}

int source_blocks_expand(struct source_blocks *source,
			 const struct block_head *head, struct strbuf *out)
{
	int err = read_stored(source, head->stored_size);
	const char *problem;

	if (err)
		return err;
	problem = block_expand(head, strbuf_text(&source->stored), out);
	return problem ? damaged(source, problem) : 0;
}

int source_blocks_pass(struct source_blocks *source,
		       const struct block_head *head)
{
	if (!source->can_seek)
		return read_stored(source, head->stored_size);
	if (lseek(source->fd, head->stored_size, SEEK_CUR) < 0)
		return -errno;
	source->offset += head->stored_size;
	return 0;
}

void source_blocks_use_index(struct source_blocks *source)
{
	if (!source->can_seek || source->index.list ||
	    !source_index_read(source->fd, &source->index))
		return;
	/* What is passed by isn't to be read ahead. */
	(void)posix_fadvise(source->fd, 0, 0, POSIX_FADV_RANDOM);
}

int source_blocks_skip(struct source_blocks *source,
		       bool (*wanted)(const void *context,
				      const struct indexed_block *block),
		       const void *context)
{
	const struct source_index *index = &source->index;
	const uint32_t before = source->sequence;

	while (source->sequence < index->count &&
	       !wanted(context, &index->list[source->sequence]))
		source->sequence++;
	if (source->sequence == before)
		return 0;
	source->offset = source->sequence < index->count ?
				 index->list[source->sequence].offset :
				 index->end;
	return lseek(source->fd, source->offset, SEEK_SET) < 0 ? -errno : 0;
}

int source_blocks_again(struct source_blocks *source)
{
	if (lseek(source->fd, RECORDING_HEAD_SIZE, SEEK_SET) < 0)
		return -errno;
	source->offset = RECORDING_HEAD_SIZE;
	source->sequence = 0;
	source->problem = NULL;
	return 0;
}
