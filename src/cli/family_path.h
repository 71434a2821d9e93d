/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FAMILY_PATH_H
#define CALLTRAP_FAMILY_PATH_H

#include "heap/family.h"

/*
 * Reads a family file: one of a path, or (a name without a slash, when there is
 * no such file here) NAME.families in the folder families of the user's, the
 * system's and calltrap's own files, the first that there is. What goes wrong
 * has been told.
 */
int family_path_load(struct families *families, const char *name) MUST_CHECK;

#endif
