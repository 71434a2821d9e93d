/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_UNWIND_ROW_H
#define CALLTRAP_UNWIND_ROW_H

#include <stdbool.h>

#include "stack/cfi.h"

/*
 * What the unwind tables say of one address, in a form that is applied in no
 * time: where the caller's registers are.
 */
enum place_kind {
	PLACE_UNKNOWN,
	PLACE_MEMORY, /* it lies at base + offset */
	PLACE_VALUE,  /* it is base + offset */
};

/* Besides registers: the frame's address (the stack pointer at the call). */
#define BASE_CFA DWARF_REGISTERS_MAX

struct saved_place {
	uint8_t reg; /* of the caller */
	uint8_t kind;
	uint8_t base;
	int32_t offset;
};

struct unwind_row {
	bool is_outermost;    /* the tables say that nobody has called it */
	bool is_signal_frame; /* its caller was interrupted, anywhere */
	bool is_unlearned;    /* it takes more than adding and reading:
				 libunwind is asked at each frame there */
	bool cfa_in_memory;   /* the frame's address is what lies at base +
				 offset, plus cfa_behind */
	uint64_t address;     /* is_unlearned: where that is */
	uint8_t cfa_base;
	uint8_t count;
	int32_t cfa_offset;
	int32_t cfa_behind;
	struct saved_place return_address;
	/* Of registers that are not as they were. */
	struct saved_place places[];
};

#define UNWIND_ROW_SIZE_MAX          \
	(sizeof(struct unwind_row) + \
	 DWARF_REGISTERS_MAX * sizeof(struct saved_place))

/*
 * Learns them, from libunwind: it is let go one step from registers, and
 * through memory, whose values are marks that stand for where they come from.
 */
struct learner;

struct learner *learner_new(void) MUST_CHECK;
void learner_free(struct learner *learner);

/*
 * The row for a task of the image's that stands at address, to be freed.
 * NULL when nothing is known.
 */
struct unwind_row *learner_row(struct learner *learner, struct image *image,
			       const struct cfi *cfi, uint64_t address);

/* A frame's registers, and how its memory is read. */
struct frame_state {
	uint64_t registers[DWARF_REGISTERS_MAX];
	uint64_t unknown; /* a bit for each that isn't known */
	bool (*read_word)(void *context, taddr_t address, uint64_t *ret);
	void *context;
};

/*
 * What the records say of a frame at address, by libunwind: makes its
 * registers those of the caller. Of 64-bit code only.
 */
bool learner_step(struct learner *learner, struct image *image,
		  const struct cfi *cfi, uint64_t address,
		  struct frame_state *frame);

#endif
