/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_COMPONENTS_H
#define CALLTRAP_COMPONENTS_H

#include "naming/namer.h"

/*
 * Named groups of libraries and functions, read from a file: a line each, as in
 * "core: libcore.so* main". The first group counts that names the library that
 * has acquired something; else the first that names a function of the stack,
 * from the innermost on. Patterns are those of fnmatch(3).
 */
struct components;

/*
 * What is wrong in the file is reported through diag, and the line left out. A
 * negative errno when it can't be read.
 */
int components_read(const char *path, struct components **ret) MUST_CHECK;
void components_free(struct components *components);

/* Names, that of number 1 first. */
char *const *components_names(const struct components *components,
			      unsigned *count_ret);

/* The number of the group, or 0. library may be NULL. */
unsigned components_find(const struct components *components,
			 const struct stacks *stacks, struct namer *namer,
			 stack_id stack, const char *library);

#endif
