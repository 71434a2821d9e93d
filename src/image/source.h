/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_IMAGE_SOURCE_H
#define CALLTRAP_IMAGE_SOURCE_H

#include <stdbool.h>

#include "base/cursor.h"
#include "base/types.h"

/*
 * Where the bytes of an ELF file come from: an open file, or memory.
 *
 * A file is never mapped and never read whole. A mapping would raise SIGBUS
 * in the tracer when somebody truncates the file, and a browser's binary alone
 * is larger than what calltrap may use. So the parts that are needed are read,
 * when they are needed, and small tables are kept.
 */
struct source {
	int fd;         /* ours; -1 when bytes holds it all */
	uint8_t *bytes; /* ours */
	uint64_t size;
};

/* Duplicates fd. Returns 0 or -errno. */
int source_init_file(struct source *source, int fd) MUST_CHECK;

/* Takes bytes over. */
void source_init_bytes(struct source *source, uint8_t *bytes, size_t size);
void source_fini(struct source *source);

/* How many bytes there were, at most size. */
size_t source_read(const struct source *source, uint64_t offset, void *ret,
		   size_t size);

/*
 * A part of a source in memory. A NUL follows the bytes, so that whatever
 * begins inside is a string.
 */
struct blob {
	uint8_t *bytes; /* NULL: empty */
	size_t size;
};

/*
 * Reads what the source has of a range. Leaves ret empty when that is
 * nothing, or more than any real file has in one table.
 */
void blob_load(struct blob *ret, const struct source *source, uint64_t offset,
	       uint64_t size);
void blob_fini(struct blob *blob);
struct cursor blob_cursor(const struct blob *blob);

/* The string at an offset, or NULL. */
const char *blob_string(const struct blob *blob, uint64_t offset);

/*
 * Reads entries of one size through a window: a table may be large, and most
 * of its entries are looked at once.
 */
struct table {
	const struct source *source;
	uint64_t offset;
	uint64_t count;
	uint32_t entry_size;
	uint64_t first; /* index of the first entry in the window */
	size_t loaded;  /* how many are */
	uint8_t window[8192];
};

/* Cuts the table where the source ends. */
void table_init(struct table *table, const struct source *source,
		uint64_t offset, uint64_t size, uint32_t entry_size);

/* A cursor over an entry, good until the next call. */
bool table_get(struct table *table, uint64_t index, struct cursor *ret);

#endif
