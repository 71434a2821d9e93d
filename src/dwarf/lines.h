/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_LINES_H
#define CALLTRAP_DEBUGINFO_LINES_H

#include "dwarf/die.h"
#include "dwarf/intervals.h"

/* From address on, up to the next row of its sequence. */
struct line_row {
	uint64_t address;
	uint32_t file;
	uint32_t line;
	uint32_t column;
};

/* The line table of a unit. */
struct line_table {
	struct line_row *rows;
	size_t count, room;
	struct intervals sequences; /* value: which rows */
	char **files;               /* whole paths; NULL: no such file */
	size_t file_count;
	size_t path_bytes;
};

/* A zeroed table; die is that of the unit. */
void line_table_read(struct line_table *table, const struct die *die);
void line_table_fini(struct line_table *table);
size_t line_table_bytes(const struct line_table *table);

/* What an address belongs to, or NULL. */
const struct line_row *line_table_find(const struct line_table *table,
				       uint64_t address);

/* By the number that rows and DW_AT_call_file have; or NULL. */
const char *line_table_file(const struct line_table *table, uint64_t number);

#endif
