/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_INFOFILE_H
#define CALLTRAP_DEBUGINFO_INFOFILE_H

#include "dwarf/die.h"
#include "dwarf/object.h"
#include "dwarf/unit.h"

/* One file's debug information, in the child process. */
struct infofile {
	struct object *object;
	struct object *common_object; /* or NULL */
	struct dwarf dwarf;
	struct dwarf common;
	bool has_aranges; /* … were read, as far as they go */
	bool has_all_units;
	struct intervals units; /* value: offset of the unit's entry */
	bool has_data;
	unsigned questions;
	struct intervals data; /* variables; value: offset of its entry */
	struct unit *loaded;   /* by offset; the last used is last */
	size_t loaded_bytes;
};

/*
 * Takes the descriptors over; common_fd may be -1. -ENOENT when there is no
 * debug information in it, -EBADMSG when it can't be made sense of.
 */
int infofile_open(int fd, int common_fd, struct infofile **ret) MUST_CHECK;
void infofile_close(struct infofile *file);

/*
 * The unit that holds an address, or NULL. Good until the next is asked for.
 */
struct unit *infofile_unit(struct infofile *file, uint64_t address);

/* Each unit's entry, in a row; false at the end, up to which it must be gone. */
bool infofile_next_unit(struct infofile *file, struct die *ret);

/*
 * libdwarf keeps something of every unit that it has ever looked at: begins
 * anew when that is too much.
 */
void infofile_tidy(struct infofile *file);

#endif
