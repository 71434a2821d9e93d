/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_MODULE_H
#define CALLTRAP_MODULE_H

#include <stdbool.h>

#include "base/types.h"
#include "image/image.h"

/* An image mapped in a space at a bias. */
struct module {
	struct image *image;
	taddr_t bias;
	taddr_t low, high; /* of its segments, in the process */
	taddr_t dynamic;   /* of its PT_DYNAMIC: what tells modules apart */
	char *path;        /* as the process sees it */
	const char *name;  /* SONAME, or the last component of the path */
	unsigned link_namespace; /* 0, or one that dlmopen made */
	bool is_main;            /* the program itself */
	bool is_linker;          /* the dynamic linker */
	bool listed;             /* found in the walk that is going on */
	bool announced;          /* the client has been told of it */
	bool sites_done; /* these two are the client's: call sites planted, */
	bool names_read; /* and names compared with those that are missing */
	struct module *next; /* in the order of the link map */
};

/*
 * Whether the address lies in one of its segments. What is between them is
 * nobody's, and may be another module's.
 */
bool module_holds(const struct module *module, taddr_t address);

struct space;

/* The module that holds an address, or NULL. */
struct module *module_find(struct space *space, taddr_t address);

/*
 * Makes a module and appends it to the space's list; image's ownership goes
 * to it.
 */
struct module *module_add(struct space *space, struct image *image,
			  taddr_t bias, const char *path);

/* Takes it off the list and frees it. */
void module_remove(struct space *space, struct module *module);
void module_free_all(struct space *space);

#endif
