/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PHP_LINKS_H
#define CALLTRAP_PHP_LINKS_H

#include "memory/glibc.h"
#include "memory/picture.h"

/* Which words lead to objects of PHP's and don't hold them. */
struct php_links {
	struct memory *memory;
	const struct mappings *mappings;
	const struct glibc *glibc; /* objects among its blocks */
	taddr_t stack, top;        /* of variables, and what of it is in use */
};

void php_links_init(struct php_links *links, const struct picture *picture,
		    const struct mappings *mappings, const struct glibc *glibc);

bool php_links_pass_over(const struct php_links *links, uint64_t pointer,
			 taddr_t where);

#endif
