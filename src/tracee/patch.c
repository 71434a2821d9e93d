/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/patch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "tracee/space.h"

static bool read_word(struct space *space, taddr_t address, uint64_t *ret)
{
	return procmem_read_code(&space->memory, address, ret, sizeof(*ret)) ==
	       sizeof(*ret);
}

int patch_write(struct space *space, const struct patch *patch)
{
	struct patch *own;
	uint64_t found;
	int err;

	if (!read_word(space, patch->word, &found))
		return -EIO;
	trap_hide(space, patch->word, (uint8_t *)&found, sizeof(found));
	if (found != patch->before)
		return -EAGAIN;
	/* Known before it is there: a task may hit it at once. */
	own = xmalloc(sizeof(*own));
	*own = *patch;
	own->next = space->patches;
	space->patches = own;
	err = procmem_write_code(&space->memory, patch->word, &patch->after,
				 sizeof(patch->after));
	diag_debug(DIAG_TRAP, "patch %#" PRIx64 " written: %d", patch->jump,
		   err);
	if (!err)
		return 0;
	space->patches = own->next;
	free(own);
	return -EIO;
}

static void put_back(struct space *space, const struct patch *patch)
{
	uint64_t found;
	int err;

	if (!read_word(space, patch->word, &found) || found != patch->after)
		return;
	err = procmem_write_code(&space->memory, patch->word, &patch->before,
				 sizeof(patch->before));
	diag_debug(DIAG_TRAP, "patch %#" PRIx64 " removed: %d", patch->jump,
		   err);
}

void patch_remove(struct space *space, taddr_t word)
{
	struct patch **link = &space->patches, *patch;

	while (*link && (*link)->word != word)
		link = &(*link)->next;
	patch = *link;
	if (!patch)
		return;
	put_back(space, patch);
	*link = patch->next;
	free(patch);
}

void patch_forget_range(struct space *space, taddr_t low, taddr_t high)
{
	struct patch **link = &space->patches;

	while (*link) {
		struct patch *patch = *link;

		if (patch->word < low || patch->word >= high) {
			link = &patch->next;
			continue;
		}
		*link = patch->next;
		free(patch);
	}
}

taddr_t patch_resume(const struct space *space, taddr_t address)
{
	const struct patch *patch;

	for (patch = space->patches; patch; patch = patch->next)
		if (address > patch->jump &&
		    address - patch->jump < PATCH_INSNS)
			return patch->copies[address - patch->jump];
	return 0;
}

taddr_t patch_beyond(const struct space *space, taddr_t address)
{
	const struct patch *patch;

	for (patch = space->patches; patch; patch = patch->next)
		if (address == patch->jump)
			return patch->copies[0];
	return address;
}

void patch_hide(const struct space *space, taddr_t address, uint8_t *code,
		size_t n)
{
	const struct patch *patch;
	size_t i;

	for (patch = space->patches; patch; patch = patch->next)
		for (i = 0; i < sizeof(patch->before); i++)
			if (patch->word + i - address < n)
				code[patch->word + i - address] =
					(uint8_t)(patch->before >> 8 * i);
}
