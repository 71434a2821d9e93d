/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "stack/libunwind.h"
#include "stack/unwind_row.h"

/*
 * Each register, and each word of memory that is read, has a mark for value:
 * a number far from all others, so that what was added to it can be told. Two
 * runs with other marks must come to the same row; what does more than add
 * and read (aligns, compares) doesn't, and has none.
 *
 * libunwind for x86_64 does for i386 too: rules are about numbered registers,
 * and only two numbers mean something to it. 7 is the stack pointer, so edi is
 * lost; 16 is the ip, which nobody's rule has on i386.
 */
#define MARKS      64
#define FIRST_WORD DWARF_REGISTERS_MAX
#define FIRST_MARK 0x40
#define MARK_SHIFT 56
#define REACH      (INT64_C(1) << 31)

/* Where libunwind finds the table of one entry that leads to the record. */
#define TABLE_ADDRESS (UINT64_C(0x3f) << MARK_SHIFT)
#define TABLE_WORDS   1

/* Words of memory that one step may read: enough for a record of 64 KiB. */
#define READS_MAX 200000

/* The same of a frame, which is done again and again; and of its memory. */
#define FRAME_READS_MAX 4096
#define FRAME_WORDS_MAX 64

struct learner {
	unw_addr_space_t space;
	/* Of one row: */
	const struct image *image;
	const struct dwarf_arch *arch;
	struct cfi_entry entry;
	int32_t table[2];
	uint64_t address;
	/* Of one run: */
	uint64_t salt;
	uint64_t words[MARKS - FIRST_WORD]; /* addresses read */
	unsigned word_count;
	unsigned reads_left;
	unsigned words_left; /* of a frame's memory */
	bool found;          /* the record is for this address */
	/* Of a frame that there is; else NULL. */
	const struct frame_state *frame;
};

static uint64_t mark(const struct learner *learner, unsigned number)
{
	return (uint64_t)(FIRST_MARK + number) << MARK_SHIFT | learner->salt;
}

/* Which mark a value was made of; -1 when of none. */
static int mark_of(const struct learner *learner, uint64_t value,
		   int32_t *offset_ret)
{
	/* A negative offset borrows from the mark's number. */
	uint64_t number =
		((value - learner->salt + (uint64_t)REACH) >> MARK_SHIFT) -
		FIRST_MARK;
	int64_t offset;

	if (number >= FIRST_WORD + learner->word_count)
		return -1;
	offset = value - mark(learner, number);
	if (offset < -REACH || offset >= REACH)
		return -1;
	*offset_ret = offset;
	return number;
}

/* ---- what libunwind asks for ---- */

static bool read_byte(const struct cfi_record *record, uint64_t address,
		      uint8_t *ret)
{
	uint64_t offset = address - record->address;

	if (offset >= record->size)
		return false;
	*ret = record->bytes[offset];
	return true;
}

static bool read_whole(const struct cfi_record *record, uint64_t address,
		       uint64_t *ret)
{
	const uint64_t offset = address - record->address;

	if (record->size < sizeof(*ret) || offset > record->size - sizeof(*ret))
		return false;
	memcpy(ret, record->bytes + offset, sizeof(*ret));
	return true;
}

/*
 * libunwind reads aligned words: one may have the end of a record and the
 * beginning of the next.
 */
static bool read_records(const struct learner *learner, uint64_t address,
			 uint64_t *ret)
{
	const struct cfi_entry *entry = &learner->entry;
	uint8_t bytes[sizeof(*ret)] = { 0 };
	bool found = false;
	size_t i;

	if (read_whole(&entry->fde, address, ret) ||
	    read_whole(&entry->cie, address, ret))
		return true;
	for (i = 0; i < sizeof(bytes); i++)
		found |= read_byte(&entry->fde, address + i, &bytes[i]) ||
			 read_byte(&entry->cie, address + i, &bytes[i]);
	memcpy(ret, bytes, sizeof(bytes));
	return found;
}

static bool read_known(const struct learner *learner, uint64_t address,
		       uint64_t *ret)
{
	const struct image *image = learner->image;

	if (address == TABLE_ADDRESS) {
		memcpy(ret, learner->table, sizeof(*ret));
		return true;
	}
	if (read_records(learner, address, ret))
		return true;
	/* What pointers in the records lead to; it isn't used. */
	*ret = 0;
	return address >= image_low(image) && address < image_high(image);
}

static bool read_mark(struct learner *learner, uint64_t address, uint64_t *ret)
{
	int32_t offset;
	unsigned i;

	if (mark_of(learner, address, &offset) < 0)
		return false;
	for (i = 0; i < learner->word_count; i++)
		if (learner->words[i] == address)
			break;
	if (i == ARRAY_SIZE(learner->words))
		return false;
	learner->words[i] = address;
	if (i == learner->word_count)
		learner->word_count++;
	*ret = mark(learner, FIRST_WORD + i);
	return true;
}

static bool read_frame(struct learner *learner, uint64_t address, uint64_t *ret)
{
	const struct frame_state *frame = learner->frame;

	if (address == TABLE_ADDRESS) {
		memcpy(ret, learner->table, sizeof(*ret));
		return true;
	}
	if (read_records(learner, address, ret))
		return true;
	return learner->words_left && learner->words_left-- &&
	       frame->read_word(frame->context, address, ret);
}

static int access_memory(unw_addr_space_t space UNUSED, unw_word_t address,
			 unw_word_t *value, int write, void *context)
{
	struct learner *learner = context;

	/* An expression may jump in circles. */
	if (write || !learner->reads_left)
		return -UNW_EINVAL;
	learner->reads_left--;
	if (learner->frame)
		return read_frame(learner, address, value) ? 0 : -UNW_EINVAL;
	if (read_known(learner, address, value) ||
	    read_mark(learner, address, value))
		return 0;
	return -UNW_EINVAL;
}

static int access_register(unw_addr_space_t space UNUSED, unw_regnum_t number,
			   unw_word_t *value, int write, void *context)
{
	struct learner *learner = context;

	if (write || number < 0 || number > UNWIND_IP)
		return -UNW_EBADREG;
	if (learner->frame && number != UNWIND_IP) {
		*value = learner->frame->registers[number];
		return learner->frame->unknown & UINT64_C(1) << number ?
			       -UNW_EBADREG :
			       0;
	}
	*value = number == UNWIND_IP || number == learner->arch->ip ?
			 learner->address :
			 mark(learner, number);
	return 0;
}

static int access_float(unw_addr_space_t space UNUSED,
			unw_regnum_t number UNUSED, unw_fpreg_t *value UNUSED,
			int write UNUSED, void *context UNUSED)
{
	return -UNW_EBADREG;
}

static int find_dynamic(unw_addr_space_t space UNUSED,
			unw_word_t *address UNUSED, void *context UNUSED)
{
	return -UNW_ENOINFO;
}

static int find_info(unw_addr_space_t space, unw_word_t ip,
		     unw_proc_info_t *ret, int need_unwind_info, void *context)
{
	struct learner *learner = context;
	unw_dyn_info_t table = {
		.start_ip = learner->entry.start,
		.end_ip = UINT64_MAX,
		.format = UNW_INFO_FORMAT_REMOTE_TABLE,
		.u.rti = {
			.segbase = learner->entry.start,
			.table_len = TABLE_WORDS,
			.table_data = TABLE_ADDRESS,
		},
	};

	int err = UNW_OBJ(dwarf_search_unwind_table)(space, ip, &table, ret,
						     need_unwind_info, context);

	learner->found = !err;
	return err;
}

static void put_info(unw_addr_space_t space UNUSED,
		     unw_proc_info_t *info UNUSED, void *context UNUSED)
{
}

static int resume(unw_addr_space_t space UNUSED, unw_cursor_t *cursor UNUSED,
		  void *context UNUSED)
{
	return -UNW_EINVAL;
}

static int find_name(unw_addr_space_t space UNUSED, unw_word_t address UNUSED,
		     char *name UNUSED, size_t size UNUSED,
		     unw_word_t *offset UNUSED, void *context UNUSED)
{
	return -UNW_ENOINFO;
}

/* ---- from values to places ---- */

static bool is_near(int64_t distance)
{
	return distance >= -REACH && distance < REACH;
}

/*
 * Where a value comes from. Memory near the frame's address is told by that,
 * which holds for frames whose address lies in memory, too.
 */
static struct saved_place place_of(const struct learner *learner, uint8_t reg,
				   uint64_t value, uint64_t cfa)
{
	struct saved_place place = { .reg = reg };
	int32_t offset, inner;
	int number = mark_of(learner, value, &offset);
	uint64_t address;

	if (number >= 0 && number < FIRST_WORD) {
		place.kind = PLACE_VALUE;
		place.base = number;
		place.offset = offset;
		return place;
	}
	if (number < 0 || offset)
		return place;
	address = learner->words[number - FIRST_WORD];
	number = mark_of(learner, address, &inner);
	if (is_near(address - cfa)) {
		place.kind = PLACE_MEMORY;
		place.base = BASE_CFA;
		place.offset = address - cfa;
	} else if (number >= 0 && number < FIRST_WORD) {
		place.kind = PLACE_MEMORY;
		place.base = number;
		place.offset = inner;
	}
	return place;
}

static bool set_cfa(const struct learner *learner, uint64_t cfa,
		    struct unwind_row *row)
{
	int number = mark_of(learner, cfa, &row->cfa_offset);

	if (number >= FIRST_WORD) {
		row->cfa_in_memory = true;
		row->cfa_behind = row->cfa_offset;
		number = mark_of(learner, learner->words[number - FIRST_WORD],
				 &row->cfa_offset);
	}
	row->cfa_base = number;
	return number >= 0 && number < FIRST_WORD;
}

static bool is_unchanged(const struct saved_place *place)
{
	return place->kind == PLACE_VALUE && place->base == place->reg &&
	       !place->offset;
}

static void add_places(const struct learner *learner, unw_cursor_t *cursor,
		       uint64_t cfa, struct unwind_row *row)
{
	const struct dwarf_arch *arch = learner->arch;
	unw_word_t value;
	uint8_t i;

	for (i = 0; i < arch->count; i++) {
		struct saved_place place = { .reg = i };

		if (i == arch->sp || i == arch->ip)
			continue;
		/* What libunwind calls the stack pointer, of another arch. */
		if (i != UNWIND_SP && !unw_get_reg(cursor, i, &value))
			place = place_of(learner, i, value, cfa);
		if (!is_unchanged(&place))
			row->places[row->count++] = place;
	}
}

/* ---- a step ---- */

static bool make_row(struct learner *learner, unw_cursor_t *cursor,
		     struct unwind_row *row)
{
	unw_word_t cfa, value;

	if (unw_get_reg(cursor, UNWIND_CFA, &cfa) ||
	    !set_cfa(learner, cfa, row) ||
	    unw_get_reg(cursor, learner->arch->return_address, &value))
		return false;
	row->return_address =
		place_of(learner, learner->arch->return_address, value, cfa);
	if (row->return_address.kind == PLACE_UNKNOWN)
		return false;
	add_places(learner, cursor, cfa, row);
	return true;
}

static bool run(struct learner *learner, uint64_t salt, struct unwind_row *row)
{
	unw_cursor_t cursor;
	int step;

	memset(row, 0, UNWIND_ROW_SIZE_MAX);
	learner->salt = salt;
	learner->word_count = 0;
	learner->reads_left = READS_MAX;
	if (unw_init_remote(&cursor, learner->space, learner))
		return false;
	learner->found = false;
	step = unw_step(&cursor);
	/* It has ways without tables; ours are better (step.c). */
	if (step < 0 || !learner->found)
		return false;
	row->is_outermost = step == 0;
	row->is_signal_frame = learner->entry.is_signal_frame;
	return step == 0 || make_row(learner, &cursor, row);
}

/* The record begins where a table entry of 32 bits can tell. */
static bool set_table(struct learner *learner)
{
	int64_t distance = learner->entry.fde.address - learner->entry.start;

	learner->table[0] = 0;
	learner->table[1] = distance;
	return is_near(distance);
}

/* Zeroed beyond the places, too: they are compared as bytes. */
union row_room {
	struct unwind_row row;
	uint8_t bytes[UNWIND_ROW_SIZE_MAX];
};

static struct unwind_row *copy(const struct unwind_row *row)
{
	size_t size = sizeof(*row) + row->count * sizeof(row->places[0]);
	struct unwind_row *copy = xmalloc(size);

	memcpy(copy, row, size);
	return copy;
}

static struct unwind_row *learn(struct learner *learner, uint64_t low_bits)
{
	union row_room first, second;

	if (run(learner, 0x23456789abcd60 + low_bits, &first.row) &&
	    run(learner, 0x5a3c9612345678 + low_bits, &second.row) &&
	    !memcmp(&first, &second, sizeof(first)))
		return copy(&first.row);
	return NULL;
}

/* libunwind has the record, but what it says is no row. */
static struct unwind_row *unlearned(const struct learner *learner)
{
	struct unwind_row *row = xcalloc(1, sizeof(*row));

	row->is_unlearned = true;
	row->address = learner->address;
	row->is_signal_frame = learner->entry.is_signal_frame;
	return row;
}

struct unwind_row *learner_row(struct learner *learner, struct image *image,
			       const struct cfi *cfi, uint64_t address)
{
	struct unwind_row *row = NULL;
	bool found;

	if (!cfi_find(cfi, address, &learner->entry))
		return NULL;
	learner->image = image;
	learner->arch = image_arch(image)->dwarf;
	learner->address = address;
	found = set_table(learner);
	if (found)
		row = learn(learner, 0);
	/*
	 * Expressions read words in two halves, which must be those of one
	 * mark. 32-bit code has some at the odd multiples of 4.
	 */
	if (found && !row && image_arch(image)->word_size == 4)
		row = learn(learner, 4);
	if (found && !row && learner->found &&
	    image_arch(image)->word_size == 8)
		row = unlearned(learner);
	cfi_entry_fini(&learner->entry);
	return row;
}

/* ---- a frame that there is ---- */

static bool step_frame(struct learner *learner, struct frame_state *frame)
{
	const struct dwarf_arch *arch = learner->arch;
	unw_word_t values[DWARF_REGISTERS_MAX] = { 0 };
	unw_cursor_t cursor;
	uint64_t unknown = 0;
	unsigned i;

	if (unw_init_remote(&cursor, learner->space, learner))
		return false;
	learner->found = false;
	if (unw_step(&cursor) <= 0 || !learner->found)
		return false;
	for (i = 0; i < arch->count; i++)
		if (unw_get_reg(&cursor,
				i == arch->ip ? arch->return_address : i,
				&values[i]))
			unknown |= UINT64_C(1) << i;
	if (unknown & (UINT64_C(1) << arch->sp | UINT64_C(1) << arch->ip))
		return false;
	memcpy(frame->registers, values, arch->count * sizeof(*values));
	frame->unknown = unknown;
	return true;
}

bool learner_step(struct learner *learner, struct image *image,
		  const struct cfi *cfi, uint64_t address,
		  struct frame_state *frame)
{
	bool done;

	if (!cfi_find(cfi, address, &learner->entry))
		return false;
	learner->image = image;
	learner->arch = image_arch(image)->dwarf;
	learner->address = address;
	learner->reads_left = FRAME_READS_MAX;
	learner->words_left = FRAME_WORDS_MAX;
	learner->frame = frame;
	done = set_table(learner) && step_frame(learner, frame);
	learner->frame = NULL;
	cfi_entry_fini(&learner->entry);
	return done;
}

struct learner *learner_new(void)
{
	unw_accessors_t accessors = {
		.find_proc_info = find_info,
		.put_unwind_info = put_info,
		.get_dyn_info_list_addr = find_dynamic,
		.access_mem = access_memory,
		.access_reg = access_register,
		.access_fpreg = access_float,
		.resume = resume,
		.get_proc_name = find_name,
	};
	struct learner *learner = xcalloc(1, sizeof(*learner));

	learner->space = unw_create_addr_space(&accessors, 0);
	if (!learner->space)
		fatal("libunwind has no memory");
	/* What it would keep are results, and these are kept here. */
	unw_set_caching_policy(learner->space, UNW_CACHE_NONE);
	return learner;
}

void learner_free(struct learner *learner)
{
	if (!learner)
		return;
	unw_destroy_addr_space(learner->space);
	free(learner);
}
