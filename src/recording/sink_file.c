/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/sink_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/xalloc.h"
#include "recording/numbers.h"
#include "report/file/exposed.h"
#include "report/file/whole_file.h"

#define ROOM (32u << 20)

struct queued {
	struct sink_block block;
	struct queued *next;
};

struct sink_file {
	int fd;
	struct sink_file_policy policy;
	bool is_regular;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock. */
	struct queued *first, **end;
	size_t queued_bytes;
	bool closing, done;
	uint64_t under_way; /* events of the block that is being written */
	uint64_t hurried; /* since when nothing was taken, in a hurry; 0: not */
	uint64_t hurried_bytes;
	int error;
	struct sink_file_counts counts;
	/* The thread's own. */
	uint64_t offset;
	uint32_t sequence;
	struct strbuf index;
	uint32_t index_count;
	uint64_t indexed, indexed_time; /* the last one's */
};

/* ---- the thread ---- */

static void add_to_index(struct sink_file *file, const struct block_head *head,
			 uint64_t offset)
{
	put_varint(&file->index, offset - file->indexed);
	put_varint(&file->index, head->kind);
	put_varint(&file->index, head->count);
	put_varint(&file->index, zigzag(head->first_time - file->indexed_time));
	put_varint(&file->index, head->last_time - head->first_time);
	file->indexed = offset;
	file->indexed_time = head->first_time;
	file->index_count++;
}

/* What is there of a block that isn't whole is in nobody's way. */
static int write_packed(struct sink_file *file, const struct strbuf *packed)
{
	int err = write_bytes(file->fd, packed->text, packed->length);

	if (!err)
		file->offset += packed->length;
	else if (file->is_regular)
		(void)!ftruncate(file->fd, file->offset);
	return err;
}

static int write_block(struct sink_file *file, struct sink_block *block)
{
	CLEANUP(strbuf_fini) struct strbuf packed = { 0 };
	struct block_head head = block->head;
	uint64_t offset = file->offset;
	int err;

	head.sequence = file->sequence;
	block_add(&packed, &head, strbuf_text(&block->text),
		  block->text.length);
	err = write_packed(file, &packed);
	if (err)
		return err;
	file->sequence++;
	if (head.kind != BLOCK_INDEX)
		add_to_index(file, &head, offset);
	return 0;
}

static uint64_t events_of(const struct queued *queued)
{
	const struct block_head *head = &queued->block.head;

	return head->kind == BLOCK_EVENTS ? head->count : 0;
}

static void write_one(struct sink_file *file, struct queued *queued)
{
	int err = file->error ? 0 : write_block(file, &queued->block);

	pthread_mutex_lock(&file->lock);
	if (err)
		file->error = err;
	if (file->error)
		file->counts.unwritten += events_of(queued);
	else
		file->counts.events += events_of(queued);
	file->under_way = 0;
	file->counts.bytes = file->offset;
	file->queued_bytes -= queued->block.text.length;
	pthread_cond_broadcast(&file->changed);
	pthread_mutex_unlock(&file->lock);
}

static struct queued *next_of(struct sink_file *file)
{
	struct queued *queued;

	pthread_mutex_lock(&file->lock);
	while (!file->first && !file->closing)
		pthread_cond_wait(&file->changed, &file->lock);
	queued = file->first;
	if (queued) {
		file->first = queued->next;
		file->under_way = events_of(queued);
	}
	if (!file->first)
		file->end = &file->first;
	pthread_mutex_unlock(&file->lock);
	return queued;
}

static void *write_all(void *context)
{
	struct sink_file *file = context;
	struct queued *queued;

	while ((queued = next_of(file))) {
		write_one(file, queued);
		strbuf_fini(&queued->block.text);
		free(queued);
	}
	pthread_mutex_lock(&file->lock);
	file->done = true;
	pthread_cond_broadcast(&file->changed);
	pthread_mutex_unlock(&file->lock);
	return NULL;
}

/* ---- those who have something to write ---- */

static void free_file(struct sink_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	pthread_mutex_destroy(&file->lock);
	pthread_cond_destroy(&file->changed);
	strbuf_fini(&file->index);
	free(file);
}

static int open_path(const char *path, bool predictable)
{
	int fd;

	if (predictable && exposed_is(path))
		return exposed_open(path, false);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY,
		  0666);
	return fd < 0 ? -errno : fd;
}

int sink_file_open(const char *path, bool predictable,
		   const struct sink_file_policy *policy,
		   const struct recording_head *head, struct sink_file **ret)
{
	struct sink_file *file = xcalloc(1, sizeof(*file));
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct stat status;
	int err;

	pthread_mutex_init(&file->lock, NULL);
	pthread_cond_init(&file->changed, NULL);
	file->end = &file->first;
	file->policy = *policy;
	if (!file->policy.room)
		file->policy.room = ROOM;
	file->fd = open_path(path, predictable);
	err = file->fd < 0 ? file->fd : 0;
	file->is_regular = !err && !fstat(file->fd, &status) &&
			   S_ISREG(status.st_mode);
	recording_head_add(&text, head);
	if (!err)
		err = write_packed(file, &text);
	if (!err)
		err = -thread_begin(&file->thread, 0, write_all, file);
	if (err)
		free_file(file);
	else
		*ret = file;
	return err;
}

#define LOOK_NS  (NS_PER_SECOND / 10) /* for a signal, while it waits */
#define HURRY_NS (2 * NS_PER_SECOND)

/* Under the lock: until something has changed, or for a moment. False: that has
   been in vain for too long. */
static bool wait_for_thread(struct sink_file *file)
{
	const volatile sig_atomic_t *hurry = file->policy.hurry;
	const uint64_t now = clock_now(), end = now + LOOK_NS;

	if (!hurry || !*hurry || file->hurried_bytes != file->counts.bytes)
		file->hurried = 0;
	else if (!file->hurried)
		file->hurried = now;
	else if (now - file->hurried > HURRY_NS)
		return false;
	file->hurried_bytes = file->counts.bytes;
	pthread_cond_clockwait(&file->changed, &file->lock, CLOCK_MONOTONIC,
			       &(struct timespec){ end / NS_PER_SECOND,
						   end % NS_PER_SECOND });
	return true;
}

/* Under the lock: waits until there is room, where that is wanted. */
static bool has_room(struct sink_file *file, size_t size)
{
	bool waits = true;
	uint64_t begin;

	if (file->queued_bytes + size <= file->policy.room ||
	    !file->queued_bytes)
		return true;
	if (file->policy.drops)
		return false;
	begin = clock_now();
	while (waits && file->queued_bytes + size > file->policy.room &&
	       file->queued_bytes)
		waits = wait_for_thread(file);
	file->counts.waited_ns += clock_now() - begin;
	return waits;
}

bool sink_file_add(struct sink_file *file, struct sink_block *block)
{
	struct queued *queued = xcalloc(1, sizeof(*queued));
	bool kept;

	pthread_mutex_lock(&file->lock);
	kept = block->head.kind != BLOCK_EVENTS ||
	       has_room(file, block->text.length);
	if (kept) {
		queued->block = *block;
		*file->end = queued;
		file->end = &queued->next;
		file->queued_bytes += block->text.length;
		pthread_cond_broadcast(&file->changed);
	} else {
		file->counts.dropped += block->head.count;
	}
	pthread_mutex_unlock(&file->lock);
	if (!kept) {
		strbuf_fini(&block->text);
		free(queued);
	}
	block->text = (struct strbuf){ 0 };
	return kept;
}

void sink_file_wait(struct sink_file *file)
{
	pthread_mutex_lock(&file->lock);
	file->policy.drops = false;
	pthread_mutex_unlock(&file->lock);
}

int sink_file_error(struct sink_file *file)
{
	int err;

	pthread_mutex_lock(&file->lock);
	err = file->error;
	pthread_mutex_unlock(&file->lock);
	return err;
}

static int write_end(struct sink_file *file)
{
	CLEANUP(strbuf_fini) struct strbuf tail = { 0 };
	struct sink_block index = {
		.head = { .kind = BLOCK_INDEX, .count = file->index_count },
		.text = file->index,
	};
	int err;

	recording_tail_add(&tail, file->offset);
	err = write_block(file, &index);
	return err ? err : write_packed(file, &tail);
}

/* False: it still tries to write, and so has the file for itself. */
static bool end_thread(struct sink_file *file, struct sink_file_counts *ret)
{
	bool waits = true;

	pthread_mutex_lock(&file->lock);
	file->closing = true;
	pthread_cond_broadcast(&file->changed);
	while (waits && !file->done)
		waits = wait_for_thread(file);
	*ret = file->counts;
	ret->unwritten += file->under_way;
	for (const struct queued *queued = file->first; !waits && queued;
	     queued = queued->next)
		ret->unwritten += events_of(queued);
	pthread_mutex_unlock(&file->lock);
	if (waits)
		pthread_join(file->thread, NULL);
	else
		pthread_detach(file->thread);
	return waits;
}

int sink_file_close(struct sink_file *file, struct sink_file_counts *ret)
{
	struct sink_file_counts counts;
	int err = -ETIMEDOUT;

	if (end_thread(file, &counts)) {
		err = file->error ? file->error : write_end(file);
		if (close(file->fd) && !err)
			err = -errno;
		file->fd = -1;
		counts.bytes = file->offset;
		free_file(file);
	}
	if (ret)
		*ret = counts;
	return err;
}
