/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_IMAGE_SECTIONS_H
#define CALLTRAP_IMAGE_SECTIONS_H

#include "image/source.h"

struct section {
	const char *name; /* never NULL */
	uint32_t type;
	uint64_t flags;
	uint64_t address;
	uint64_t offset;
	uint64_t size; /* in the file: 0 for SHT_NOBITS */
	uint32_t link;
	uint64_t align;
};

/* The section headers of a file: perhaps none, perhaps lies. */
struct sections {
	struct section *list;
	size_t count;
	struct blob names;
};

void sections_init(struct sections *sections, const struct source *source);
void sections_fini(struct sections *sections);

/* The first of that name, or of that type; or NULL. */
const struct section *sections_find(const struct sections *sections,
				    const char *name);
const struct section *sections_find_type(const struct sections *sections,
					 uint32_t type);

/* The section that another one's sh_link names, or NULL. */
const struct section *sections_linked(const struct sections *sections,
				      const struct section *section);

#endif
