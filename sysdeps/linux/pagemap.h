/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PAGEMAP_H
#define CALLTRAP_PAGEMAP_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/types.h"

/* Which pages of a process are in memory: /proc/PID/pagemap. */

/* Pages in a row that are there, or (begin == end) none. */
struct page_run {
	taddr_t begin, end;
	bool huge;    /* by one entry of a page directory: 2 MiB each */
	bool swapped; /* not there, but in swap */
};

struct pagemap {
	int fd;
	bool scans; /* the kernel does, since Linux 6.7; else every entry is
		       read, and no page is known to be huge */
	uint64_t zero_frame; /* without scans: that is no memory; 0: untold */
};

/* -ERR_GONE when the process is; -EACCES, … */
int pagemap_open(struct pagemap *map, pid_t pid) MUST_CHECK;
void pagemap_close(struct pagemap *map);

/*
 * The first run in [begin, end), or an empty one at the end. Adjacent runs may
 * come as several. -EFBIG: without scans, and to read that much would take too
 * long; other errors when the process is gone.
 */
int pagemap_next(struct pagemap *map, taddr_t begin, taddr_t end,
		 struct page_run *ret) MUST_CHECK;

/* The same of pages that are there or in swap; of shared memory the kernel doesn't
   say of a page that it is in swap. */
int pagemap_next_kept(struct pagemap *map, taddr_t begin, taddr_t end,
		      struct page_run *ret) MUST_CHECK;

/* What is at an address. PAGE_KNOWN is all that older kernels tell. */
enum page_kind { PAGE_KNOWN, PAGE_ABSENT, PAGE_HUGE };

enum page_kind pagemap_kind(pid_t pid, taddr_t address);

#endif
