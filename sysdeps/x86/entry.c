/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86/entry.h"

#include <errno.h>
#include <string.h>

/* ---- what stands there ---- */

static bool is_jump(const struct insn *insn)
{
	return insn->op.kind == X86_JUMP && (insn->op.source == X86_IMMEDIATE ||
					     x86_jumps_through_memory(insn));
}

/* Whatever way a trap on it is passed: here it is to be copied. */
static bool can_move(const struct insn *insn)
{
	if (insn->pushes_or_pops_return || insn->way == INSN_STEP)
		return false;
	return !x86_kind_branches(insn->op.kind) || is_jump(insn) ||
	       insn->op.kind == X86_JUMP_IF;
}

int x86_entry_decode(taddr_t address, const uint8_t *code, size_t n,
		     struct x86_entry *ret)
{
	*ret = (struct x86_entry){ .address = address };
	while (ret->length < X86_ENTRY_SIZE) {
		struct insn *insn = &ret->insns[ret->count];
		int err;

		if (ret->length >= n)
			return -EINVAL;
		err = x86_insn_decode(8, address + ret->length,
				      code + ret->length, n - ret->length,
				      insn);
		if (err)
			return err;
		if (!can_move(insn))
			return -EINVAL;
		ret->length += insn->length;
		ret->count++;
		if (is_jump(insn) && ret->length < X86_ENTRY_SIZE)
			return -EINVAL; /* what follows may be anything */
	}
	return 0;
}

/* ---- the copy ---- */

static int put_distance(uint8_t *ret, taddr_t behind, taddr_t target)
{
	const int64_t distance = (int64_t)(target - behind);
	const int32_t near = (int32_t)distance;

	if (distance != near)
		return -ERANGE;
	memcpy(ret, &near, sizeof(near));
	return 0;
}

static int put_jump(uint8_t *ret, taddr_t at, taddr_t target)
{
	int err;

	ret[0] = 0xe9;
	err = put_distance(ret + 1, at + 5, target);
	return err ? err : 5;
}

static int put_jump_if(const struct insn *insn, uint8_t *ret, taddr_t at)
{
	int err;

	ret[0] = 0x0f;
	ret[1] = 0x80 | (insn->op.condition & 15);
	err = put_distance(ret + 2, at + 6, (taddr_t)insn->op.immediate);
	return err ? err : 6;
}

static int put_plain(const struct insn *insn, uint8_t *ret, taddr_t at)
{
	uint8_t copy[INSN_COPY_MAX];
	int8_t resume[INSN_COPY_MAX];
	int size = x86_insn_relocate(8, insn, at, copy, resume);

	if (size < 0)
		return size;
	memcpy(ret, copy, insn->length); /* without the way back */
	return insn->length;
}

static int put_insn(const struct insn *insn, uint8_t *ret, taddr_t at)
{
	if (insn->op.kind == X86_JUMP && insn->op.source == X86_IMMEDIATE)
		return put_jump(ret, at, (taddr_t)insn->op.immediate);
	if (insn->op.kind == X86_JUMP_IF)
		return put_jump_if(insn, ret, at);
	return put_plain(insn, ret, at);
}

int x86_entry_copy(const struct x86_entry *entry, taddr_t to,
		   uint8_t ret[X86_ENTRY_COPY_MAX],
		   taddr_t places_ret[X86_ENTRY_SIZE])
{
	unsigned i, from = 0;
	int size = 0, more;

	memset(places_ret, 0, X86_ENTRY_SIZE * sizeof(*places_ret));
	for (i = 0; i < entry->count; i++) {
		places_ret[from] = to + size;
		more = put_insn(&entry->insns[i], ret + size, to + size);
		if (more < 0)
			return more;
		size += more;
		from += entry->insns[i].length;
	}
	more = put_jump(ret + size, to + size, entry->address + entry->length);
	return more < 0 ? more : size + more;
}

/* ---- the jump ---- */

/*
 * int3, whose signal is the tracer's anyway, where it can be had. As the last
 * byte it makes the jump go backwards by 800 MiB; others, which are no
 * instruction in 64 bits (push and pop of segment registers, daa …), forwards.
 */
static const uint8_t last_bytes[] = { 0xcc, 0x60, 0x61, 0x3f, 0x37, 0x2f, 0x27,
				      0x1f, 0x1e, 0x17, 0x16, 0x0e, 0x07, 0x06 };

static bool begins_at(const struct x86_entry *entry, unsigned offset)
{
	unsigned i, at = 0;

	for (i = 0; i < entry->count; at += entry->insns[i++].length)
		if (at == offset)
			return true;
	return false;
}

static bool may_be(const struct x86_entry *entry, unsigned offset,
		   unsigned byte)
{
	if (!begins_at(entry, offset))
		return true;
	return byte == 0xcc ||
	       (offset == X86_ENTRY_SIZE - 1 &&
		memchr(last_bytes, (int)byte, sizeof(last_bytes)));
}

/* Distances [low, high], whose bytes above the offset's are fixed in base. */
static bool find_distance(const struct x86_entry *entry, unsigned offset,
			  int64_t base, int64_t low, int64_t high, int64_t *ret)
{
	const unsigned shift = 8 * (offset - 1);
	const int first = offset == X86_ENTRY_SIZE - 1 ? -128 : 0;
	int byte;

	for (byte = first; byte < first + 256; byte++) {
		const int64_t from = base + byte * ((int64_t)1 << shift);
		const int64_t to = from + ((int64_t)1 << shift) - 1;

		if (to < low || from > high ||
		    !may_be(entry, offset, (uint8_t)byte))
			continue;
		if (offset == 1) {
			*ret = from;
			return true;
		}
		if (find_distance(entry, offset - 1, from, low, high, ret))
			return true;
	}
	return false;
}

/* What the copy leads to or reads must be within reach of all of its bytes. */
static void keep_near(taddr_t what, taddr_t *low, taddr_t *high)
{
	const taddr_t reach = (1ull << 31) - X86_ENTRY_SPREAD;

	if (what > reach && *low < what - reach)
		*low = what - reach;
	if (*high > what + reach)
		*high = what + reach;
}

static taddr_t data_of(const struct insn *insn)
{
	int32_t displacement;

	memcpy(&displacement, insn->bytes + insn->op.relative,
	       sizeof(displacement));
	return insn->address + insn->length + (taddr_t)(int64_t)displacement;
}

static void keep_in_reach(const struct x86_entry *entry, taddr_t *low,
			  taddr_t *high)
{
	unsigned i;

	for (i = 0; i < entry->count; i++) {
		const struct insn *insn = &entry->insns[i];

		if (insn->near)
			keep_near(data_of(insn), low, high);
		if (x86_kind_branches(insn->op.kind) &&
		    insn->op.source == X86_IMMEDIATE)
			keep_near((taddr_t)insn->op.immediate, low, high);
	}
}

taddr_t x86_entry_target(const struct x86_entry *entry, taddr_t low,
			 taddr_t high)
{
	const taddr_t behind = entry->address + X86_ENTRY_SIZE;
	int64_t distance;

	keep_in_reach(entry, &low, &high);
	if (low >= high ||
	    !find_distance(entry, X86_ENTRY_SIZE - 1, 0,
			   (int64_t)(low - behind),
			   (int64_t)(high - 1 - behind), &distance))
		return 0;
	return behind + (taddr_t)distance;
}

void x86_entry_jump(const struct x86_entry *entry, taddr_t target,
		    uint8_t ret[X86_ENTRY_SIZE])
{
	const int32_t distance =
		(int32_t)(target - (entry->address + X86_ENTRY_SIZE));

	ret[0] = 0xe9;
	memcpy(ret + 1, &distance, sizeof(distance));
}

/* ---- who else leads there ---- */

static bool is_midst(const struct x86_entry *entry, taddr_t address)
{
	return address > entry->address &&
	       address < entry->address + X86_ENTRY_SIZE;
}

static bool is_loop(const struct x86_entry *entry, taddr_t from, taddr_t to)
{
	return to == entry->address && from - entry->address < entry->size;
}

/* Of jcc, jmp, loop, jrcxz. */
static bool has_short_distance(uint8_t opcode)
{
	return (opcode & 0xf0) == 0x70 || opcode == 0xeb ||
	       (opcode & 0xfc) == 0xe0;
}

/* Of call and jmp, jcc, xbegin. */
static bool has_distance(const uint8_t *behind_opcode)
{
	const uint8_t last = behind_opcode[-1], before = behind_opcode[-2];

	return (last & 0xfe) == 0xe8 ||
	       (before == 0x0f && (last & 0xf0) == 0x80) ||
	       (before == 0xc7 && last == 0xf8);
}

static bool leads_far(const struct x86_entry *entry, taddr_t address,
		      const uint8_t *field)
{
	const bool calls = field[-1] == 0xe8;
	int32_t distance;
	taddr_t target;

	memcpy(&distance, field, sizeof(distance));
	target = address + sizeof(distance) + (taddr_t)(int64_t)distance;
	if (target - entry->address >= X86_ENTRY_SIZE)
		return false;
	return has_distance(field) &&
	       (is_midst(entry, target) ||
		(!calls && is_loop(entry, address, target)));
}

static bool leads_near(const struct x86_entry *entry, taddr_t address,
		       const uint8_t *field)
{
	const taddr_t target = address + 1 + (taddr_t)(int64_t)(int8_t)*field;

	if (target - entry->address >= X86_ENTRY_SIZE)
		return false;
	return has_short_distance(field[-1]) &&
	       (is_midst(entry, target) || is_loop(entry, address, target));
}

/* So many bytes are looked at together: all of a module's are. */
#define SPAN 16

/* Bytes that short distances don't lead across. */
#define SHORT_REACH 256

/* Of SPAN bytes, and the three behind them; by the lower halves of addresses. */
static bool may_lead_there(const struct x86_entry *entry, taddr_t address,
			   const uint8_t *code)
{
	typedef int32_t lanes __attribute__((vector_size(SPAN)));
	typedef uint32_t sums __attribute__((vector_size(SPAN)));
	const lanes most = { INT32_MIN + X86_ENTRY_SIZE,
			     INT32_MIN + X86_ENTRY_SIZE,
			     INT32_MIN + X86_ENTRY_SIZE,
			     INT32_MIN + X86_ENTRY_SIZE };
	const uint32_t base = (uint32_t)(address - entry->address) +
			      sizeof(int32_t) + (1u << 31);
	sums behind = { base, base + 4, base + 8, base + 12 };
	lanes found = { 0 };
	unsigned i;

	if (address - entry->address + SHORT_REACH < 2 * SHORT_REACH)
		return true;
	for (i = 0; i < sizeof(int32_t); i++) {
		sums distances;

		memcpy(&distances, code + i, sizeof(distances));
		found |= (lanes)(distances + behind) < most;
		behind += 1;
	}
	return found[0] | found[1] | found[2] | found[3];
}

static size_t find_branch(const struct x86_entry *entry, taddr_t address,
			  const uint8_t *code, size_t n, size_t from, size_t to)
{
	size_t i;

	for (i = from; i < to; i++) {
		if (i + sizeof(int32_t) <= n &&
		    leads_far(entry, address + i, code + i))
			return i + sizeof(int32_t);
		if (leads_near(entry, address + i, code + i))
			return i + 1;
	}
	return 0;
}

size_t x86_entry_find_branch(const struct x86_entry *entry, taddr_t address,
			     const uint8_t *code, size_t n, size_t from)
{
	size_t i, found;

	for (i = from > 2 ? from : 2; i + SPAN + 3 <= n; i += SPAN) {
		if (!may_lead_there(entry, address + i, code + i))
			continue;
		found = find_branch(entry, address, code, n, i, i + SPAN);
		if (found)
			return found;
	}
	return find_branch(entry, address, code, n, i, n);
}
