/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/entry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "sysdeps/linux/procfs.h"

#define JUMP_SIZE 5
#define WORD 8

/* As many instructions of 15 bytes as a jump may cover, and one more. */
#define CODE_ROOM 64

/*
 * It has to stay, so the jump would be behind it. But there a thread may stand
 * that was stopped by the trap at the entry, and has been told of.
 */
static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

/* ---- which instructions ---- */

/* jo … jg, with a distance of one byte or of four; 0: none of these. */
static unsigned conditional_jump(const struct insn *insn)
{
	if (insn->length == 2 && (insn->bytes[0] & 0xf0) == 0x70)
		return 1;
	if (insn->length == 6 && insn->bytes[0] == 0x0f &&
	    (insn->bytes[1] & 0xf0) == 0x80)
		return 4;
	return 0;
}

static bool can_be_copied(const struct insn *insn)
{
	uint8_t copy[INSN_COPY_MAX];
	int8_t resume[INSN_COPY_MAX];

	if (conditional_jump(insn))
		return true;
	return insn->way != INSN_STEP && !insn->pushes_or_pops_return &&
	       arch_x86_64.insn_relocate(insn, insn->address, copy, resume) >
		       insn->length;
}

static int cover(const uint8_t *code, size_t size, struct entry *entry)
{
	while (entry->length < JUMP_SIZE) {
		struct insn *insn = &entry->insns[entry->count];

		if (arch_x86_64.insn_decode(entry->function + entry->length,
					    code + entry->length,
					    size - entry->length, insn) ||
		    !can_be_copied(insn))
			return -EINVAL;
		entry->length += insn->length;
		entry->count++;
	}
	return 0;
}

static bool begins_at(const struct entry *entry, unsigned distance)
{
	unsigned i;

	for (i = 0; i < entry->count; i++)
		if (entry->insns[i].address == entry->function + distance)
			return true;
	return false;
}

/* ---- who else comes there ---- */

/* The bytes that nobody may come to but from the one before. */
struct inside {
	taddr_t low, high;
};

static struct inside inside_of(const struct entry *entry)
{
	return (struct inside){ entry->function + 1,
				entry->function + entry->length };
}

static bool is_inside(const struct inside *inside, taddr_t address)
{
	return address >= inside->low && address < inside->high;
}

/* Whether a jump or a call of four bytes' distance ends inside. */
static bool far_jump_at(const struct inside *inside, taddr_t address,
			const uint8_t *code)
{
	const bool branches = code[1] == 0xe8 || code[1] == 0xe9 ||
			      (code[0] == 0x0f && (code[1] & 0xf0) == 0x80);
	int32_t distance;

	memcpy(&distance, code + 2, sizeof(distance));
	return branches &&
	       is_inside(inside, address + 6 + (taddr_t)(int64_t)distance);
}

/* Wherever such bytes are: they may be data, but that hardly happens. */
static bool has_far_jump(const struct image *image,
			 const struct image_segment *segment,
			 const struct inside *inside)
{
	uint8_t code[16384];
	taddr_t at = segment->address;
	size_t size, i;

	for (; at < segment->address + segment->file_size;
	     at += sizeof(code) - 5) {
		size = image_read(image, at, code, sizeof(code));
		for (i = 0; i + 6 <= size; i++)
			if (far_jump_at(inside, at + i, code + i))
				return true;
	}
	return false;
}

static bool is_short_jump(uint8_t opcode)
{
	return (opcode & 0xf0) == 0x70 || opcode == 0xeb ||
	       (opcode & 0xfc) == 0xe0;
}

static bool short_jump_at(const struct inside *inside, taddr_t address,
			  const uint8_t *code)
{
	return is_short_jump(code[0]) &&
	       is_inside(inside, address + 2 + (taddr_t)(int8_t)code[1]);
}

/* A jump of one byte's distance may come from as far. */
#define NEAR 160

/*
 * Instructions are found from the beginning of the function before this one;
 * where they can't be, any byte may be the first of one.
 */
static bool has_short_jump(const struct image *image, taddr_t from, taddr_t to,
			   const struct inside *inside)
{
	taddr_t at = from;
	uint8_t code[16];
	struct insn insn;
	bool aligned = true;

	while (at < to) {
		const size_t size = image_read(image, at, code, sizeof(code));

		if (size < 2)
			break;
		if (arch_x86_64.insn_decode(at, code, size, &insn)) {
			aligned = false;
			insn.length = 1;
		} else if (insn.length >= 2 &&
			   short_jump_at(inside, at + insn.length - 2,
					 code + insn.length - 2)) {
			return true;
		}
		at += insn.length;
	}
	if (aligned && at == to)
		return false;
	for (at = to > NEAR ? to - NEAR : 0; at < to; at++)
		if (image_read(image, at, code, 2) == 2 &&
		    short_jump_at(inside, at, code))
			return true;
	return false;
}

struct neighbours {
	taddr_t before; /* where the function before it begins, or so */
	uint64_t size;  /* of this one */
	bool inside;    /* another one begins among the covered instructions */
};

static struct neighbours find_neighbours(const struct image *image,
					 const struct inside *inside)
{
	const taddr_t function = inside->low - 1;
	struct neighbours ret = { .before = function };
	size_t count, i;
	const struct symbol *symbols = image_symbols(image, &count);

	for (i = 0; i < count; i++) {
		const taddr_t at = symbols[i].address;

		if (at + NEAR <= function)
			ret.before = at;
		if (at == function && symbols[i].size > ret.size)
			ret.size = symbols[i].size;
		ret.inside |= is_inside(inside, at);
	}
	/* What lies far before needs no look. */
	if (function - ret.before > 64 * 1024)
		ret.before = function > NEAR ? function - NEAR : 0;
	return ret;
}

static bool is_reached(const struct image *image, const struct inside *inside)
{
	size_t count, i;
	const struct image_segment *segments = image_segments(image, &count);

	for (i = 0; i < count; i++)
		if (segments[i].executable &&
		    has_far_jump(image, &segments[i], inside))
			return true;
	return false;
}

/* In the file's own addresses. */
static int look_around(const struct image *image, const struct inside *inside)
{
	const taddr_t function = inside->low - 1;
	const struct neighbours neighbours = find_neighbours(image, inside);

	if (neighbours.size < inside->high - function)
		return -ENOSPC;
	if (neighbours.inside ||
	    has_short_jump(image, neighbours.before, function, inside) ||
	    has_short_jump(image, function, function + neighbours.size,
			   inside) ||
	    is_reached(image, inside))
		return -EBUSY;
	return 0;
}

static bool is_caught_inside(struct space *space, const struct inside *inside)
{
	taddr_t at;

	for (at = inside->low; at < inside->high; at++) {
		const struct trap *trap = trap_find(space, at);

		if (trap && (trap->planted || trap->deferred))
			return true;
	}
	return false;
}

/* The code as it is, but for our traps; it has to be the file's. */
static size_t read_code(struct space *space, const struct module *module,
			taddr_t function, uint8_t ret[CODE_ROOM])
{
	uint8_t original[CODE_ROOM];
	const size_t size = image_read(module->image, function - module->bias,
				       original, sizeof(original));

	if (procmem_read_code(&space->memory, function, ret, size) != size)
		return 0;
	trap_hide(space, function, ret, size);
	return memcmp(ret, original, size) ? 0 : size;
}

static void find_word(struct entry *entry, const uint8_t *code)
{
	entry->word = entry->function & ~(taddr_t)(WORD - 1);
	memcpy(entry->last, code + 1, sizeof(entry->last));
}

int entry_read(struct space *space, taddr_t function, struct entry *ret)
{
	const struct module *module = module_find(space, function);
	struct inside inside;
	uint8_t code[CODE_ROOM];
	size_t size;
	int err;

	*ret = (struct entry){ .function = function };
	size = module ? read_code(space, module, function, code) : 0;
	if (size < 2 * JUMP_SIZE)
		return -EINVAL;
	if (!memcmp(code, endbr64, sizeof(endbr64)))
		return -EOPNOTSUPP;
	err = cover(code, size, ret);
	if (err)
		return err;
	find_word(ret, code);
	inside = inside_of(ret);
	if (is_caught_inside(space, &inside))
		return -EBUSY;
	if (procmem_read_code(&space->memory, ret->word, &ret->before, WORD) !=
	    WORD)
		return -EINVAL;
	trap_hide(space, ret->word, (uint8_t *)&ret->before, WORD);
	inside.low -= module->bias;
	inside.high -= module->bias;
	return look_around(module->image, &inside);
}

/* ---- the copy ---- */

static int put_near_jump(taddr_t to, taddr_t target, const uint8_t *opcode,
			 unsigned size, uint8_t *ret)
{
	const int64_t distance = (int64_t)(target - (to + size + 4));
	const int32_t near = (int32_t)distance;

	if (near != distance)
		return -ERANGE;
	memcpy(ret, opcode, size);
	memcpy(ret + size, &near, sizeof(near));
	return (int)size + 4;
}

static int copy_jump(const struct insn *insn, taddr_t to, uint8_t *ret)
{
	const unsigned size = conditional_jump(insn);
	const uint8_t *end = insn->bytes + insn->length;
	const uint8_t opcode[2] = {
		0x0f, 0x80 | (insn->bytes[size == 4] & 0x0f),
	};
	int32_t distance = (int8_t)end[-1];

	if (size == 4)
		memcpy(&distance, end - 4, sizeof(distance));
	return put_near_jump(to,
			     insn->address + insn->length +
				     (taddr_t)(int64_t)distance,
			     opcode, sizeof(opcode), ret);
}

static int copy_insn(const struct insn *insn, taddr_t to,
		     uint8_t ret[INSN_COPY_MAX])
{
	int8_t resume[INSN_COPY_MAX];
	int size;

	if (conditional_jump(insn))
		return copy_jump(insn, to, ret);
	size = arch_x86_64.insn_relocate(insn, to, ret, resume);
	return size < 0 ? size : insn->length;
}

int entry_copy(const struct entry *entry, taddr_t to, uint8_t *ret, size_t room,
	       uint8_t offsets_ret[PATCH_INSNS])
{
	static const uint8_t jump = 0xe9;
	uint8_t copy[INSN_COPY_MAX];
	size_t done = 0;
	unsigned i;
	int size;

	for (i = 0; i <= entry->count; i++) {
		if (i < entry->count)
			size = copy_insn(&entry->insns[i], to + done, copy);
		else
			size = put_near_jump(to + done,
					     entry->function + entry->length, &jump,
					     1, copy);
		if (size < 0)
			return size;
		if (done + (size_t)size > room)
			return -ENOSPC;
		if (i < entry->count)
			offsets_ret[i] = (uint8_t)done;
		memcpy(ret + done, copy, (size_t)size);
		done += (size_t)size;
	}
	return (int)done;
}

/* ---- where to ---- */

#define INT3 0xcc

/* What the four bytes of the jump's distance must be. */
struct aim {
	uint8_t fixed[4]; /* 1: it is */
	uint8_t bytes[4];
};

/*
 * Bytes beyond the word aren't written: they stay as they are, with the
 * instruction that begins there, if one does.
 */
static struct aim aim_of(const struct entry *entry)
{
	struct aim aim = { .fixed = { 0 } };
	unsigned i;

	for (i = 0; i < 4; i++) {
		if (entry->function + 1 + i >= entry->word + WORD) {
			aim.fixed[i] = 1;
			aim.bytes[i] = entry->last[i];
		} else if (begins_at(entry, 1 + i)) {
			aim.fixed[i] = 1;
			aim.bytes[i] = INT3;
		}
	}
	return aim;
}

static bool hits(const struct aim *aim, uint32_t distance)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		if (aim->fixed[i] && aim->bytes[i] != (uint8_t)(distance >> 8 * i))
			return false;
	return true;
}

/* Where nothing is mapped, and nothing will come soon. */
struct gap {
	taddr_t low, high;
};

struct gaps {
	struct gap *list;
	size_t count, room;
};

#define USER_END 0x7fffffff0000ull

/* What grows keeps its room: the heap above it, the stack below. */
#define ROOM_OF_STACK  (1ull << 30)
#define ROOM_OF_HEAP   (1ull << 36)
#define ROOM_OF_OTHERS (16ull << 20)

/* Above it, or (stack) below. */
static uint64_t room_of(const struct procfs_mapping *mapping, bool below)
{
	if (!strcmp(mapping->path, "[stack]"))
		return below ? ROOM_OF_STACK : ROOM_OF_OTHERS;
	if (!strcmp(mapping->path, "[heap]"))
		return ROOM_OF_HEAP;
	/* One of ours, most likely. */
	if (!mapping->path[0] && mapping->executable && !mapping->writable &&
	    mapping->end - mapping->start == PAGE_SIZE)
		return 0;
	return ROOM_OF_OTHERS;
}

static void add_gap(struct gaps *gaps, taddr_t low, taddr_t high)
{
	if (high <= low)
		return;
	gaps->list = xgrow(gaps->list, gaps->count, &gaps->room,
			   sizeof(*gaps->list));
	gaps->list[gaps->count++] = (struct gap){ low, high };
}

static void find_gaps(pid_t pid, struct gaps *ret)
{
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) =
		xmalloc(sizeof(*mapping));
	FILE *maps = procfs_maps_open(pid);
	taddr_t end = ROOM_OF_OTHERS;

	while (maps && procfs_maps_next(maps, mapping)) {
		const uint64_t room = room_of(mapping, true);

		if (mapping->start >= USER_END)
			break;
		if (mapping->start > room)
			add_gap(ret, end, mapping->start - room);
		end = mapping->end + room_of(mapping, false);
	}
	if (maps)
		fclose(maps);
}

static bool is_free(const struct gaps *gaps, taddr_t low, taddr_t high)
{
	size_t i;

	for (i = 0; i < gaps->count; i++)
		if (low >= gaps->list[i].low && high <= gaps->list[i].high)
			return true;
	return false;
}

static bool touches_free(const struct gaps *gaps, taddr_t low, taddr_t high)
{
	size_t i;

	for (i = 0; i < gaps->count; i++)
		if (low < gaps->list[i].high && high > gaps->list[i].low)
			return true;
	return false;
}

/* Those of the upper half of the distance, the nearest ones below first. */
static uint32_t upper_half(unsigned i)
{
	return (i & 1 ? 0x10000u + i / 2 : 0xffffu - i / 2) & 0xffff;
}

static bool hits_above(const struct aim *aim, uint32_t upper)
{
	const struct aim part = {
		.fixed = { 0, 0, aim->fixed[2], aim->fixed[3] },
		.bytes = { 0, 0, aim->bytes[2], aim->bytes[3] },
	};

	return hits(&part, upper << 16);
}

/* Of one upper half of the distance. */
static bool find_place_in(const struct entry *entry, const struct aim *aim,
			  const struct gaps *gaps, uint32_t upper, size_t size,
			  taddr_t *ret)
{
	const taddr_t from = entry->function + JUMP_SIZE +
			     (taddr_t)(int32_t)(upper << 16);
	uint32_t low = aim->fixed[0] ? aim->bytes[0] : 0;

	if (!touches_free(gaps, from, from + 0x10000))
		return false;
	for (; low < 0x10000; low += aim->fixed[0] ? 0x100 : 0x10) {
		*ret = from + low;
		if (hits(aim, upper << 16 | low) &&
		    *ret % PAGE_SIZE + size <= PAGE_SIZE &&
		    is_free(gaps, *ret, *ret + size))
			return true;
	}
	return false;
}

static bool find_place(const struct entry *entry, const struct aim *aim,
		       pid_t pid, size_t size, taddr_t *ret)
{
	struct gaps gaps = { 0 };
	unsigned i;
	bool found = false;

	find_gaps(pid, &gaps);
	for (i = 0; !found && i < 0x10000; i++)
		found = hits_above(aim, upper_half(i)) &&
			find_place_in(entry, aim, &gaps, upper_half(i), size,
				      ret);
	free(gaps.list);
	return found;
}

static uint64_t with_jump(const struct entry *entry, taddr_t to)
{
	const unsigned at = (unsigned)(entry->function - entry->word);
	const uint32_t distance = (uint32_t)(to - (entry->function + JUMP_SIZE));
	uint8_t bytes[WORD];
	uint64_t word;
	unsigned i;

	memcpy(bytes, &entry->before, WORD);
	bytes[at] = 0xe9;
	for (i = 0; i < 4 && at + 1 + i < WORD; i++)
		bytes[at + 1 + i] = (uint8_t)(distance >> 8 * i);
	memcpy(&word, bytes, WORD);
	return word;
}

static bool is_in_reach(const struct entry *entry, taddr_t to)
{
	const int64_t distance = (int64_t)(to - (entry->function + JUMP_SIZE));

	return distance == (int32_t)distance;
}

int entry_aim(const struct entry *entry, pid_t pid, taddr_t target, size_t size,
	      struct patch *ret, taddr_t *to_ret)
{
	const struct aim aim = aim_of(entry);

	*to_ret = target;
	if ((!is_in_reach(entry, target) ||
	     !hits(&aim, (uint32_t)(target - (entry->function + JUMP_SIZE)))) &&
	    !find_place(entry, &aim, pid, size, to_ret))
		return -ERANGE;
	*ret = (struct patch){
		.word = entry->word,
		.before = entry->before,
		.after = with_jump(entry, *to_ret),
		.jump = entry->function,
	};
	return 0;
}
