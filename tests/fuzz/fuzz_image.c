/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/diag.h"
#include "image/image.h"

static void ignore(enum diag_level level UNUSED, enum diag_domain domain UNUSED,
		   const char *message UNUSED)
{
}

static void check(bool condition)
{
	if (!condition)
		abort();
}

static void ask_headers(const struct image *image)
{
	const struct image_segment *segments;
	struct image_slack slack[4];
	size_t count, size, i;
	const uint8_t *id;
	uint8_t byte;

	segments = image_segments(image, &count);
	check(count);
	for (i = 0; i < count; i++) {
		check(segments[i].address >= image_low(image));
		check(segments[i].file_size <= segments[i].memory_size);
		check(image_read(image, segments[i].address, &byte, 1) <= 1);
	}
	count = image_slack(image, slack, 4);
	for (i = 0; i < count; i++)
		check(slack[i].size && slack[i].size < 4096 &&
		      !image_is_code(image, slack[i].address));
	id = image_build_id(image, &size);
	for (i = 0; i < size; i++)
		byte = id[i];
	check(!image_soname(image) || strlen(image_soname(image)) < 4097);
	check(!image_interpreter(image) ||
	      strlen(image_interpreter(image)) < 4097);
	check(image_arch(image));
	image_entry(image);
	image_dynamic_address(image);
	image_is_dynamic(image);
	image_is_position_independent(image);
	image_got_address(image);
	image_headers_address(image);
	image_high(image);
}

static void ask_symbols(const struct image *image)
{
	const struct symbol *symbols;
	const struct symbol *found;
	struct image_thread_object object;
	uint64_t address;
	size_t count, i;

	symbols = image_symbols(image, &count);
	for (i = 0; i < count; i++) {
		check(image_is_code(image, symbols[i].address));
		check(!i || symbols[i - 1].address <= symbols[i].address);
		found = image_find_symbol(image, symbols[i].name);
		check(found && !strcmp(found->name, symbols[i].name));
		if (!symbols[i].exported)
			continue;
		found = image_find_export(image, symbols[i].name,
					  symbols[i].version);
		/* The hash table may not have it. */
		check(!found || !strcmp(found->name, symbols[i].name));
	}
	image_find_object(image, "_r_debug", &address);
	check(!image_find_thread_object(image, "data", &object) ||
	      object.offset < object.block_size);
}

/* A few names, before all the others are read; then again among them. */
static void ask_names(const struct image *image)
{
	static const char *const names[] = { "f", "local", "chosen" };
	struct symbol *found;
	size_t count, i, round;

	for (round = 0; round < 2; round++) {
		found = image_symbols_named(image, names, 3, &count);
		for (i = 0; i < count; i++)
			check((!strcmp(found[i].name, names[0]) ||
			       !strcmp(found[i].name, names[1]) ||
			       !strcmp(found[i].name, names[2])) &&
			      image_is_code(image, found[i].address));
		free(found);
		image_symbols(image, &count);
	}
}

static void ask_imports(const struct image *image)
{
	const struct import *imports;
	size_t count, i, length = 0;

	imports = image_imports(image, &count);
	for (i = 0; i < count; i++) {
		check(!i || imports[i - 1].slot < imports[i].slot);
		check(!imports[i].stub ||
		      image_is_code(image, imports[i].stub));
		check(!imports[i].canonical || imports[i].stub);
		length += strlen(imports[i].name);
		if (imports[i].version)
			length += strlen(imports[i].version);
		if (imports[i].library)
			length += strlen(imports[i].library);
	}
	check(count || !length);
	for (i = 0; i < count; i++)
		check(!image_slot_is_only_called(image, imports[i].slot) ||
		      imports[i].kind != IMPORT_JUMP_SLOT || !imports[i].stub);
}

static void ask(struct image *image)
{
	image_set_debug_path(image, "/nonexistent", "/bin/fuzz");
	ask_headers(image);
	ask_imports(image);
	ask_names(image);
	ask_symbols(image);
	ask_imports(image);
	image_put(image);
}

/* The bytes as what the memory of a process shows at an address. */
struct shown {
	struct memory memory;
	const uint8_t *bytes;
	size_t size;
};

#define SHOWN_AT 0x7f0000000000

static size_t shown_read(struct memory *memory, taddr_t address, void *ret,
			 size_t size)
{
	const struct shown *shown = (struct shown *)memory;
	uint64_t inside = address - SHOWN_AT;

	if (inside >= shown->size)
		return 0;
	if (size > shown->size - inside)
		size = shown->size - inside;
	memcpy(ret, shown->bytes + inside, size);
	return size;
}

/* libelf takes other ways through files than through memory. */
static void open_file(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct image *image;

	check(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	if (!image_open(fd, "fuzz", &image))
		ask(image);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const struct memory_ops ops = { .read = shown_read };
	struct shown shown = { { &ops }, bytes, size };
	struct image *image;

	diag_set_receiver(ignore);
	diag_set_debug(DIAG_MODULE);
	if (!image_open_bytes(bytes, size, "fuzz", &image))
		ask(image);
	open_file(bytes, size);
	if (!image_open_memory(&shown.memory, SHOWN_AT, "shown", &image))
		ask(image);
	return 0;
}
