/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file with debug information, as the child process reads it: places
 * and types of whatever it says that functions are.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "debuginfo/answers.h"
#include "dwarf/calls.h"
#include "dwarf/data.h"
#include "dwarf/function.h"
#include "dwarf/infofile.h"
#include "dwarf/places.h"
#include "dwarf/way.h"

#define UNITS_MAX     16
#define FUNCTIONS_MAX 16
#define DATA_MAX      64

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
const char *__asan_default_options(void);

/* libdwarf forgets some memory where it gives up. */
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/* libdwarf 20210528 frees damaged lists of ranges twice: it gets none. */
static void hide_range_lists(uint8_t *bytes, size_t size)
{
	static const char name[] = ".debug_rnglists";
	uint8_t *at = bytes;

	while ((at = memmem(at, size - (at - bytes), name, sizeof(name) - 1)))
		at[1] = 'x';
}

static int file_of(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	memcpy(copy, bytes, size);
	hide_range_lists(copy, size);
	if (fd >= 0 && write(fd, copy, size) != (ssize_t)size) {
		close(fd);
		fd = -1;
	}
	free(copy);
	return fd;
}

/* What the child writes is what calltrap can read. */
static void look_at(struct infofile *file, uint64_t address)
{
	struct answers answers = { 0 };
	const struct debug_function *function;
	const struct debug_place *places;
	struct debug_caller caller;
	struct debug_tails tails;
	struct strbuf out = { 0 };
	struct cursor c;
	unsigned count;

	places_write(file, address, &out);
	c = cursor_of(out.text, out.length);
	if (answers_read_places(&answers, &c, &caller, &places, &count))
		__builtin_trap();
	strbuf_clear(&out);
	calls_write_tails(file, address, &out);
	c = cursor_of(out.text, out.length);
	if (answers_read_tails(&answers, &c, &tails))
		__builtin_trap();
	strbuf_clear(&out);
	if (!function_write(file, address, &out)) {
		c = cursor_of(out.text, out.length);
		if (answers_read_function(&answers, &c, &function))
			__builtin_trap();
	}
	strbuf_fini(&out);
	answers_fini(&answers);
}

/* Of whatever it says that variables are. */
static void look_at_data(struct infofile *file)
{
	const uint64_t offsets[] = { 8, 0, 16, 0 };
	struct debug_step steps[DEBUG_STEPS_MAX];
	struct answers answers = { 0 };
	unsigned count;

	for (size_t i = 0; i < file->data.count && i < DATA_MAX; i++)
		for (unsigned skip = 0; skip < 2; skip++) {
			struct strbuf out = { 0 };
			struct cursor c;

			way_write(file, file->data.list[i].low, offsets + skip,
				  3, &out);
			c = cursor_of(out.text, out.length);
			if (answers_read_way(&answers, &c, steps, &count))
				__builtin_trap();
			strbuf_fini(&out);
		}
	answers_fini(&answers);
}

static void look_at_unit(struct infofile *file, uint64_t low)
{
	struct unit *unit = infofile_unit(file, low);
	uint64_t addresses[FUNCTIONS_MAX];
	size_t count = 0, i;

	look_at(file, low);
	if (!unit)
		return;
	for (i = 0; i < unit->functions.count && count < FUNCTIONS_MAX; i++)
		addresses[count++] = unit->functions.list[i].low;
	for (i = 0; i < count; i++) {
		look_at(file, addresses[i]);
		look_at(file, addresses[i] + 7);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint64_t lows[UNITS_MAX];
	struct infofile *file;
	int fd = file_of(bytes, size);
	struct die die;
	size_t count = 0, i;

	if (fd < 0 || infofile_open(fd, -1, &file))
		return 0;
	look_at(file, 0x1000);
	if (!data_find(file, 0x1000, &die))
		look_at_data(file);
	else
		die_put(&die);
	for (i = 0; i < file->units.count && count < UNITS_MAX; i++)
		lows[count++] = file->units.list[i].low;
	for (i = 0; i < count; i++)
		look_at_unit(file, lows[i]);
	infofile_close(file);
	return 0;
}
