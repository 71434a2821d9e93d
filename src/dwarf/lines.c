/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* No unit has more files or longer paths. */
#define FILES_MAX       65536
#define PATH_MAX_LENGTH 4096
#define ROWS_MAX        (1u << 26)

/* While it is being read. */
struct line_reading {
	struct line_table *table;
	Dwarf_Debug dbg;
	Dwarf_Line_Context context;
	const char *directory; /* of the compilation, or NULL */
	bool from_zero;        /* DWARF 5 */
	Dwarf_Signed directories;
	bool counted_from_one; /* … by libdwarf, whatever the version */
};

static bool is_done(const struct line_reading *reading, int state,
		    Dwarf_Error error)
{
	if (state == DW_DLV_ERROR && error)
		dwarf_dealloc(reading->dbg, error, DW_DLA_ERROR);
	return state == DW_DLV_OK;
}

static const char *directory_at(const struct line_reading *reading,
				Dwarf_Signed index)
{
	Dwarf_Error error = NULL;
	const char *name;

	return is_done(reading,
		       dwarf_srclines_include_dir_data(reading->context, index,
						       &name, &error),
		       error) ?
		       name :
		       NULL;
}

/* Release 20210528 counts directories from 1 in DWARF 5, too. */
static void look_at_directories(struct line_reading *reading)
{
	Dwarf_Error error = NULL;

	if (!is_done(reading,
		     dwarf_srclines_include_dir_count(reading->context,
						      &reading->directories,
						      &error),
		     error))
		reading->directories = 0;
	reading->counted_from_one =
		directory_at(reading, reading->directories) != NULL;
}

/* The directory that a file's number names; NULL: that of the compilation. */
static const char *directory_of(const struct line_reading *reading,
				Dwarf_Unsigned number)
{
	if (number > FILES_MAX || (!reading->from_zero && number == 0))
		return NULL;
	return directory_at(reading, number + (reading->from_zero &&
					       reading->counted_from_one));
}

static char *join(const char *base, const char *directory, const char *name)
{
	if (strnlen(name, PATH_MAX_LENGTH) == PATH_MAX_LENGTH)
		return NULL;
	if (*name == '/')
		return xstrdup(name);
	if (directory && *directory == '/')
		base = NULL;
	return xasprintf("%.*s%s%.*s%s%s", PATH_MAX_LENGTH, base ? base : "",
			 base ? "/" : "", PATH_MAX_LENGTH,
			 directory ? directory : "", directory ? "/" : "",
			 name);
}

static void read_file(struct line_reading *reading, Dwarf_Signed number)
{
	struct line_table *table = reading->table;
	Dwarf_Unsigned directory, time, length;
	Dwarf_Form_Data16 *checksum;
	Dwarf_Error error = NULL;
	const char *name;

	if (!is_done(reading,
		     dwarf_srclines_files_data_b(reading->context, number,
						 &name, &directory, &time,
						 &length, &checksum, &error),
		     error) ||
	    !name)
		return;
	table->files[number] = join(reading->directory,
				    directory_of(reading, directory), name);
	if (table->files[number])
		table->path_bytes += strlen(table->files[number]) + 1;
}

static void read_files(struct line_reading *reading)
{
	Dwarf_Signed first, count, end, i;
	Dwarf_Error error = NULL;

	if (!is_done(reading,
		     dwarf_srclines_files_indexes(reading->context, &first,
						  &count, &end, &error),
		     error) ||
	    first < 0 || end < first || end > FILES_MAX)
		return;
	look_at_directories(reading);
	reading->table->files = xcalloc(end + 1, sizeof(char *));
	reading->table->file_count = end;
	for (i = first; i < end; i++)
		read_file(reading, i);
}

/*
 * Release 20210528 takes the row where an epilogue begins for the end of its
 * sequence. (A real end doesn't begin anything.)
 */
static bool is_end(const struct line_reading *reading, Dwarf_Line line)
{
	Dwarf_Bool end, prologue_ends, epilogue_begins;
	Dwarf_Unsigned isa, discriminator;
	Dwarf_Error error = NULL;

	return is_done(reading, dwarf_lineendsequence(line, &end, &error),
		       error) &&
	       end &&
	       is_done(reading,
		       dwarf_prologue_end_etc(line, &prologue_ends,
					      &epilogue_begins, &isa,
					      &discriminator, &error),
		       error) &&
	       !epilogue_begins;
}

static bool read_row(const struct line_reading *reading, Dwarf_Line line,
		     struct line_row *ret)
{
	Dwarf_Unsigned number, file, column;
	Dwarf_Error error = NULL;
	Dwarf_Addr address;

	if (!is_done(reading, dwarf_lineaddr(line, &address, &error), error) ||
	    !is_done(reading, dwarf_lineno(line, &number, &error), error) ||
	    !is_done(reading, dwarf_line_srcfileno(line, &file, &error),
		     error) ||
	    !is_done(reading, dwarf_lineoff_b(line, &column, &error), error))
		return false;
	*ret = (struct line_row){ address, file, number, column };
	return true;
}

/* Stable: of several rows for one address the last one counts. */
static int compare_rows(const void *a, const void *b)
{
	const struct line_row *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static bool is_sorted(const struct line_row *rows, size_t count)
{
	size_t i;

	for (i = 1; i < count; i++)
		if (rows[i].address < rows[i - 1].address)
			return false;
	return true;
}

/* Rows from first on are a sequence; the last of them ends it. */
static void end_sequence(struct line_table *table, size_t first)
{
	struct line_row *rows = table->rows + first;
	size_t count = table->count - first;

	/* They have to be, but who knows. (qsort() is stable in glibc.) */
	if (!is_sorted(rows, count))
		qsort(rows, count, sizeof(*rows), compare_rows);
	if (rows[0].address > 1)
		intervals_add(&table->sequences, rows[0].address,
			      rows[count - 1].address,
			      (uint64_t)first * ROWS_MAX + count);
}

static void read_rows(struct line_reading *reading, Dwarf_Line *lines,
		      Dwarf_Signed count)
{
	struct line_table *table = reading->table;
	size_t first = 0;
	Dwarf_Signed i;

	if (count <= 0 || count >= ROWS_MAX)
		return;
	table->rows = xreallocarray(NULL, count, sizeof(*table->rows));
	table->room = count;
	for (i = 0; i < count; i++) {
		if (!read_row(reading, lines[i], &table->rows[table->count]))
			continue;
		table->count++;
		if (is_end(reading, lines[i])) {
			end_sequence(table, first);
			first = table->count;
		}
	}
	intervals_sort(&table->sequences);
}

void line_table_read(struct line_table *table, const struct die *die)
{
	struct line_reading reading = { .table = table,
					.dbg = die->dwarf->dbg };
	Dwarf_Error error = NULL;
	Dwarf_Unsigned version;
	Dwarf_Small tables;
	Dwarf_Line *lines;
	Dwarf_Signed count;

	if (!is_done(&reading,
		     dwarf_srclines_b(die->handle, &version, &tables,
				      &reading.context, &error),
		     error))
		return;
	reading.from_zero = version >= 5;
	reading.directory = die_string(die, DW_AT_comp_dir);
	if (is_done(&reading,
		    dwarf_srclines_from_linecontext(reading.context, &lines,
						    &count, &error),
		    error)) {
		read_files(&reading);
		read_rows(&reading, lines, count);
	}
	dwarf_srclines_dealloc_b(reading.context);
}

void line_table_fini(struct line_table *table)
{
	size_t i;

	for (i = 0; i < table->file_count; i++)
		free(table->files[i]);
	free(table->files);
	free(table->rows);
	intervals_fini(&table->sequences);
	*table = (struct line_table){ 0 };
}

size_t line_table_bytes(const struct line_table *table)
{
	return table->room * sizeof(*table->rows) +
	       table->sequences.room * sizeof(*table->sequences.list) +
	       table->file_count * sizeof(*table->files) + table->path_bytes;
}

/* The last row at or before an address, which isn't before the first. */
const struct line_row *line_table_find(const struct line_table *table,
				       uint64_t address)
{
	const struct interval *sequence =
		intervals_find(&table->sequences, address);
	const struct line_row *rows;
	size_t low = 0, high;

	if (!sequence)
		return NULL;
	rows = table->rows + sequence->value / ROWS_MAX;
	high = sequence->value % ROWS_MAX;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (rows[middle].address <= address)
			low = middle;
		else
			high = middle;
	}
	return &rows[low];
}

const char *line_table_file(const struct line_table *table, uint64_t number)
{
	return number < table->file_count ? table->files[number] : NULL;
}
