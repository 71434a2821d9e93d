/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/image.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "image/private.h"

static int read_headers(struct image *image)
{
	int err = elf_read_header(&image->source, &image->header);

	if (err)
		return err;
	if (image->header.type != ET_EXEC && image->header.type != ET_DYN)
		return -ENOEXEC;
	err = image_read_segments(image);
	if (err)
		return err;
	image_read_dynamic(image);
	return 0;
}

int image_new(struct source source, const char *name, bool from_memory,
	      uint64_t bias, struct image **ret)
{
	struct image *image = xcalloc(1, sizeof(*image));
	int err;

	image->references = 1;
	image->source = source;
	image->from_memory = from_memory;
	image->bias = bias;
	image->name = xstrdup(name);
	image->tables = xcalloc(1, sizeof(*image->tables));
	err = read_headers(image);
	if (err)
		image_put(image);
	else
		*ret = image;
	return err;
}

int image_open(int fd, const char *name, struct image **ret)
{
	struct source source;
	int err = source_init_file(&source, fd);

	return err ? err : image_new(source, name, false, 0, ret);
}

int image_open_bytes(const void *bytes, size_t size, const char *name,
		     struct image **ret)
{
	struct source source;
	uint8_t *copy = xmalloc(size);
	int err;

	if (size)
		memcpy(copy, bytes, size);
	err = source_init_bytes(&source, copy, size);
	return err ? err : image_new(source, name, false, 0, ret);
}

struct image *image_get(struct image *image)
{
	image->references++;
	return image;
}

bool image_is_shared(const struct image *image)
{
	return image->references > 1;
}

static void free_tables(struct tables *tables)
{
	sections_fini(&tables->sections);
	dynsym_fini(&tables->dynsym);
	debug_file_fini(&tables->debug);
	blob_fini(&tables->strings);
	blob_fini(&tables->debug_strings);
	free(tables->exports.list);
	blob_fini(&tables->gnu_hash.blob);
	free(tables->export_heads);
	free(tables->export_links);
	free(tables->symbols.list);
	asked_names_free(tables->asked);
	free(tables->imports);
	free(tables->slot_jumps);
	free(tables->called_slots);
	free(tables);
}

void image_put(struct image *image)
{
	if (!image || --image->references)
		return;
	free_tables(image->tables);
	source_fini(&image->source);
	free(image->name);
	free(image->segments);
	free(image->soname);
	free(image->interpreter);
	free(image);
}

unsigned image_word_size(const struct image *image)
{
	return image->header.arch->word_size;
}

const char *image_name(const struct image *image)
{
	return image->name;
}

const struct arch_ops *image_arch(const struct image *image)
{
	return image->header.arch;
}

const char *image_interpreter(const struct image *image)
{
	return image->interpreter;
}

bool image_is_position_independent(const struct image *image)
{
	return image->header.type == ET_DYN;
}

uint64_t image_entry(const struct image *image)
{
	return image->header.entry;
}

uint64_t image_headers_address(const struct image *image)
{
	return image->headers_address;
}

const uint8_t *image_build_id(const struct image *image, size_t *size_ret)
{
	*size_ret = image->build_id_size;
	return image->build_id;
}
