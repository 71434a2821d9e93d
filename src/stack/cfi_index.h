/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CFI_INDEX_H
#define CALLTRAP_CFI_INDEX_H

#include <stdbool.h>

#include "stack/cfi.h"

/*
 * What a linker that writes no .eh_frame_hdr has left out: which record is
 * for which code. Of .eh_frame, or of .debug_frame (Go has nothing else),
 * which is brought into the form of the former.
 */
struct cfi_index;

/* NULL when there is nothing to find. */
struct cfi_index *cfi_index_new(const struct image *image) MUST_CHECK;
struct cfi_index *cfi_index_new_debug(const struct image *image) MUST_CHECK;

/* The same of what the linker's table leads to, not sorted anew; NULL when
   it isn't in memory, or is no such table. */
struct cfi_index *cfi_index_new_by(const struct image *image,
				   const struct cfi *cfi) MUST_CHECK;
void cfi_index_free(struct cfi_index *index);

bool cfi_index_find(const struct cfi_index *index, uint64_t address,
		    uint64_t *start_ret, uint64_t *fde_ret);

/* All of them, by where their code begins; UINT64_MAX behind the last one. */
size_t cfi_index_count(const struct cfi_index *index);
uint64_t cfi_index_start(const struct cfi_index *index, size_t number);

/* The record and its CIE, where they lie: not to be freed, and not checked. */
bool cfi_index_entry(const struct cfi_index *index, size_t number,
		     struct cfi_entry *ret);

/* Bytes of the section; how many there are. */
size_t cfi_index_read(const struct cfi_index *index, uint64_t address,
		      void *ret, size_t size);

#endif
