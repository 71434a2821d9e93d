/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86/plt.h"

#include <string.h>

enum {
	ENDBR_SIZE = 4,
	IMMEDIATE_SIZE = 4,
	JUMP_SIZE = 6,
};

static bool is_prefix(uint8_t byte)
{
	const uint8_t bnd = 0xf2;
	const uint8_t notrack = 0x3e;

	return byte == bnd || byte == notrack;
}

/* jmp *disp32 or jmp *disp32(reg), its prefix left aside. */
static bool read_jump(const struct x86_plt_shape *shape, const uint8_t *code,
		      size_t size, size_t at, struct x86_plt_jump *ret)
{
	if (at > size || size - at < JUMP_SIZE || code[at] != 0xff)
		return false;
	if (code[at + 1] != shape->modrm[0] && code[at + 1] != shape->modrm[1])
		return false;
	ret->modrm = code[at + 1];
	memcpy(&ret->displacement, code + at + 2, sizeof(ret->displacement));
	ret->end = at + JUMP_SIZE;
	return true;
}

static bool precedes(const uint8_t *code, size_t at, size_t distance,
		     const uint8_t *bytes, size_t size)
{
	return at >= distance && !memcmp(code + at - distance, bytes, size);
}

/* Where the stub begins whose jump, its prefix included, begins at. */
static size_t stub_begin(const struct x86_plt_shape *shape, const uint8_t *code,
			 size_t at, struct x86_plt_jump *ret)
{
	size_t opcode_size = shape->load_size - IMMEDIATE_SIZE;
	bool endbr = precedes(code, at, shape->load_size + ENDBR_SIZE,
			      shape->endbr, ENDBR_SIZE);

	ret->loads = precedes(code, at, shape->load_size, shape->load,
			      opcode_size) &&
		     (endbr || shape->bare_load);
	if (ret->loads) {
		memcpy(&ret->index, code + at - IMMEDIATE_SIZE,
		       sizeof(ret->index));
		return at - shape->load_size - (endbr ? ENDBR_SIZE : 0);
	}
	if (precedes(code, at, ENDBR_SIZE, shape->endbr, ENDBR_SIZE))
		return at - ENDBR_SIZE;
	return at;
}

static bool is_stub(const struct x86_plt_shape *shape, const uint8_t *code,
		    size_t at, taddr_t address, struct x86_plt_jump *ret)
{
	ret->start = stub_begin(shape, code, at, ret);
	return (address + ret->start) % (ret->start == at ? 8 : 16) == 0;
}

bool x86_plt_jump_find(const struct x86_plt_shape *shape, const uint8_t *code,
		       size_t size, size_t at, taddr_t address,
		       struct x86_plt_jump *ret)
{
	if (at >= size)
		return false;
	if (is_prefix(code[at]))
		return read_jump(shape, code, size, at + 1, ret) &&
		       is_stub(shape, code, at, address, ret);
	if (!read_jump(shape, code, size, at, ret))
		return false;
	/* The byte before may be a prefix, or the end of another stub. */
	return is_stub(shape, code, at, address, ret) ||
	       (at && is_prefix(code[at - 1]) &&
		is_stub(shape, code, at - 1, address, ret));
}
