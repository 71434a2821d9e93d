/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "image/private.h"

#define LINK_MAX_SIZE 4096

/* Whoever looks for .debug_info. */
struct info_search {
	struct debug_search search;
	struct debug_files files;
};

static int copy_fd(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static bool source_has_id(const struct source *source, const uint8_t *id,
			  size_t size)
{
	struct elf_header header;
	struct sections sections;
	bool same;

	if (elf_read_header(source, &header))
		return false;
	sections_init(&sections, source);
	same = image_file_has_id(source, &sections, id, size);
	sections_fini(&sections);
	return same;
}

bool image_has_build_id(int fd, const uint8_t *id, size_t size)
{
	struct source source;
	bool same;

	if (source_init_file(&source, fd))
		return false;
	same = source_has_id(&source, id, size);
	source_fini(&source);
	return same;
}

static int try_common(const struct image *image, const char *path,
		      const uint8_t *id, size_t size)
{
	struct source source;
	int fd = -1;

	if (image_open_source(image, path, &source))
		return -1;
	if (source_has_id(&source, id, size))
		fd = copy_fd(source.fd);
	source_fini(&source);
	return fd;
}

/* By the name that the link has: from the root, or where the file is. */
static int common_by_name(const struct image *image, const char *path,
			  const char *name, const uint8_t *id, size_t size)
{
	const char *slash = strrchr(path, '/');
	char *candidate;
	int fd;

	if (*name == '/')
		candidate = xasprintf("%s%s", image_debug_root(image), name);
	else if (slash)
		candidate =
			xasprintf("%.*s/%s", (int)(slash - path), path, name);
	else
		return -1;
	fd = try_common(image, candidate, id, size);
	free(candidate);
	return fd;
}

static int common_by_id(const struct image *image, const uint8_t *id,
			size_t size)
{
	struct strbuf path = { 0 };
	int fd;

	image_id_path(&path, image_debug_root(image), id, size);
	fd = try_common(image, strbuf_text(&path), id, size);
	strbuf_fini(&path);
	return fd;
}

static void find_common(const struct image *image, const char *path,
			const char *name, const uint8_t *id, size_t size,
			struct debug_files *files)
{
	files->common_fd = common_by_name(image, path, name, id, size);
	if (files->common_fd < 0)
		files->common_fd = common_by_id(image, id, size);
	if (files->common_fd >= 0)
		return;
	diag_debug(DIAG_MODULE, "%s: there is no %s", path, name);
	if (size > sizeof(files->common_id))
		return;
	memcpy(files->common_id, id, size);
	files->common_id_size = size;
}

/* .gnu_debugaltlink: a name, and behind its NUL the file's build-id. */
static void open_common(const struct image *image, const char *path,
			const struct source *source,
			const struct sections *sections,
			struct debug_files *files)
{
	const struct section *link =
		sections_find(sections, ".gnu_debugaltlink");
	struct blob blob;
	const char *name;

	if (!link || link->size > LINK_MAX_SIZE)
		return;
	blob_load(&blob, source, link->offset, link->size);
	name = blob_string(&blob, 0);
	if (name && strlen(name) + 2 < blob.size)
		find_common(image, path, name, blob.bytes + strlen(name) + 1,
			    blob.size - strlen(name) - 1, files);
	blob_fini(&blob);
}

static bool take_info(struct debug_search *search, const struct image *image,
		      const char *path, struct source *source,
		      const struct sections *sections)
{
	struct info_search *info = (struct info_search *)search;

	if (source->fd < 0 || !sections_find(sections, ".debug_info"))
		return false;
	info->files = (struct debug_files){ .fd = copy_fd(source->fd),
					    .common_fd = -1 };
	if (info->files.fd < 0)
		return false;
	open_common(image, path, source, sections, &info->files);
	return true;
}

/* The image's own source stays open; a found one isn't needed any more. */
static bool take_found(struct debug_search *search, const struct image *image,
		       const char *path, struct source *source,
		       const struct sections *sections)
{
	bool taken = take_info(search, image, path, source, sections);

	if (taken)
		source_fini(source);
	return taken;
}

int image_open_debug(const struct image *image, struct debug_files *ret)
{
	struct info_search search = { .search.take = take_found };
	const struct tables *tables = image_basis(image);
	struct source own = image->source;
	const char *path = tables->debug.path ? tables->debug.path :
						image->name;
	CLEANUP(xfree_cleanup)
	char *seen = xasprintf("%s%s", image_debug_root(image), path);

	if (!take_info(&search.search, image, seen, &own, &tables->sections) &&
	    !image_search_debug(image, &search.search))
		return -ENOENT;
	*ret = search.files;
	return 0;
}

int image_open_debug_in(const struct image *image, int fd,
			struct debug_files *ret)
{
	struct info_search search = { .search.take = take_info };
	struct source source;
	bool taken;

	if (source_init_file(&source, fd))
		return -ENOENT;
	taken = image_offer_debug(image, "a file from elsewhere", NULL, &source,
				  &search.search);
	source_fini(&source);
	if (!taken)
		return -ENOENT;
	*ret = search.files;
	return 0;
}
