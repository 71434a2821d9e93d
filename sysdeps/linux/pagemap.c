/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/pagemap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

/* linux/fs.h of Linux 6.7, which older headers lack. */
struct scan_region {
	uint64_t start, end, categories;
};

struct scan {
	uint64_t size, flags, start, end, walk_end;
	uint64_t regions, region_room, page_max;
	uint64_t category_inverted, category_mask, category_any;
	uint64_t category_return;
};

#define SCAN         _IOWR('f', 16, struct scan)
#define IS_PRESENT   (1 << 3)
#define IS_SWAPPED   (1 << 4)
#define IS_ZERO_PAGE (1 << 5)
#define IS_HUGE      (1 << 6)

/* 8 bytes an entry: for 64 GiB that takes a quarter of a second. */
#define READ_MAX (UINT64_C(1) << 36)

#define ENTRIES       4096
#define ENTRY_PRESENT (UINT64_C(1) << 63)
#define ENTRY_SWAPPED (UINT64_C(1) << 62)
#define ENTRY_FRAME   ((UINT64_C(1) << 55) - 1)

/* Without what newer kernels do. */
static int pagemap_open_plain(struct pagemap *map, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	*map = (struct pagemap){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (map->fd >= 0)
		return 0;
	return errno == ENOENT || errno == ESRCH ? -ERR_GONE : -errno;
}

static int scan(const struct pagemap *map, taddr_t begin, taddr_t end,
		bool kept, struct page_run *ret)
{
	struct scan_region region = { 0 };
	struct scan request = {
		.size = sizeof(request),
		.start = begin,
		.end = end,
		.regions = (uintptr_t)&region,
		.region_room = 1,
		/* A page of zeros is everybody's, and no memory. */
		.category_inverted = IS_ZERO_PAGE,
		.category_mask = IS_ZERO_PAGE,
		.category_any = IS_PRESENT | (kept ? IS_SWAPPED : 0),
		.category_return = IS_PRESENT | IS_SWAPPED | IS_HUGE,
	};
	int found = ioctl(map->fd, SCAN, &request);

	if (found < 0)
		return -errno;
	*ret = (struct page_run){ .begin = end, .end = end };
	if (found)
		*ret = (struct page_run){
			.begin = region.start,
			.end = region.end,
			/* One that is being moved is both. */
			.huge = region.categories & IS_HUGE &&
				!(region.categories & IS_SWAPPED),
			.swapped = region.categories & IS_SWAPPED,
		};
	return 0;
}

void pagemap_close(struct pagemap *map)
{
	if (map->fd >= 0)
		close(map->fd);
	map->fd = -1;
}

static int read_entries(const struct pagemap *map, taddr_t begin, taddr_t end,
			uint64_t *entries)
{
	uint64_t count = (end - begin) / PAGE;
	ssize_t n;

	if (count > ENTRIES)
		count = ENTRIES;
	n = pread(map->fd, entries, count * sizeof(*entries),
		  (off_t)(begin / PAGE * sizeof(*entries)));
	if (n < 0)
		return -errno;
	return (int)((size_t)n / sizeof(*entries));
}

/* Where the page of zeros is that all read who have written nothing yet: told to
   root alone. */
static uint64_t zero_frame(void)
{
	const volatile char *page =
		mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const taddr_t address = (uintptr_t)page;
	struct pagemap own = { .fd = -1 };
	uint64_t entry = 0;

	if (page == MAP_FAILED)
		return 0;
	(void)*page;
	if (!pagemap_open_plain(&own, getpid()) &&
	    read_entries(&own, address, address + PAGE, &entry) != 1)
		entry = 0;
	pagemap_close(&own);
	munmap((void *)page, PAGE);
	return entry & ENTRY_FRAME;
}

int pagemap_open(struct pagemap *map, pid_t pid)
{
	struct page_run run;
	int err = pagemap_open_plain(map, pid);

	if (err)
		return err;
	map->scans = !scan(map, 0, PAGE, false, &run);
	map->zero_frame = map->scans ? 0 : zero_frame();
	return 0;
}

/* A page of zeros is no memory, where it is known. */
static uint64_t state_of(const struct pagemap *map, uint64_t entry,
			 uint64_t wanted)
{
	const bool is_zero = map->zero_frame && entry & ENTRY_PRESENT &&
			     (entry & ENTRY_FRAME) == map->zero_frame;

	return is_zero ? 0 : entry & wanted;
}

static int read_run(const struct pagemap *map, taddr_t begin, taddr_t end,
		    uint64_t wanted, struct page_run *ret)
{
	uint64_t entries[ENTRIES], state;
	int count, first, last;

	*ret = (struct page_run){ .begin = end, .end = end };
	for (; begin < end; begin += (taddr_t)count * PAGE) {
		count = read_entries(map, begin, end, entries);
		if (count <= 0)
			return count;
		first = 0;
		while (first < count && !state_of(map, entries[first], wanted))
			first++;
		if (first == count)
			continue;
		state = state_of(map, entries[first], wanted);
		last = first;
		while (last < count &&
		       state_of(map, entries[last], wanted) == state)
			last++;
		ret->swapped = state & ENTRY_SWAPPED;
		ret->begin = begin + (taddr_t)first * PAGE;
		ret->end = begin + (taddr_t)last * PAGE;
		return 0;
	}
	return 0;
}

static int next(const struct pagemap *map, taddr_t begin, taddr_t end,
		bool kept, struct page_run *ret)
{
	if (map->scans)
		return scan(map, begin, end, kept, ret);
	if (end - begin > READ_MAX)
		return -EFBIG;
	return read_run(map, begin, end,
			ENTRY_PRESENT | (kept ? ENTRY_SWAPPED : 0), ret);
}

int pagemap_next(struct pagemap *map, taddr_t begin, taddr_t end,
		 struct page_run *ret)
{
	return next(map, begin, end, false, ret);
}

int pagemap_next_kept(struct pagemap *map, taddr_t begin, taddr_t end,
		      struct page_run *ret)
{
	return next(map, begin, end, true, ret);
}

enum page_kind pagemap_kind(pid_t pid, taddr_t address)
{
	const taddr_t begin = address & -(taddr_t)PAGE;
	enum page_kind kind = PAGE_KNOWN;
	struct page_run run;
	struct pagemap map;

	if (pagemap_open(&map, pid))
		return kind;
	if (map.scans && !pagemap_next(&map, begin, begin + PAGE, &run))
		kind = run.begin == run.end ? PAGE_ABSENT :
		       run.huge             ? PAGE_HUGE :
					      PAGE_KNOWN;
	pagemap_close(&map);
	return kind;
}
