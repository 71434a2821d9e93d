/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/i386/plt.h"

#include <string.h>

#include "sysdeps/x86/plt.h"

enum {
	MODRM_ABSOLUTE = 0x25, /* jmp *slot */
	MODRM_EBX = 0xa3,      /* jmp *disp(%ebx) */
	STUB_SIZE = 16,        /* mold's */
	INDEX_SCALE = 8,       /* sizeof(Elf32_Rel): a stub loads an offset */
	INT3 = 0xcc,
};

static const uint8_t endbr32[] = { 0xf3, 0x0f, 0x1e, 0xfb };
static const uint8_t load_ecx[] = { 0xb9 };

static const struct x86_plt_shape shape = {
	.endbr = endbr32,
	.load = load_ecx,
	.load_size = 5,
	.modrm = { MODRM_ABSOLUTE, MODRM_EBX },
};

/*
 * With mold, ebx points to .got, which no dynamic tag tells. But the head of
 * its .plt computes the address of .got.plt's second word from it:
 *
 *	endbr32; push %ecx; lea disp(%ebx),%ecx; push (%ecx); ...
 */
static bool mold_base(const uint8_t *code, size_t head, taddr_t got,
		      taddr_t *ret)
{
	static const uint8_t before[] = { 0xf3, 0x0f, 0x1e, 0xfb,
					  0x51, 0x8d, 0x8b };
	static const uint8_t after[] = { 0xff, 0x31 };
	const uint8_t *p = code + head;
	int32_t displacement;

	if (memcmp(p, before, sizeof(before)) ||
	    memcmp(p + sizeof(before) + 4, after, sizeof(after)))
		return false;
	memcpy(&displacement, p + sizeof(before), sizeof(displacement));
	*ret = (uint32_t)(got + 4 - (taddr_t)(int64_t)displacement);
	return true;
}

/* The head of mold's .plt, from a stub of it. */
static bool mold_head(const struct x86_plt_jump *jump, size_t *ret)
{
	uint64_t distance =
		(uint64_t)jump->index / INDEX_SCALE * STUB_SIZE + STUB_SIZE;

	if (jump->index % INDEX_SCALE || distance > jump->start)
		return false;
	*ret = jump->start - distance;
	return true;
}

/*
 * mold's .plt.got lies behind its .plt: the nearest stub before that loads
 * an index. The bound keeps a file made of such stubs from costing the square
 * of its size.
 */
static bool last_of_plt(const uint8_t *code, taddr_t address,
			const struct x86_plt_jump *jump,
			struct x86_plt_jump *ret)
{
	const size_t jump_at = sizeof(endbr32) + 5;
	size_t start = jump->start;

	for (unsigned i = 0; i < 1024 && start >= STUB_SIZE; i++) {
		start -= STUB_SIZE;
		if (memcmp(code + start, endbr32, sizeof(endbr32)))
			return false;
		if (x86_plt_jump_find(&shape, code, start + STUB_SIZE,
				      start + jump_at, address, ret) &&
		    ret->loads)
			return true;
	}
	return false;
}

/* Whether mold wrote it; the others pad with nops. */
static bool is_mold(const uint8_t *code, size_t size,
		    const struct x86_plt_jump *jump)
{
	return jump->loads || (jump->end < size && code[jump->end] == INT3);
}

/* What the stub's ebx holds. */
static bool find_base(const uint8_t *code, size_t size, taddr_t address,
		      const struct x86_plt_jump *jump, taddr_t got,
		      taddr_t *ret)
{
	struct x86_plt_jump last = *jump;
	size_t head;

	if (!is_mold(code, size, jump)) {
		*ret = got;
		return got != 0;
	}
	if (!jump->loads && !last_of_plt(code, address, jump, &last))
		return false;
	return mold_head(&last, &head) && mold_base(code, head, got, ret);
}

bool i386_plt_stub(const uint8_t *code, size_t size, size_t at, taddr_t address,
		   taddr_t got, struct plt_stub *ret)
{
	struct x86_plt_jump jump;
	taddr_t base = 0;

	if (!x86_plt_jump_find(&shape, code, size, at, address, &jump))
		return false;
	if (jump.modrm == MODRM_EBX &&
	    !find_base(code, size, address, &jump, got, &base))
		return false;
	ret->start = address + jump.start;
	ret->slot = (uint32_t)(base + (taddr_t)(int64_t)jump.displacement);
	ret->size = (uint8_t)(jump.end - jump.start);
	return true;
}

bool i386_slot_jump(const uint8_t *code, size_t size, size_t at,
		    taddr_t address UNUSED, taddr_t got, taddr_t *slot_ret)
{
	int32_t displacement;
	uint8_t modrm;

	if (size - at < 6 || code[at] != 0xff)
		return false;
	/* jmp *slot, or jmp *disp(%reg) with any register but esp */
	modrm = code[at + 1];
	if (modrm != MODRM_ABSOLUTE &&
	    ((modrm & 0xf8) != 0xa0 || (modrm & 7) == 4))
		return false;
	memcpy(&displacement, code + at + 2, sizeof(displacement));
	*slot_ret = (uint32_t)displacement;
	if (modrm != MODRM_ABSOLUTE)
		*slot_ret = (uint32_t)(got + *slot_ret);
	return true;
}

bool i386_slot_called(struct memory *memory, taddr_t return_address,
		      taddr_t got, taddr_t *slot_ret)
{
	uint8_t code[6], modrm;
	int32_t displacement;

	/* call *slot, or call *disp(%reg) with any register but esp */
	if (memory_read(memory, return_address - sizeof(code), code,
			sizeof(code)) ||
	    code[0] != 0xff)
		return false;
	modrm = code[1];
	if (modrm != 0x15 && ((modrm & 0xf8) != 0x90 || (modrm & 7) == 4))
		return false;
	memcpy(&displacement, code + 2, sizeof(displacement));
	*slot_ret = (uint32_t)((modrm == 0x15 ? 0 : got) +
			       (taddr_t)(int64_t)displacement);
	return true;
}
