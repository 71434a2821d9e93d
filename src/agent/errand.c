/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/errand.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "sysdeps/x86_64/agent/image.h"

static size_t code_size(void)
{
	const struct agent_header *header = (const void *)agent_image;

	return header->errand_end - header->errand;
}

void errand_keep_room(struct space *space, bool needed)
{
	scratch_keep(space,
		     needed ? code_size() + sizeof(struct agent_errand) : 0);
}

int errand_write(struct space *space, const struct agent_errand *what,
		 struct errand *ret)
{
	const struct agent_header *header = (const void *)agent_image;
	const size_t code = code_size();
	uint8_t bytes[ERRAND_SIZE];

	*ret = (struct errand){ .size = code + sizeof(*what) };
	if (ret->size > sizeof(bytes))
		return -E2BIG;
	memcpy(bytes, agent_image + header->errand, code);
	memcpy(bytes + code, what, sizeof(*what));
	ret->place = scratch_take(space, ret->size);
	if (!ret->place)
		return -ENOSPC;
	if (procmem_read_code(&space->memory, ret->place, ret->before,
			      ret->size) == ret->size &&
	    !procmem_write_code(&space->memory, ret->place, bytes, ret->size))
		return 0;
	scratch_give_back(space, ret->place, ret->size);
	ret->place = 0;
	return -EIO;
}

void errand_remove(struct space *space, struct errand *errand)
{
	if (!errand->place)
		return;
	if (procmem_write_code(&space->memory, errand->place, errand->before,
			       errand->size))
		diag_debug(DIAG_TRAP, "errand at %#" PRIx64 " stays",
			   errand->place);
	else
		scratch_give_back(space, errand->place, errand->size);
	errand->place = 0;
}
