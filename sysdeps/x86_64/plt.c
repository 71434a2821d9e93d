/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/plt.h"

#include <string.h>

#include "sysdeps/x86/plt.h"

static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
static const uint8_t load_r11d[] = { 0x41, 0xbb };

/* jmp *disp(%rip) alone. */
static const struct x86_plt_shape shape = {
	.endbr = endbr64,
	.load = load_r11d,
	.load_size = 6,
	.bare_load = true,
	.modrm = { 0x25, 0x25 },
};

bool x86_64_plt_stub(const uint8_t *code, size_t size, size_t at,
		     taddr_t address, taddr_t got UNUSED, struct plt_stub *ret)
{
	struct x86_plt_jump jump;

	if (!x86_plt_jump_find(&shape, code, size, at, address, &jump))
		return false;
	ret->start = address + jump.start;
	ret->slot = address + jump.end + (taddr_t)(int64_t)jump.displacement;
	ret->size = (uint8_t)(jump.end - jump.start);
	return true;
}

bool x86_64_slot_jump(const uint8_t *code, size_t size, size_t at,
		      taddr_t address, taddr_t got UNUSED, taddr_t *slot_ret)
{
	int32_t displacement;

	/* jmp *disp(%rip) */
	if (size - at < 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	memcpy(&displacement, code + at + 2, sizeof(displacement));
	*slot_ret = address + at + 6 + (taddr_t)(int64_t)displacement;
	return true;
}

bool x86_64_slot_called(struct memory *memory, taddr_t return_address,
			taddr_t got UNUSED, taddr_t *slot_ret)
{
	uint8_t code[6];
	int32_t displacement;

	/* call *disp(%rip) */
	if (memory_read(memory, return_address - sizeof(code), code,
			sizeof(code)) ||
	    code[0] != 0xff || code[1] != 0x15)
		return false;
	memcpy(&displacement, code + 2, sizeof(displacement));
	*slot_ret = return_address + (taddr_t)(int64_t)displacement;
	return true;
}
