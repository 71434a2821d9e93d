/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_OBJECT_H
#define CALLTRAP_DEBUGINFO_OBJECT_H

#include "base/types.h"

/*
 * The debug sections of an ELF file, mapped, for libdwarf: nothing is copied,
 * but compressed sections are unpacked when they are first needed. In the
 * child process, where nobody minds a file that is cut short while it is
 * mapped.
 */
struct object;

/* Takes fd over. -EBADMSG when it is no ELF file. */
int object_open(int fd, struct object **ret) MUST_CHECK;
void object_close(struct object *object);

unsigned object_word_size(const struct object *object);

/* What dwarf_object_init_b() wants. */
void *object_interface(struct object *object);

#endif
