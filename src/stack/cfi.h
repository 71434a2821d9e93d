/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CFI_H
#define CALLTRAP_CFI_H

#include <stdbool.h>

#include "base/types.h"
#include "image/image.h"

/*
 * The call frame information of an image: .eh_frame, by the table of
 * .eh_frame_hdr or by one that is made here; or .debug_frame. Finds the
 * records for an address and checks their form; what they say is libunwind's
 * to interpret (learn.c).
 */
struct cfi;

/*
 * NULL when the image has none. The image must live as long. The second one is
 * for what the first one lacks: some files are linked from both kinds.
 */
struct cfi *cfi_new(const struct image *image) MUST_CHECK;
struct cfi *cfi_new_debug(const struct image *image) MUST_CHECK;
void cfi_free(struct cfi *cfi);

/* How many records it has. */
uint64_t cfi_count(const struct cfi *cfi);

/* Where the code begins, and its record lies, in the order of the linker's table; false
   when that isn't in memory. */
bool cfi_place(const struct cfi *cfi, uint64_t number, uint64_t *start_ret,
	       uint64_t *fde_ret);

/* A record in memory, and the address at which the image has it. */
struct cfi_record {
	uint8_t *bytes;
	size_t size;
	uint64_t address;
};

/* What is known of an address. */
struct cfi_entry {
	uint64_t start; /* of the code that the record is for */
	struct cfi_record fde;
	struct cfi_record cie;
	bool is_signal_frame; /* what a signal handler returns to */
};

/* False when there is nothing for the address. */
bool cfi_find(const struct cfi *cfi, uint64_t address, struct cfi_entry *ret);
void cfi_entry_fini(struct cfi_entry *entry);

#endif
