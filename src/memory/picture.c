/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/xalloc.h"
#include "sysdeps/linux/pagemap.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/procmem.h"
#include "sysdeps/linux/vitals.h"

/* Read at once, while the process waits. */
#define PIECE ((size_t)4 << 20)

/* ---- which pages ---- */

/* Constants that were relocated may point at blocks, too. */
static bool may_point(const struct mapping *mapping)
{
	if (!mapping->readable || !mapping_is_programs(mapping))
		return false;
	return mapping->writable ||
	       (!mapping->shared && mapping->inode && !mapping->executable);
}

static void append(struct picture *picture, const struct picture_run *run)
{
	picture->runs = xgrow(picture->runs, picture->count, &picture->room,
			      sizeof(*picture->runs));
	picture->runs[picture->count++] = *run;
}

static void add_run(struct picture *picture, const struct page_run *run,
		    bool plain)
{
	struct picture_run *last =
		picture->count ? &picture->runs[picture->count - 1] : NULL;

	picture->bytes += run->end - run->begin;
	if (last && last->end == run->begin && last->huge == run->huge &&
	    last->swapped == run->swapped && last->plain == plain) {
		last->end = run->end;
		return;
	}
	append(picture, &(struct picture_run){ .start = run->begin,
					       .end = run->end,
					       .huge = run->huge,
					       .swapped = run->swapped,
					       .plain = plain });
}

/* Of shared memory that is swapped out, everything is read: no page says so. */
static bool add_mapping(struct picture *picture, struct pagemap *map,
			const struct mapping *mapping)
{
	const bool plain = !mapping->shared && !mapping->inode;
	taddr_t at = mapping->start;
	struct page_run run;
	int err;

	if (mapping->swapped && mapping->shared) {
		add_run(picture,
			&(struct page_run){ .begin = mapping->start,
					    .end = mapping->end },
			false);
		return true;
	}
	while (at < mapping->end) {
		err = pagemap_next_kept(map, at, mapping->end, &run);
		if (err || run.begin >= run.end)
			return !err;
		add_run(picture, &run, plain && !run.swapped);
		at = run.end;
	}
	return true;
}

static void choose_from(const struct mappings *mappings, struct pagemap *own,
			struct pagemap *shared, struct picture *picture)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *mapping = &mappings->list[i];

		if (may_point(mapping) &&
		    !add_mapping(picture, mapping->shared ? shared : own,
				 mapping))
			picture->unread += mapping->end - mapping->start;
	}
}

static int choose(const struct mappings *mappings, pid_t original,
		  struct picture *picture)
{
	struct pagemap own, shared;
	int err = pagemap_open(&own, mappings->pid);

	if (err)
		return err;
	err = pagemap_open(&shared, original);
	if (!err) {
		picture->huge_known = own.scans && shared.scans;
		choose_from(mappings, &own, &shared, picture);
		pagemap_close(&shared);
	}
	pagemap_close(&own);
	return err;
}

/* ---- reading ---- */

static bool can_have(uint64_t bytes)
{
	return bytes < vitals_available_bytes("") / 4 * 3;
}

/*
 * What stands still and is there stays there, or comes from swap: nobody else,
 * like a server of files, has to do anything for it, so the faster way, which
 * would wait for such a one, may be taken. Not of a copy: process_vm_readv() pins
 * pages, and since Linux 5.19 one that is shared is copied for that first, on the
 * account of the process's cgroup; nor page by page by that call, as all else is read
 * where some mount has such a server.
 */
static size_t read_some(struct procmem *memory, const struct picture *picture,
			const struct picture_run *run, taddr_t address,
			uint8_t *ret, size_t size)
{
	size_t done = 0;

	if (run->plain && !picture->faults_served && !picture->of_copy)
		done = procmem_read_present(memory, address, ret, size);
	else if (run->plain)
		done = procmem_read_code(memory, address, ret, size);
	if (done < size)
		done += memory_read_some(&memory->memory, address + done,
					 ret + done, size - done);
	return done;
}

/* Pages that can't be had are zeros. */
static void read_run(struct procmem *memory, struct picture *picture,
		     struct picture_run *run, uint8_t *bytes)
{
	const size_t size = run->end - run->start;
	size_t at = 0;

	run->bytes = bytes;
	while (at < size) {
		const size_t piece = size - at < PIECE ? size - at : PIECE;
		const size_t done = read_some(memory, picture, run,
					      run->start + at, bytes + at,
					      piece);

		at += done;
		if (done == piece)
			continue;
		picture->unread += 4096 - at % 4096;
		at += 4096 - at % 4096;
	}
}

static const struct picture_run *find(const struct picture *picture,
				      taddr_t address)
{
	size_t low = 0, high = picture->count;

	/* The first that ends behind it. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (picture->runs[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < picture->count ? &picture->runs[low] : NULL;
}

/* Pages that aren't there are zeros to the program. */
static size_t read_piece(const struct picture *picture, taddr_t address,
			 uint8_t *ret, size_t size)
{
	const struct picture_run *run = find(picture, address);

	if (!run || run->start > address) {
		if (run && size > run->start - address)
			size = run->start - address;
		memset(ret, 0, size);
		return size;
	}
	if (size > run->end - address)
		size = run->end - address;
	memcpy(ret, run->bytes + (address - run->start), size);
	return size;
}

static size_t read_copy(struct memory *memory, taddr_t address, void *ret,
			size_t size)
{
	const struct picture *picture = (const struct picture *)memory;
	size_t done = 0;

	while (done < size)
		done += read_piece(picture, address + done,
				   (uint8_t *)ret + done, size - done);
	return done;
}

static const struct memory_ops picture_ops = { .read = read_copy };

void picture_init(struct picture *ret)
{
	*ret = (struct picture){ .memory.ops = &picture_ops };
}

void picture_add(struct picture *picture, taddr_t start, taddr_t end,
		 uint8_t *bytes)
{
	append(picture, &(struct picture_run){
				.start = start, .end = end, .bytes = bytes });
	picture->bytes += end - start;
}

/* In huge pages, if that can be: what is looked through is all over it. */
static uint8_t *make_room(uint64_t bytes)
{
	uint8_t *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		return NULL;
	madvise(room, bytes, MADV_HUGEPAGE);
	for (uint64_t at = 0; at < bytes; at += 4096)
		((volatile uint8_t *)room)[at] = 0;
	return room;
}

/* Before the process waits: pages are made ready that it would wait for. */
int picture_prepare(const struct mappings *mappings, uint64_t most,
		    struct picture *ret, uint64_t *bytes_ret)
{
	int err;

	picture_init(ret);
	err = choose(mappings, mappings->pid, ret);
	*bytes_ret = ret->bytes;
	free(ret->runs);
	picture_init(ret);
	if (err)
		return err;
	if (most && *bytes_ret > most)
		return -EFBIG;
	/* It may have grown by then. */
	ret->room_bytes = (*bytes_ret + *bytes_ret / 16 + PIECE) &
			  ~(uint64_t)4095;
	if (!can_have(ret->room_bytes))
		return -ENOMEM;
	ret->faults_served = procfs_has_userfaultfd(mappings->pid);
	ret->copy = make_room(ret->room_bytes);
	return ret->copy ? 0 : -ENOMEM;
}

int picture_take(struct procmem *memory, const struct mappings *mappings,
		 pid_t original, struct picture *picture)
{
	uint8_t *bytes = picture->copy;
	int err = choose(mappings, original, picture);

	picture->of_copy = memory->pid != original;
	if (err)
		return err;
	if (picture->bytes > picture->room_bytes)
		return -EAGAIN;
	for (size_t i = 0; i < picture->count; i++) {
		read_run(memory, picture, &picture->runs[i], bytes);
		bytes += picture->runs[i].end - picture->runs[i].start;
	}
	return 0;
}

void picture_fini(struct picture *picture)
{
	if (picture->copy)
		munmap(picture->copy, picture->room_bytes);
	free(picture->runs);
	*picture = (struct picture){ .count = 0 };
}

static const struct picture_run *find_near(const struct picture *picture,
					   size_t *hint, taddr_t address)
{
	const struct picture_run *run = picture->runs;

	if (*hint < picture->count && address >= run[*hint].start &&
	    address < run[*hint].end)
		return &run[*hint];
	run = find(picture, address);
	if (run)
		*hint = run - picture->runs;
	return run;
}

bool picture_next(const struct picture *picture, size_t *hint, taddr_t start,
		  taddr_t end, struct picture_part *ret)
{
	const struct picture_run *run = find_near(picture, hint, start);

	if (!run || run->start >= end || start >= end)
		return false;
	if (start < run->start)
		start = run->start;
	*ret = (struct picture_part){
		.start = start,
		.end = end < run->end ? end : run->end,
		.bytes = run->bytes + (start - run->start),
		.huge = run->huge,
		.swapped = run->swapped,
	};
	return true;
}

struct page_sums picture_count(const struct picture *picture, size_t *hint,
			       taddr_t start, taddr_t end)
{
	struct page_sums sums = { 0 };
	struct picture_part part;

	while (picture_next(picture, hint, start, end, &part)) {
		const uint64_t bytes = part.end - part.start;

		sums.resident += part.swapped ? 0 : bytes;
		sums.swapped += part.swapped ? bytes : 0;
		sums.huge += part.huge && !part.swapped ? bytes : 0;
		start = part.end;
	}
	return sums;
}

void picture_fetch(const struct picture *picture, size_t *hint, taddr_t address)
{
	const struct picture_run *run = find_near(picture, hint, address);

	if (run && run->start <= address)
		__builtin_prefetch(run->bytes + (address - run->start));
}
