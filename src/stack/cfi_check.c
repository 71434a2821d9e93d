/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack/cfi_check.h"

#include <string.h>

#include "base/cursor.h"
#include "stack/cfi_number.h"

/* Of the augmentation's letters libunwind keeps so many. */
#define AUGMENTATION_MAX 4

enum {
	DW_CFA_advance_loc = 0x40, /* these three have an operand inside */
	DW_CFA_offset = 0x80,
	DW_CFA_restore = 0xc0,
	DW_CFA_remember_state = 0x0a,
	DW_CFA_nop = 0x00,
	DW_CFA_AARCH64_negate_ra_state = 0x2d,

	ENCODED_FORMAT = 0x0f,
	ENCODED_ABSOLUTE = 0x00, /* as large as an address */
	ENCODED_UDATA4 = 0x03,
	ENCODED_UDATA8 = 0x04,
	ENCODED_SDATA4 = 0x0b,
	ENCODED_SDATA8 = 0x0c,
	ENCODED_ALIGNED = 0x50,
	ENCODED_OMITTED = 0xff,
};

/*
 * Operands of each instruction: bytes by their number, u a LEB128 of any sign,
 * r a register that is an index, b a block behind its size, a an address.
 * (DWARF 5, 7.24; 0x2e and 0x2f are GNU's.)
 *
 * DW_CFA_val_offset and DW_CFA_val_offset_sf (0x14, 0x15) aren't among them:
 * libunwind 1.6 takes no operands of theirs, and what is one would be done as
 * the next instruction.
 */
static const char *const operands[] = {
	[0x00] = "",   [0x01] = "a",  [0x02] = "1",  [0x03] = "2",
	[0x04] = "4",  [0x05] = "uu", [0x06] = "u",  [0x07] = "u",
	[0x08] = "u",  [0x09] = "ur", [0x0a] = "",   [0x0b] = "",
	[0x0c] = "uu", [0x0d] = "u",  [0x0e] = "u",  [0x0f] = "b",
	[0x10] = "ub", [0x11] = "uu", [0x12] = "uu", [0x13] = "u",
	[0x16] = "ub", [0x2e] = "u",  [0x2f] = "uu",
};

struct checker {
	struct cursor c;
	uint8_t *bytes; /* what c goes through */
	const struct arch_ops *arch;
	unsigned remembered;
	unsigned address_size; /* in the FDE and in DW_CFA_set_loc */
	bool has_data;         /* FDEs have augmentation data, too */
};

/* 0 for what isn't expected. libunwind here takes addresses for 8 bytes. */
static unsigned encoded_size(uint8_t encoding, const struct arch_ops *arch)
{
	if (encoding == ENCODED_ALIGNED || encoding == ENCODED_OMITTED)
		return 0;
	switch (encoding & ENCODED_FORMAT) {
	case ENCODED_ABSOLUTE:
		return arch->word_size == 8 ? 8 : 0;
	case ENCODED_UDATA4:
	case ENCODED_SDATA4:
		return 4;
	case ENCODED_UDATA8:
	case ENCODED_SDATA8:
		return 8;
	}
	return 0;
}

/* ---- instructions ---- */

/*
 * The second register of DW_CFA_register is an index into libunwind's own
 * array; the other registers are compared with its size (src/dwarf/Gparser.c).
 */
static unsigned libunwind_registers(void)
{
	return arch_native->dwarf->count;
}

static void check_operand(struct checker *checker, char kind)
{
	struct cursor *c = &checker->c;

	switch (kind) {
	case 'a':
		cursor_skip(c, checker->address_size);
		break;
	case 'b':
		cursor_skip(c, cfi_uleb128(c));
		break;
	case 'r':
		if (cfi_uleb128(c) >= libunwind_registers())
			c->bad = true;
		break;
	case 'u':
		cfi_uleb128(c);
		break;
	default:
		cursor_skip(c, kind - '0');
	}
}

static void check_instruction(struct checker *checker)
{
	const uint64_t at = checker->c.position;
	uint8_t code = cursor_u8(&checker->c);
	const char *kinds;

	if (code == DW_CFA_AARCH64_negate_ra_state && !checker->c.bad &&
	    checker->arch->dwarf->signs_addresses)
		code = checker->bytes[at] = DW_CFA_nop;
	kinds = code < ARRAY_SIZE(operands) ? operands[code] : NULL;

	if (code >= DW_CFA_advance_loc)
		kinds = (code & 0xc0) == DW_CFA_offset ? "u" : "";
	if (code == DW_CFA_remember_state)
		checker->remembered++;
	if (!kinds || checker->remembered > CFI_REMEMBERED_MAX)
		checker->c.bad = true;
	for (; kinds && *kinds && !checker->c.bad; kinds++)
		check_operand(checker, *kinds);
}

static bool check_instructions(struct checker *checker)
{
	while (!checker->c.bad && !cursor_at_end(&checker->c))
		check_instruction(checker);
	return !checker->c.bad;
}

/* ---- records ---- */

/*
 * What the letters of the augmentation stand for. libunwind finds the
 * instructions behind these, and not by the size that is told.
 */
static void check_augmentation(struct checker *checker, const char *letters,
			       const struct arch_ops *arch)
{
	struct cursor *c = &checker->c;
	uint64_t size, begin;

	if (strlen(letters) > AUGMENTATION_MAX)
		c->bad = true;
	if (!*letters)
		return;
	checker->has_data = *letters == 'z';
	size = cfi_uleb128(c);
	begin = c->position;
	for (letters++; *letters && !c->bad; letters++) {
		unsigned skipped = 0;

		if (*letters == 'R')
			checker->address_size =
				encoded_size(cursor_u8(c), arch);
		else if (*letters == 'L')
			skipped = 1;
		else if (*letters == 'P')
			skipped = encoded_size(cursor_u8(c), arch);
		if (!strchr("RS", *letters) && !skipped)
			c->bad = true;
		cursor_skip(c, skipped);
	}
	if (!checker->has_data || c->position - begin != size)
		c->bad = true;
}

static bool check_cie(struct checker *checker, struct cfi_entry *entry,
		      const struct arch_ops *arch)
{
	struct cursor *c = &checker->c;
	const char *letters;
	uint8_t version;

	checker->bytes = entry->cie.bytes;
	*c = cursor_of(entry->cie.bytes, entry->cie.size);
	cursor_skip(c, 4);
	if (cursor_u32(c) != 0)
		return false;
	version = cursor_u8(c);
	letters = cursor_string_at(c, c->position);
	if (!letters || (version != 1 && version != 3))
		return false;
	cursor_skip(c, strlen(letters) + 1);
	cfi_uleb128(c); /* code alignment */
	cfi_uleb128(c); /* data alignment */
	/* The return address's column is an index, too. */
	if (cursor_u8(c) != arch->dwarf->return_address)
		return false;
	entry->is_signal_frame = strchr(letters, 'S');
	check_augmentation(checker, letters, arch);
	return checker->address_size && check_instructions(checker);
}

static bool check_fde(struct checker *checker, const struct cfi_record *record)
{
	struct cursor *c = &checker->c;

	checker->bytes = record->bytes;
	*c = cursor_of(record->bytes, record->size);
	cursor_skip(c, 8);
	cursor_skip(c, checker->address_size); /* where the code begins */
	cursor_skip(c, checker->address_size); /* its size */
	if (checker->has_data)
		cursor_skip(c, cfi_uleb128(c));
	return check_instructions(checker);
}

/*
 * Instructions that are changed in one record would be operands of the other,
 * and what was checked not what is read.
 */
bool cfi_is_apart(const struct cfi_entry *entry)
{
	const struct cfi_record *one = &entry->cie, *other = &entry->fde;

	return one->address + one->size <= other->address ||
	       other->address + other->size <= one->address;
}

static struct checker checker_of(const struct arch_ops *arch)
{
	return (struct checker){
		.arch = arch,
		.address_size = encoded_size(ENCODED_ABSOLUTE, arch),
	};
}

bool cfi_check(struct cfi_entry *entry, const struct arch_ops *arch)
{
	struct checker checker = checker_of(arch);

	return cfi_is_apart(entry) && check_cie(&checker, entry, arch) &&
	       check_fde(&checker, &entry->fde);
}

bool cfi_check_common(struct cfi_entry *entry, const struct arch_ops *arch,
		      struct cfi_checked *ret)
{
	struct checker checker = checker_of(arch);
	const bool good = check_cie(&checker, entry, arch);

	*ret = (struct cfi_checked){ checker.has_data, checker.remembered };
	return good;
}
