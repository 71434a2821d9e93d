/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PICTURE_H
#define CALLTRAP_PICTURE_H

#include "base/memory.h"
#include "memory/mappings.h"

/*
 * A copy of what a process can write: pages that are there, or swapped out.
 * Taken while it stands still, it is of one instant, and looked at when the
 * process runs again.
 */
struct picture_run {
	taddr_t start, end;
	uint8_t *bytes;
	bool huge, swapped; /* as its pages were in the process */
	bool plain;         /* memory of no file, not shared, that was there */
};

struct picture {
	struct memory memory;     /* of the copy; zeros where nothing was */
	struct picture_run *runs; /* by address */
	size_t count, room;
	uint64_t bytes;
	uint8_t *copy; /* room for so many: */
	uint64_t room_bytes;
	uint64_t unread;    /* bytes that were there and couldn't be had */
	bool huge_known;    /* the kernel tells which pages are huge */
	bool faults_served; /* by a userfaultfd, or that isn't known */
	bool of_copy;       /* what is read is a copy of the process */
};

/*
 * One that is put together from bytes that are there already, and stay the
 * caller's: runs by address, page by page.
 */
void picture_init(struct picture *ret);
void picture_add(struct picture *picture, taddr_t start, taddr_t end,
		 uint8_t *bytes);

/*
 * Makes room, as long as the process runs; -ENOMEM when so much isn't to be had
 * on this machine, -EFBIG when it is more than most (0: any is fine). bytes_ret:
 * how much that is.
 */
int picture_prepare(const struct mappings *mappings, uint64_t most,
		    struct picture *ret, uint64_t *bytes_ret) MUST_CHECK;

/*
 * original: the process of which mappings is a copy, or the same; a copy has no
 * page tables of shared memory. -EAGAIN: by now there is more than room was
 * made for.
 */
struct procmem;

int picture_take(struct procmem *memory, const struct mappings *mappings,
		 pid_t original, struct picture *picture) MUST_CHECK;
void picture_fini(struct picture *picture);

/*
 * What is there of [start, end), as a row of runs: the first of them; false at
 * the end; clipped to the range. hint: the run that was found last, 0 at first.
 */
struct picture_part {
	taddr_t start, end;
	const uint8_t *bytes;
	bool huge, swapped;
};

bool picture_next(const struct picture *picture, size_t *hint, taddr_t start,
		  taddr_t end, struct picture_part *ret);

/* Bytes in pages that are in memory, those of them in huge pages, and those in
   pages that are swapped out. */
struct page_sums {
	uint64_t resident, huge, swapped;
};

/* Of what is in it of [start, end). */
struct page_sums picture_count(const struct picture *picture, size_t *hint,
			       taddr_t start, taddr_t end);

static inline void page_sums_add(struct page_sums *to,
				 const struct page_sums *more)
{
	to->resident += more->resident;
	to->huge += more->huge;
	to->swapped += more->swapped;
}

/* What is at an address will be looked at soon. */
void picture_fetch(const struct picture *picture, size_t *hint,
		   taddr_t address);

#endif
