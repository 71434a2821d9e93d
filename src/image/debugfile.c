/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "image/private.h"

#define DEBUG_DIRECTORY "/usr/lib/debug"

/* Names that are longer make no sense. */
#define LINK_MAX_SIZE 4096

int image_open_source(const struct image *image, const char *path,
		      struct source *ret)
{
	const struct debug_file *debug = &image_basis(image)->debug;
	size_t root = strlen(image_debug_root(image));
	int fd, err;

	/* A process's rights begin below its root. */
	if (debug->rights)
		path += strncmp(path, debug->root, root) ? 0 : root;
	fd = rights_open(debug->rights, path, 0);
	if (fd < 0)
		return fd;
	err = source_init_file(ret, fd);
	close(fd);
	return err;
}

bool image_file_has_id(const struct source *source,
		       const struct sections *sections, const uint8_t *wanted,
		       size_t wanted_size)
{
	uint64_t left = NOTES_MAX;
	size_t i;

	for (i = 0; i < sections->count; i++) {
		const struct section *section = &sections->list[i];
		const uint8_t *id;
		size_t size;

		if (section->type != SHT_NOTE)
			continue;
		id = elf_build_id(source, section->offset, section->size,
				  section->align, &left, &size);
		if (id && size == wanted_size && !memcmp(id, wanted, size))
			return true;
	}
	return false;
}

/* The checksum of .gnu_debuglink is the CRC-32 of IEEE 802.3. */
static bool has_crc(const struct source *source, uint32_t wanted)
{
	const size_t room = 1u << 18;
	CLEANUP(xfree_cleanup) uint8_t *buffer = xmalloc(room);
	uint64_t offset = 0;
	uint32_t crc = 0;
	size_t n;

	while ((n = source_read(source, offset, buffer, room)) > 0) {
		crc = lzma_crc32(buffer, n, crc);
		offset += n;
	}
	return crc == wanted;
}

bool image_offer_debug(const struct image *image, const char *path,
		       const uint32_t *crc, struct source *source,
		       struct debug_search *search)
{
	struct sections sections;
	struct elf_header header;
	bool taken = false;

	if (elf_read_header(source, &header) ||
	    header.arch != image_arch(image))
		return false;
	sections_init(&sections, source);
	if (crc ? has_crc(source, *crc) :
		  image_file_has_id(source, &sections, image->build_id,
				    image->build_id_size))
		taken = search->take(search, image, path, source, &sections);
	else
		diag_debug(DIAG_MODULE, "%s doesn't belong to %s", path,
			   image->name);
	sections_fini(&sections);
	return taken;
}

static bool try_file(const struct image *image, const char *path,
		     const uint32_t *crc, struct debug_search *search)
{
	struct source source;

	if (image_open_source(image, path, &source))
		return false;
	if (image_offer_debug(image, path, crc, &source, search))
		return true;
	source_fini(&source);
	return false;
}

void image_id_path(struct strbuf *path, const char *root, const uint8_t *id,
		   size_t size)
{
	size_t i;

	strbuf_printf(path, "%s" DEBUG_DIRECTORY "/.build-id/%02x/", root,
		      id[0]);
	for (i = 1; i < size; i++)
		strbuf_printf(path, "%02x", id[i]);
	strbuf_puts(path, ".debug");
}

static bool by_build_id(const struct image *image, const char *root,
			struct debug_search *search)
{
	struct strbuf path = { 0 };
	bool added;

	if (image->build_id_size < 2)
		return false;
	image_id_path(&path, root, image->build_id, image->build_id_size);
	added = try_file(image, strbuf_text(&path), NULL, search);
	strbuf_fini(&path);
	return added;
}

/* A file name, NULs up to a multiple of 4, and the CRC. */
static char *read_link(const struct image *image, uint32_t *crc_ret)
{
	const struct section *section =
		sections_find(&image->tables->sections, ".gnu_debuglink");
	struct blob blob;
	struct cursor c;
	char *name = NULL;

	if (!section || section->size > LINK_MAX_SIZE)
		return NULL;
	blob_load(&blob, &image->source, section->offset, section->size);
	c = blob_cursor(&blob);
	if (cursor_string_at(&c, 0))
		name = xstrdup((const char *)blob.bytes);
	if (name) {
		cursor_skip(&c, (strlen(name) + 4) & ~(size_t)3);
		*crc_ret = cursor_u32(&c);
	}
	blob_fini(&blob);
	/* The file says where to look only by name, never by path. */
	if (name && (c.bad || !*name || strchr(name, '/'))) {
		free(name);
		name = NULL;
	}
	return name;
}

static bool by_link(const struct image *image, const char *root,
		    const char *path, struct debug_search *search)
{
	static const struct {
		const char *before, *behind;
	} places[] = {
		{ "", "" },
		{ "", "/.debug" },
		{ DEBUG_DIRECTORY, "" },
	};
	CLEANUP(xfree_cleanup) char *name = NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;
	bool added = false;
	uint32_t crc = 0;
	size_t i;

	name = slash ? read_link(image, &crc) : NULL;
	for (i = 0; name && !added && i < ARRAY_SIZE(places); i++) {
		char *candidate = xasprintf("%s%s%.*s%s/%s", root,
					    places[i].before,
					    (int)(slash - path), path,
					    places[i].behind, name);

		added = try_file(image, candidate, &crc, search);
		free(candidate);
	}
	return added;
}

/* The process may have ended meanwhile. */
const char *image_debug_root(const struct image *image)
{
	const char *root = image->tables->debug.root;

	return root && *root && !access(root, F_OK) ? root : "";
}

bool image_search_debug(const struct image *image, struct debug_search *search)
{
	const char *root = image_debug_root(image);

	return by_build_id(image, root, search) ||
	       by_link(image, root, image->tables->debug.path, search);
}

bool image_keep_debug(const struct image *image, const struct source *source,
		      const struct sections *sections)
{
	struct debug_file *debug = &image->tables->debug;

	if (!symtab_init(&debug->symtab, &debug->source, sections))
		return false;
	debug->source = *source;
	return true;
}

static bool take_symbols(struct debug_search *search UNUSED,
			 const struct image *image, const char *path UNUSED,
			 struct source *source, const struct sections *sections)
{
	return image_keep_debug(image, source, sections);
}

static void find_file(const struct image *image)
{
	struct debug_search search = { .take = take_symbols };

	if (image_search_debug(image, &search) || image_add_minidebug(image))
		diag_debug(DIAG_MODULE, "%s: has separate symbols",
			   image->name);
}

const struct symtab *image_debug_symtab(const struct image *image)
{
	struct tables *tables = image_basis(image);
	struct debug_file *debug = &tables->debug;

	if (debug->wanted && !debug->looked_for) {
		debug->looked_for = true;
		if (!tables->symtab.source)
			find_file(image);
	}
	return debug->symtab.source ? &debug->symtab : NULL;
}

void image_set_debug_path(struct image *image, const char *root,
			  const char *path)
{
	struct debug_file *debug = &image->tables->debug;

	if (debug->wanted)
		return;
	debug->wanted = true;
	debug->root = xstrdup(root);
	debug->path = path ? xstrdup(path) : NULL;
}

void image_set_debug_rights(struct image *image, struct rights *rights)
{
	struct debug_file *debug = &image->tables->debug;

	if (!debug->rights)
		debug->rights = rights_get(rights);
}

void debug_file_close(struct debug_file *debug)
{
	if (debug->symtab.source)
		source_fini(&debug->source);
	debug->symtab.source = NULL;
}

void debug_file_fini(struct debug_file *debug)
{
	free(debug->root);
	free(debug->path);
	rights_put(debug->rights);
	debug_file_close(debug);
	*debug = (struct debug_file){ .looked_for = true };
}
