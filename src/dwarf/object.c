/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/object.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "dwarf/dwarf_api.h"
#include "dwarf/unpack.h"
#include "image/elf.h"
#include "image/sections.h"

/* Of one section. The largest browsers have a .debug_info of 3 GiB. */
#define UNPACKED_MAX (4ull << 30)

struct unpacked {
	void *bytes; /* or NULL */
	uint64_t size;
};

struct object {
	dwarf_object_interface interface; /* must be first */
	struct source source;
	struct elf_header header;
	struct sections sections;
	struct unpacked *unpacked; /* of each section */
	uint8_t *map;
};

/* Where variables lie is never asked, but libdwarf would read all of that before
   anything else. */
static bool is_wanted(const struct section *section)
{
	return !strncmp(section->name, ".debug_", 7) &&
	       strncmp(section->name, ".debug_loc", 10) != 0;
}

static bool is_compressed(const struct section *section)
{
	return section->flags & SHF_COMPRESSED;
}

/* In the file; nothing where headers lie. */
static struct cursor bytes_of(const struct object *object,
			      const struct section *section)
{
	struct cursor file = cursor_of(object->map, object->source.size);

	return cursor_part(&file, section->offset, section->size);
}

/* Moves c behind the header; 0 when it can't be unpacked. */
static uint64_t unpacked_size(const struct object *object, struct cursor *c,
			      uint32_t *type_ret)
{
	unsigned word_size = object->header.arch->word_size;
	uint64_t size;

	*type_ret = cursor_u32(c);
	if (word_size == 8)
		cursor_skip(c, 4);
	size = cursor_word(c, word_size);
	cursor_skip(c, word_size);
	return c->bad || !unpack_knows(*type_ret) || size > UNPACKED_MAX ? 0 :
									   size;
}

static uint64_t section_size(const struct object *object,
			     const struct section *section)
{
	struct cursor c = bytes_of(object, section);
	uint32_t type;

	if (c.bad)
		return 0;
	return is_compressed(section) ? unpacked_size(object, &c, &type) :
					c.size;
}

static int unpack_section(struct object *object, size_t index)
{
	struct cursor c = bytes_of(object, &object->sections.list[index]);
	uint32_t type;
	uint64_t size = c.bad ? 0 : unpacked_size(object, &c, &type);
	void *bytes;

	if (!size)
		return DW_DLV_ERROR;
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		return DW_DLV_ERROR;
	if (!unpack(type, c, bytes, size)) {
		munmap(bytes, size);
		return DW_DLV_ERROR;
	}
	object->unpacked[index] = (struct unpacked){ bytes, size };
	return DW_DLV_OK;
}

/* ---- as libdwarf asks ---- */

static int get_section(void *context, dwarf_section_index index,
		       dwarf_object_section *ret, int *error)
{
	const struct object *object = context;
	const struct section *section;

	(void)error;
	memset(ret, 0, sizeof(*ret));
	ret->SECTION(name) = "";
	if (index >= object->sections.count)
		return DW_DLV_NO_ENTRY;
	section = &object->sections.list[index];
	if (!is_wanted(section))
		return DW_DLV_OK;
	ret->SECTION(name) = section->name;
	ret->SECTION(type) = SHT_PROGBITS;
	ret->SECTION(size) = section_size(object, section);
	return DW_DLV_OK;
}

static int load_section(void *context, dwarf_section_index index,
			Dwarf_Small **ret, int *error)
{
	struct object *object = context;
	const struct section *section;
	struct cursor c;

	*error = DW_DLE_MDE;
	if (index >= object->sections.count)
		return DW_DLV_NO_ENTRY;
	section = &object->sections.list[index];
	c = bytes_of(object, section);
	if (c.bad || !c.size)
		return DW_DLV_NO_ENTRY;
	if (is_compressed(section)) {
		if (!object->unpacked[index].bytes &&
		    unpack_section(object, index))
			return DW_DLV_ERROR;
		*ret = object->unpacked[index].bytes;
	} else {
		*ret = (Dwarf_Small *)c.bytes;
	}
	return DW_DLV_OK;
}

static dwarf_byte_order get_byte_order(void *context UNUSED)
{
	return BYTE_ORDER_LITTLE;
}

static Dwarf_Small get_word_size(void *context)
{
	return object_word_size(context);
}

static Dwarf_Unsigned get_section_count(void *context)
{
	const struct object *object = context;

	return object->sections.count;
}

#ifdef HAVE_DWARF_OBJ_ACCESS_INTERFACE_A
static Dwarf_Unsigned get_file_size(void *context)
{
	const struct object *object = context;

	return object->source.size;
}
#endif

static const dwarf_object_methods methods = {
#ifdef HAVE_DWARF_OBJ_ACCESS_INTERFACE_A
	.METHOD(get_filesize) = get_file_size,
#endif
	.METHOD(get_section_info) = get_section,
	.METHOD(get_byte_order) = get_byte_order,
	.METHOD(get_length_size) = get_word_size,
	.METHOD(get_pointer_size) = get_word_size,
	.METHOD(get_section_count) = get_section_count,
	.METHOD(load_section) = load_section,
};

/* ---- opening ---- */

static int map_file(struct object *object)
{
	void *map;

	if (elf_read_header(&object->source, &object->header))
		return -EBADMSG;
	map = mmap(NULL, object->source.size, PROT_READ, MAP_PRIVATE,
		   object->source.fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	object->map = map;
	sections_init(&object->sections, &object->source);
	object->unpacked =
		xcalloc(object->sections.count + 1, sizeof(*object->unpacked));
	return 0;
}

int object_open(int fd, struct object **ret)
{
	struct object *object = xcalloc(1, sizeof(*object));
	int err = source_init_file(&object->source, fd);

	close(fd);
	object->interface.OBJECT_MEMBER(object) = object;
	object->interface.OBJECT_MEMBER(methods) = &methods;
	if (err) {
		free(object);
		return err;
	}
	err = map_file(object);
	if (err)
		object_close(object);
	else
		*ret = object;
	return err;
}

void object_close(struct object *object)
{
	size_t i;

	for (i = 0; i < object->sections.count; i++)
		if (object->unpacked[i].bytes)
			munmap(object->unpacked[i].bytes,
			       object->unpacked[i].size);
	if (object->map)
		munmap(object->map, object->source.size);
	free(object->unpacked);
	sections_fini(&object->sections);
	source_fini(&object->source);
	free(object);
}

unsigned object_word_size(const struct object *object)
{
	return object->header.arch->word_size;
}

void *object_interface(struct object *object)
{
	return &object->interface;
}
