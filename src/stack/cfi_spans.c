/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack/cfi_spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/xalloc.h"
#include "stack/cfi_check.h"
#include "stack/cfi_number.h"

/* It may be read for each record that has it. */
#define COMMON_MOST 256

/* Compilers nest them two deep at most. */
#define REMEMBERED_MAX 4

/* Of the largest programs less than a quarter is used. */
#define RULES_MAX  4096
#define FOUND_ROOM 16384

/* DWARF 5, 7.24; 0x2e is GNU's. The first three have an operand inside. */
enum {
	ADVANCE_LOC = 0x40,
	OFFSET = 0x80,
	RESTORE = 0xc0,
	NOP = 0x00,
	ADVANCE_LOC_1 = 0x02,
	ADVANCE_LOC_2 = 0x03,
	ADVANCE_LOC_4 = 0x04,
	OFFSET_EXTENDED = 0x05,
	RESTORE_EXTENDED = 0x06,
	UNDEFINED = 0x07,
	SAME_VALUE = 0x08,
	REGISTER = 0x09,
	REMEMBER_STATE = 0x0a,
	RESTORE_STATE = 0x0b,
	DEF_CFA = 0x0c,
	DEF_CFA_REGISTER = 0x0d,
	DEF_CFA_OFFSET = 0x0e,
	DEF_CFA_EXPRESSION = 0x0f,
	EXPRESSION = 0x10,
	OFFSET_EXTENDED_SF = 0x11,
	DEF_CFA_SF = 0x12,
	DEF_CFA_OFFSET_SF = 0x13,
	VAL_EXPRESSION = 0x16,
	AARCH64_NEGATE_RA_STATE = 0x2d,
	GNU_ARGS_SIZE = 0x2e,

	ENCODED_FORMAT = 0x0f,
	ENCODED_UDATA4 = 0x03,
	ENCODED_SDATA4 = 0x0b,
};

/* Where a caller's register is. */
struct kept_register {
	enum { KEPT_AS_IT_IS, KEPT_IN_FRAME, KEPT_ODDLY } how;
	int64_t offset; /* from the frame's address */
};

/* Of registers those alone that rules are made of. */
struct state {
	bool is_odd; /* the frame's address is no register and a number */
	uint64_t base;
	int64_t offset;
	struct kept_register fp, sp, address;
};

/* What the records that have one CIE have in common. */
struct cfi_common {
	const uint8_t *bytes; /* of the CIE */
	bool gave_up;
	struct cfi_checked checked;
	uint64_t code_align;
	int64_t data_align;
	struct cursor instructions;
	struct state state; /* behind them */
};

struct run {
	struct cfi_spans *spans;
	struct cfi_common *common;
	struct cursor c;
	struct state state, remembered[REMEMBERED_MAX];
	unsigned depth, remembered_ever;
	uint64_t at, end; /* code */
	bool in_common;
	bool gave_up;
};

static int64_t sleb128(struct cursor *c)
{
	const size_t begin = c->position;
	const uint64_t value = cfi_uleb128(c);
	const unsigned bits = 7 * (unsigned)(c->position - begin);

	if (c->bad || bits >= 64 || !(value >> (bits - 1) & 1))
		return (int64_t)value;
	return (int64_t)(value | UINT64_MAX << bits);
}

/* ---- rules ---- */

static bool is_near(int64_t offset, unsigned bits)
{
	return offset >= -(INT64_C(1) << (bits - 1)) &&
	       offset < INT64_C(1) << (bits - 1);
}

/* As make_rule() of addresses.c. */
static bool make_rule(const struct arch_ops *arch, const struct state *state,
		      struct unwind_rule *ret)
{
	const struct dwarf_arch *dwarf = arch->dwarf;

	if (state->is_odd ||
	    (state->base != dwarf->fp && state->base != dwarf->sp) ||
	    state->sp.how != KEPT_AS_IT_IS ||
	    state->address.how != KEPT_IN_FRAME ||
	    state->address.offset != -(int64_t)arch->word_size ||
	    state->fp.how == KEPT_ODDLY ||
	    (state->base == dwarf->sp && state->offset < arch->word_size) ||
	    !is_near(state->offset, 32) || !is_near(state->fp.offset, 24))
		return false;
	*ret = (struct unwind_rule){
		.by_fp = state->base == dwarf->fp,
		.fp_saved = state->fp.how == KEPT_IN_FRAME,
		.offset = (int32_t)state->offset,
		.fp_offset = (int32_t)state->fp.offset,
	};
	return true;
}

static bool is_same(const struct unwind_rule *one,
		    const struct unwind_rule *other)
{
	return one->by_fp == other->by_fp && one->fp_saved == other->fp_saved &&
	       one->offset == other->offset &&
	       one->fp_offset == other->fp_offset;
}

static size_t hash_of(const struct unwind_rule *rule)
{
	const uint64_t all = (uint64_t)(uint32_t)rule->offset << 32 |
			     (uint64_t)((uint32_t)rule->fp_offset & 0xffffff)
				     << 8 |
			     (uint64_t)rule->by_fp << 1 | rule->fp_saved;

	return all * UINT64_C(0x9e3779b97f4a7c15) >> 50;
}

_Static_assert(FOUND_ROOM == 1 << (64 - 50), "as hash_of() has it");

static uint32_t number_of(struct cfi_spans *spans,
			  const struct unwind_rule *rule)
{
	size_t at = hash_of(rule);

	for (; spans->found[at]; at = (at + 1) % FOUND_ROOM)
		if (is_same(&spans->rules[spans->found[at]], rule))
			return spans->found[at];
	if (spans->rule_count == RULES_MAX)
		return 0;
	spans->rules = xgrow(spans->rules, spans->rule_count, &spans->rule_room,
			     sizeof(*spans->rules));
	spans->rules[spans->rule_count] = *rule;
	spans->found[at] = (uint16_t)spans->rule_count++;
	return spans->found[at];
}

/* ---- spans ---- */

/* From there on. */
static void add_span(struct cfi_spans *spans, uint64_t address, uint32_t rule)
{
	const uint32_t offset = (uint32_t)(address - spans->low);
	struct unwind_span *last =
		spans->count ? &spans->spans[spans->count - 1] : NULL;

	if (last && last->offset == offset) {
		last->rule = rule;
		return;
	}
	if (last && last->rule == rule)
		return;
	if (spans->count == spans->most) {
		spans->failed = true;
		return;
	}
	spans->spans = xgrow(spans->spans, spans->count, &spans->room,
			     sizeof(*spans->spans));
	spans->spans[spans->count++] = (struct unwind_span){ offset, rule };
}

static void add_state(struct run *run)
{
	struct unwind_rule rule;

	add_span(run->spans, run->at,
		 make_rule(run->spans->arch, &run->state, &rule) ?
			 number_of(run->spans, &rule) :
			 0);
}

static void advance(struct run *run, uint64_t distance)
{
	const uint64_t size = distance * run->common->code_align;

	if (run->in_common || size > run->end - run->at) {
		run->gave_up = true;
		return;
	}
	if (!size)
		return;
	add_state(run);
	run->at += size;
}

/* ---- instructions ---- */

static struct kept_register *place_of(struct run *run, struct state *state,
				      uint64_t reg)
{
	const struct dwarf_arch *dwarf = run->spans->arch->dwarf;

	if (reg == dwarf->return_address)
		return &state->address;
	if (reg == dwarf->fp)
		return &state->fp;
	return reg == dwarf->sp ? &state->sp : NULL;
}

static void keep(struct run *run, uint64_t reg, struct kept_register kept)
{
	struct kept_register *place = place_of(run, &run->state, reg);

	/* libunwind refuses what has such. */
	if (reg >= run->spans->arch->dwarf->count)
		run->gave_up = true;
	else if (place)
		*place = kept;
}

static void keep_in_frame(struct run *run, uint64_t reg, int64_t factor)
{
	int64_t offset;

	if (__builtin_mul_overflow(factor, run->common->data_align, &offset))
		keep(run, reg, (struct kept_register){ KEPT_ODDLY, 0 });
	else
		keep(run, reg, (struct kept_register){ KEPT_IN_FRAME, offset });
}

static void restore(struct run *run, uint64_t reg)
{
	const struct kept_register *first =
		place_of(run, &run->common->state, reg);

	if (run->in_common || reg >= run->spans->arch->dwarf->count)
		run->gave_up = true;
	else if (first)
		keep(run, reg, *first);
}

static void remember(struct run *run)
{
	if (run->depth == REMEMBERED_MAX ||
	    ++run->remembered_ever > CFI_REMEMBERED_MAX)
		run->gave_up = true;
	else
		run->remembered[run->depth++] = run->state;
}

static void recall(struct run *run)
{
	if (run->depth)
		run->state = run->remembered[--run->depth];
	else
		run->gave_up = true;
}

static void set_base(struct run *run, uint64_t base)
{
	if (base >= run->spans->arch->dwarf->count)
		run->gave_up = true;
	run->state.base = base;
}

static void define(struct run *run, uint64_t base, int64_t offset)
{
	set_base(run, base);
	run->state.offset = offset;
	run->state.is_odd = false;
}

static void define_scaled(struct run *run, uint64_t base, int64_t factor)
{
	int64_t offset;

	if (__builtin_mul_overflow(factor, run->common->data_align, &offset))
		run->gave_up = true;
	else
		define(run, base, offset);
}

static void skip_block(struct cursor *c)
{
	cursor_skip(c, cfi_uleb128(c));
}

/* About where the frame is; false when it's another one. */
static bool do_frame(struct run *run, uint8_t code)
{
	struct cursor *c = &run->c;
	uint64_t base;

	switch (code) {
	case DEF_CFA:
		base = cfi_uleb128(c);
		define(run, base, (int64_t)cfi_uleb128(c));
		return true;
	case DEF_CFA_SF:
		base = cfi_uleb128(c);
		define_scaled(run, base, sleb128(c));
		return true;
	case DEF_CFA_REGISTER:
		set_base(run, cfi_uleb128(c));
		return true;
	case DEF_CFA_OFFSET:
		run->state.offset = (int64_t)cfi_uleb128(c);
		return true;
	case DEF_CFA_OFFSET_SF:
		if (__builtin_mul_overflow(sleb128(c), run->common->data_align,
					   &run->state.offset))
			run->gave_up = true;
		return true;
	case DEF_CFA_EXPRESSION:
		skip_block(c);
		run->state.is_odd = true;
		return true;
	}
	return false;
}

/* About registers. */
static bool do_register(struct run *run, uint8_t code)
{
	struct cursor *c = &run->c;
	uint64_t reg;

	switch (code) {
	case OFFSET_EXTENDED:
		reg = cfi_uleb128(c);
		keep_in_frame(run, reg, (int64_t)cfi_uleb128(c));
		return true;
	case OFFSET_EXTENDED_SF:
		reg = cfi_uleb128(c);
		keep_in_frame(run, reg, sleb128(c));
		return true;
	case RESTORE_EXTENDED:
		restore(run, cfi_uleb128(c));
		return true;
	case SAME_VALUE:
		keep(run, cfi_uleb128(c),
		     (struct kept_register){ KEPT_AS_IT_IS, 0 });
		return true;
	case UNDEFINED:
		keep(run, cfi_uleb128(c),
		     (struct kept_register){ KEPT_ODDLY, 0 });
		return true;
	case REGISTER:
		keep(run, cfi_uleb128(c),
		     (struct kept_register){ KEPT_ODDLY, 0 });
		/* It is an index in libunwind. */
		if (cfi_uleb128(c) >= arch_native->dwarf->count)
			run->gave_up = true;
		return true;
	case EXPRESSION:
	case VAL_EXPRESSION:
		keep(run, cfi_uleb128(c),
		     (struct kept_register){ KEPT_ODDLY, 0 });
		skip_block(c);
		return true;
	}
	return false;
}

static void do_other(struct run *run, uint8_t code)
{
	struct cursor *c = &run->c;

	switch (code) {
	case NOP:
		break;
	case ADVANCE_LOC_1:
		advance(run, cursor_u8(c));
		break;
	case ADVANCE_LOC_2:
		advance(run, cursor_u16(c));
		break;
	case ADVANCE_LOC_4:
		advance(run, cursor_u32(c));
		break;
	case REMEMBER_STATE:
		remember(run);
		break;
	case RESTORE_STATE:
		recall(run);
		break;
	case GNU_ARGS_SIZE:
		cfi_uleb128(c);
		break;
	case AARCH64_NEGATE_RA_STATE:
		run->gave_up |= !run->spans->arch->dwarf->signs_addresses;
		break;
	default:
		if (!do_frame(run, code) && !do_register(run, code))
			run->gave_up = true;
	}
}

static void do_instruction(struct run *run)
{
	const uint8_t code = cursor_u8(&run->c);
	const uint8_t operand = code & 0x3f;

	switch (code & 0xc0) {
	case ADVANCE_LOC:
		advance(run, operand);
		break;
	case OFFSET:
		keep_in_frame(run, operand, (int64_t)cfi_uleb128(&run->c));
		break;
	case RESTORE:
		restore(run, operand);
		break;
	default:
		do_other(run, code);
	}
}

static void do_all(struct run *run, struct cursor instructions)
{
	run->c = instructions;
	while (!run->gave_up && !cursor_at_end(&run->c)) {
		do_instruction(run);
		run->gave_up |= run->c.bad;
	}
}

/* ---- records ---- */

static bool is_short(uint8_t encoding)
{
	const unsigned format = encoding & ENCODED_FORMAT;

	return format == ENCODED_UDATA4 || format == ENCODED_SDATA4;
}

/* cfi_check_common() has been there, so letters are those that it knows. */
static bool read_augmentation(struct cursor *c, const char *letters)
{
	uint64_t size;
	struct cursor data;

	if (*letters != 'z')
		return false;
	size = cfi_uleb128(c);
	data = *c;
	cursor_skip(c, size);
	for (letters++; *letters; letters++) {
		const uint8_t encoding = cursor_u8(&data);

		if (*letters == 'R')
			return is_short(encoding);
		if (*letters == 'P')
			cursor_skip(&data, is_short(encoding) ? 4 : 8);
		else if (*letters != 'L')
			return false;
	}
	return false;
}

static bool read_common(const struct cfi_record *record, struct cfi_common *ret)
{
	struct cursor c = cursor_of(record->bytes, record->size);
	const char *letters;

	cursor_skip(&c, 9);
	letters = cursor_string_at(&c, c.position);
	if (!letters)
		return false;
	cursor_skip(&c, strlen(letters) + 1);
	ret->code_align = cfi_uleb128(&c);
	ret->data_align = sleb128(&c);
	cfi_uleb128(&c);
	if (!read_augmentation(&c, letters) || c.bad)
		return false;
	ret->instructions = c;
	return ret->code_align && ret->code_align <= 16;
}

/* Where the code ends, and the instructions begin. */
static bool read_record(const struct cfi_entry *entry, struct run *run,
			struct cursor *ret)
{
	struct cursor c = cursor_of(entry->fde.bytes, entry->fde.size);

	cursor_skip(&c, 12);
	run->at = entry->start;
	run->end = entry->start + cursor_u32(&c);
	skip_block(&c);
	*ret = c;
	return !c.bad && run->at >= run->spans->low &&
	       run->end - run->spans->low <= UINT32_MAX;
}

static bool is_code(const struct cfi_spans *spans, const struct run *run)
{
	return run->at == run->end ||
	       (image_is_code(spans->image, run->at) &&
		image_is_code(spans->image, run->end - 1));
}

/* Which instructions are common, and what they say. */
static bool do_common(struct cfi_spans *spans, struct cfi_entry *entry)
{
	struct cfi_common *common = spans->common;
	struct run run = { .spans = spans, .common = common };

	if (entry->cie.size > COMMON_MOST ||
	    !cfi_check_common(entry, spans->arch, &common->checked) ||
	    entry->is_signal_frame || !read_common(&entry->cie, common))
		return false;
	run.in_common = run.state.is_odd = true;
	do_all(&run, common->instructions);
	common->state = run.state;
	return !run.gave_up;
}

static struct cfi_common *common_of(struct cfi_spans *spans,
				    struct cfi_entry *entry)
{
	struct cfi_common *common = spans->common;

	if (common->bytes != entry->cie.bytes) {
		common->bytes = entry->cie.bytes;
		common->gave_up = !do_common(spans, entry);
	}
	return common->gave_up ? NULL : common;
}

static void do_record(struct run *run, struct cfi_entry *entry)
{
	struct cursor own;

	run->common = common_of(run->spans, entry);
	if (!run->common || !read_record(entry, run, &own) ||
	    !is_code(run->spans, run)) {
		run->gave_up = true;
		return;
	}
	run->state = run->common->state;
	run->remembered_ever = run->common->checked.remembered;
	do_all(run, own);
	if (!run->gave_up && run->at < run->end)
		add_state(run);
}

/* Others have its code, too: which one counts is the linker's table's to say. */
static bool is_alone(const struct cfi_spans *spans,
		     const struct cfi_entry *entry, size_t number)
{
	return (!number || spans->start != entry->start) &&
	       cfi_index_start(spans->index, number + 1) != entry->start;
}

/* Whose neighbours reach into it, or that isn't understood, has no rules. */
static void add_record(struct cfi_spans *spans, size_t number)
{
	struct run run = { .spans = spans };
	struct cfi_entry entry;
	const size_t count = spans->count;

	if (!cfi_index_entry(spans->index, number, &entry) ||
	    entry.start < spans->low || entry.start - spans->low > UINT32_MAX)
		return;
	run.gave_up = !is_alone(spans, &entry, number) || !cfi_is_apart(&entry);
	spans->start = entry.start;
	if (!run.gave_up)
		do_record(&run, &entry);
	if (!run.gave_up &&
	    run.end <= cfi_index_start(spans->index, number + 1)) {
		add_span(spans, run.end, 0);
		return;
	}
	spans->count = count;
	add_span(spans, entry.start, 0);
}

/* Else some code may have none for who asks libunwind. */
static struct cfi_index *index_of_all(const struct image *image,
				      const struct cfi *cfi)
{
	struct cfi_index *index = cfi_index_new(image);

	if (index && cfi_count(cfi) == cfi_index_count(index))
		return index;
	cfi_index_free(index);
	return NULL;
}

static struct cfi_index *index_of(const struct image *image)
{
	struct cfi *cfi = cfi_new(image);
	struct cfi_index *index;

	if (!cfi)
		return NULL;
	index = cfi_index_new_by(image, cfi);
	if (!index)
		index = index_of_all(image, cfi);
	cfi_free(cfi);
	return index;
}

bool cfi_spans_init(struct cfi_spans *spans, const struct image *image,
		    uint64_t low, size_t most)
{
	*spans = (struct cfi_spans){
		.image = image,
		.arch = image_arch(image),
		.index = index_of(image),
		.low = low,
		.most = most,
		.rule_count = 1,
		.rule_room = 1,
	};
	if (!spans->index)
		return false;
	spans->common = xcalloc(1, sizeof(*spans->common));
	spans->rules = xcalloc(1, sizeof(*spans->rules));
	spans->found = xcalloc(FOUND_ROOM, sizeof(*spans->found));
	add_span(spans, low, 0);
	return true;
}

static void free_makers(struct cfi_spans *spans)
{
	cfi_index_free(spans->index);
	free(spans->common);
	free(spans->found);
	spans->index = NULL;
	spans->common = NULL;
	spans->found = NULL;
}

size_t cfi_spans_settle(struct cfi_spans *spans)
{
	free_makers(spans);
	spans->spans = xreallocarray(spans->spans, spans->count,
				     sizeof(*spans->spans));
	spans->room = spans->count;
	return spans->room * sizeof(*spans->spans) +
	       spans->rule_room * sizeof(*spans->rules);
}

void cfi_spans_fini(struct cfi_spans *spans)
{
	free_makers(spans);
	free(spans->spans);
	free(spans->rules);
	*spans = (struct cfi_spans){ .image = NULL };
}

bool cfi_spans_go_on(struct cfi_spans *spans, size_t records)
{
	const size_t count = cfi_index_count(spans->index);

	while (records-- && spans->next < count && !spans->failed)
		add_record(spans, spans->next++);
	return spans->next < count && !spans->failed;
}
