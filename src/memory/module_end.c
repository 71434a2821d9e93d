/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/module_end.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Linkers write about a dozen. */
#define HEADERS_MAX 256

#define UNKNOWN UINT64_MAX

/* Addresses as the file has them. */
struct module_extent {
	uint64_t low, high; /* low: UINT64_MAX before the first one */
};

/* Of both classes. */
struct headers {
	uint64_t offset, size;
	unsigned count;
	bool wide;
};

static bool read_head(struct memory *memory, taddr_t start, struct headers *ret)
{
	union {
		Elf32_Ehdr narrow;
		Elf64_Ehdr wide;
	} head;

	if (memory_read(memory, start, &head, sizeof(head)) ||
	    memcmp(head.wide.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	if (head.wide.e_ident[EI_CLASS] == ELFCLASS64)
		*ret = (struct headers){ head.wide.e_phoff,
					 head.wide.e_phentsize,
					 head.wide.e_phnum, true };
	else
		*ret = (struct headers){ head.narrow.e_phoff,
					 head.narrow.e_phentsize,
					 head.narrow.e_phnum, false };
	return ret->count <= HEADERS_MAX &&
	       ret->size ==
		       (ret->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
}

/* Of both classes; read at once, as there may be millions of modules. */
union segments {
	Elf32_Phdr narrow[HEADERS_MAX];
	Elf64_Phdr wide[HEADERS_MAX];
};

static Elf64_Phdr segment_of(const union segments *segments, bool wide,
			     unsigned index)
{
	return wide ? segments->wide[index] :
		      (Elf64_Phdr){
			      .p_type = segments->narrow[index].p_type,
			      .p_vaddr = segments->narrow[index].p_vaddr,
			      .p_memsz = segments->narrow[index].p_memsz,
		      };
}

static bool add_segment(struct module_extent *extent, const Elf64_Phdr *segment)
{
	uint64_t end;

	if (segment->p_type != PT_LOAD || !segment->p_memsz)
		return true;
	if (__builtin_add_overflow(segment->p_vaddr, segment->p_memsz, &end))
		return false;
	if (segment->p_vaddr < extent->low)
		extent->low = segment->p_vaddr;
	if (end > extent->high)
		extent->high = end;
	return true;
}

taddr_t module_end(struct memory *memory, taddr_t start)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct module_extent extent = { .low = UINT64_MAX };
	union segments segments;
	struct headers headers;
	uint64_t size;
	taddr_t end;

	if (!read_head(memory, start, &headers) ||
	    memory_read(memory, start + headers.offset, &segments,
			headers.count * headers.size))
		return UNKNOWN;
	for (unsigned i = 0; i < headers.count; i++) {
		const Elf64_Phdr segment =
			segment_of(&segments, headers.wide, i);

		if (!add_segment(&extent, &segment))
			return UNKNOWN;
	}
	if (!extent.high ||
	    __builtin_add_overflow(extent.high, page - 1, &size))
		return UNKNOWN;
	size = (size & ~(page - 1)) - (extent.low & ~(page - 1));
	return __builtin_add_overflow(start, size, &end) ? UNKNOWN : end;
}
