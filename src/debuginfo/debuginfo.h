/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_H
#define CALLTRAP_DEBUGINFO_H

#include <signal.h>
#include <stdbool.h>

#include "base/types.h"
#include "dwarf/debug_call.h"
#include "dwarf/debug_type.h"
#include "image/image.h"

/*
 * What the debug information (DWARF) of an image says: source lines, inlined
 * functions, types. It is read with libdwarf, which malformed input can crash:
 * so that is done by a child process, started when it is first needed, with no
 * rights over other processes and with limits of time and memory. When it
 * dies, the image that it was asked about is not asked about any more, the
 * loss is counted, and a new child serves the others.
 *
 * When DEBUGINFOD_URLS is set, files that aren't there are fetched in the
 * background, by another child. Until one has come nothing is known of its
 * image.
 *
 * Addresses are the image's own.
 */
struct debuginfo;

struct debuginfo *debuginfo_new(void) MUST_CHECK;
void debuginfo_free(struct debuginfo *debuginfo);

/*
 * In a process that was forked: the child that reads, and the one that fetches,
 * are the other process's and are left to it. This one has what is known, and
 * starts a reader of its own when it needs one; it fetches nothing.
 */
void debuginfo_leave_reader(struct debuginfo *debuginfo);

/* Images whose debug information could not be read to the end, and why. */
struct debuginfo_losses {
	uint64_t crashed;
	uint64_t timed_out;
	uint64_t malformed;
};

struct debuginfo_losses debuginfo_losses(const struct debuginfo *debuginfo);

/*
 * From now on no task stands still: files that are fetched may be waited for,
 * for a while, and as long as interrupts doesn't change. NULL: no more of that.
 */
void debuginfo_wait_for_fetched(struct debuginfo *debuginfo,
				const volatile sig_atomic_t *interrupts);

/* ---- lines ---- */

/* One place in the source; of inlined functions there are several. */
struct debug_place {
	const char *function; /* as the linker knows it, else as the source
				 has it; NULL: not known */
	const char *file;     /* with its directory; NULL: not known */
	unsigned line;        /* 0: not known */
	unsigned column;
	unsigned start_line; /* where the function begins; 0: not known */
};

/*
 * The places that an address belongs to, innermost first; the last one is the
 * function that was not inlined. Returns how many, 0 when nothing is known,
 * -EAGAIN when something may be known later, or another negative errno. They
 * are the reader's, good until it is freed.
 */
int debuginfo_places(struct debuginfo *debuginfo, struct image *image,
		     uint64_t address, const struct debug_place **ret);

/*
 * The same for many addresses, whose places debuginfo_places() then has at
 * hand: so each part of the debug information is read once.
 */
void debuginfo_prepare_places(struct debuginfo *debuginfo, struct image *image,
			      const uint64_t *addresses, size_t count);

/*
 * The same without waiting: false as long as the reader is at it, and this is
 * to be called again. What has still to be fetched is not waited for.
 */
bool debuginfo_prefetch_places(struct debuginfo *debuginfo, struct image *image,
			       const uint64_t *addresses,
			       size_t count) MUST_CHECK;

/* ---- calls ---- */

/*
 * The function that an address lies in, and the call whose last byte that is.
 * Returns as debuginfo_places(), and is prepared as that.
 */
int debuginfo_caller(struct debuginfo *debuginfo, struct image *image,
		     uint64_t address, const struct debug_caller **ret);

/*
 * The tail calls of the function that begins at an address. -EAGAIN: not known
 * yet; wait: … because the file is being fetched. -ENOENT: never.
 */
int debuginfo_tails(struct debuginfo *debuginfo, struct image *image,
		    uint64_t address, bool wait,
		    const struct debug_tails **ret) MUST_CHECK;

/* Whether the reader hasn't answered the last question yet. */
bool debuginfo_is_reading(struct debuginfo *debuginfo);

/* ---- types ---- */

/*
 * The function that begins at an address. -ENOENT when debug information has
 * none there, or only one whose arguments can't be found (of a language that
 * passes them in its own way). -EAGAIN: it is still being read or fetched,
 * which a stopped task doesn't wait for any longer; somebody may ask again
 * later.
 * Strings and arrays are the reader's, good until it is freed.
 */
int debuginfo_function(struct debuginfo *debuginfo, struct image *image,
		       uint64_t address,
		       const struct debug_function **ret) MUST_CHECK;

/* ---- variables ---- */

/*
 * Along pointers: from the variable that begins at an address, to the pointer at
 * the first offset in it, in what that points at to the one at the next, and so
 * on. Returns how many of these are told, 0 when nothing is known, or a negative
 * errno, as debuginfo_places(); -ENOENT when there is nothing to ask. Strings are
 * the reader's.
 */
int debuginfo_way(struct debuginfo *debuginfo, struct image *image,
		  uint64_t variable, const uint64_t *offsets, unsigned count,
		  struct debug_step ret[DEBUG_STEPS_MAX]) MUST_CHECK;

#endif
