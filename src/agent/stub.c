/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/stub.h"

#include <errno.h>
#include <string.h>

#include "agent/entry.h"
#include "sysdeps/x86_64/agent/image.h"

taddr_t stub_address(taddr_t base, unsigned index)
{
	return base + AGENT_STUBS_OFFSET + index * AGENT_STUB_SIZE;
}

/* endbr64; lea address(%rip), %r11; jmp hook */
static void write_code(uint8_t ret[16], taddr_t at, taddr_t hook)
{
	static const uint8_t code[16] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x4c, 0x8d,
					  0x1d, 0xf5, 0xff, 0xff, 0xff, 0xe9 };
	const int32_t distance = (int32_t)(hook - (at + sizeof(code)));

	memcpy(ret, code, sizeof(code));
	memcpy(ret + 12, &distance, sizeof(distance));
}

/* The copy would push or pop another return address than the original. */
static bool can_be_copied(const struct insn *insn)
{
	return insn->way != INSN_STEP && !insn->pushes_or_pops_return;
}

static int copy_first(const struct insn *insn, taddr_t to, uint8_t *ret)
{
	int8_t resume[INSN_COPY_MAX];
	int size;

	if (!can_be_copied(insn))
		return -EINVAL;
	size = arch_x86_64.insn_relocate(insn, to, ret, resume);
	return size < 0 ? size : 0;
}

/*
 * cmpq $0, gate(%rip); je original; push %r11; lea stub(%rip), %r11; jmp hook.
 * Nothing is changed but flags while the gate is closed.
 */
static void write_entry(uint8_t ret[32], const struct stub_config *config,
			taddr_t original, taddr_t hook)
{
	static const uint8_t code[28] = {
		0x48, 0x83, 0x3d, 0, 0, 0, 0, 0,    /* cmpq */
		0x0f, 0x84, 0,    0, 0, 0,	    /* je */
		0x41, 0x53,			    /* push */
		0x4c, 0x8d, 0x1d, 0, 0, 0, 0,	    /* lea */
		0xe9, 0,    0,    0, 0,		    /* jmp */
	};
	const taddr_t at = stub_entry_address(config->base, config->index);
	const struct {
		unsigned place, end;
		taddr_t target;
	} distances[] = {
		{ 3, 8, config->base + AGENT_GATE_OFFSET },
		{ 10, 14, original },
		{ 19, 23, stub_address(config->base, config->index) },
		{ 24, 28, hook },
	};
	size_t i;

	memcpy(ret, code, sizeof(code));
	for (i = 0; i < ARRAY_SIZE(distances); i++) {
		const int32_t distance =
			(int32_t)(distances[i].target -
				  (at + distances[i].end));

		memcpy(ret + distances[i].place, &distance, sizeof(distance));
	}
}

taddr_t stub_entry_address(taddr_t base, unsigned index)
{
	return stub_address(base, index) + AGENT_STUB_ENTRY;
}

static taddr_t copy_address(const struct stub_config *config)
{
	return stub_address(config->base, config->index) +
	       offsetof(struct agent_stub, copy);
}

void stub_copies(const struct stub_config *config, taddr_t ret[PATCH_INSNS])
{
	const struct entry *entry = config->entry;
	const taddr_t copy = copy_address(config);
	uint8_t code[sizeof(((struct agent_stub *)0)->copy)];
	uint8_t offsets[PATCH_INSNS];
	unsigned i;

	memset(ret, 0, PATCH_INSNS * sizeof(*ret));
	if (entry_copy(entry, copy, code, sizeof(code), offsets) < 0)
		return;
	for (i = 0; i < entry->count; i++)
		ret[entry->insns[i].address - entry->function] = copy + offsets[i];
}

static int copy_entry(const struct stub_config *config, struct agent_stub *stub)
{
	const struct agent_header *header = (const void *)agent_image;
	uint8_t offsets[PATCH_INSNS];
	int size = entry_copy(config->entry, copy_address(config), stub->copy,
			      sizeof(stub->copy), offsets);

	write_entry(stub->entry, config, stub->original,
		    config->base + header->entry);
	return size < 0 ? size : 0;
}

int stub_make(const struct stub_config *config, struct agent_stub *ret)
{
	const struct agent_header *header = (const void *)agent_image;
	const bool copied = config->entry || config->insn;

	_Static_assert(INSN_COPY_MAX <= sizeof(ret->copy), "has its place");
	_Static_assert(offsetof(struct agent_stub, entry) == AGENT_STUB_ENTRY,
		       "as layout.h says");
	*ret = (struct agent_stub){
		.original = copied ? copy_address(config) : config->function,
		.function = config->function,
		.index = config->index,
		.arguments = config->arguments,
		.failure = config->failure,
		.used = 1,
	};
	write_code(ret->code, stub_address(config->base, config->index),
		   config->base + header->hook);
	if (config->entry)
		return copy_entry(config, ret);
	if (config->insn)
		return copy_first(config->insn, copy_address(config),
				  ret->copy);
	return 0;
}

bool stub_equals(const struct agent_stub *a, const struct agent_stub *b)
{
	const size_t patched = offsetof(struct agent_stub, patched);

	return !memcmp(a, b, patched) &&
	       !memcmp(a->copy, b->copy, sizeof(a->copy));
}
