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
	int fd;
	int common_fd;
};

static int copy_fd(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static int try_common(const char *path, const uint8_t *id, size_t size)
{
	struct elf_header header;
	struct sections sections;
	struct source source;
	int fd = -1;

	if (image_open_source(path, &source))
		return -1;
	if (!elf_read_header(&source, &header)) {
		sections_init(&sections, &source, &header);
		if (image_file_has_id(&source, &sections, id, size))
			fd = copy_fd(source.fd);
		sections_fini(&sections);
	}
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
	else
		candidate = xasprintf("%.*s/%s",
				      slash ? (int)(slash - path) : 1,
				      slash ? path : ".", name);
	fd = try_common(candidate, id, size);
	free(candidate);
	return fd;
}

static int common_by_id(const struct image *image, const uint8_t *id,
			size_t size)
{
	struct strbuf path = { 0 };
	int fd;

	image_id_path(&path, image_debug_root(image), id, size);
	fd = try_common(strbuf_text(&path), id, size);
	strbuf_fini(&path);
	return fd;
}

/* .gnu_debugaltlink: a name, and behind its NUL the file's build-id. */
static int open_common(const struct image *image, const char *path,
		       const struct source *source,
		       const struct sections *sections)
{
	const struct section *link =
		sections_find(sections, ".gnu_debugaltlink");
	struct blob blob;
	const char *name;
	int fd = -1;

	if (!link || link->size > LINK_MAX_SIZE)
		return -1;
	blob_load(&blob, source, link->offset, link->size);
	name = blob_string(&blob, 0);
	if (name && strlen(name) + 2 < blob.size) {
		const uint8_t *id = blob.bytes + strlen(name) + 1;
		size_t size = blob.size - strlen(name) - 1;

		fd = common_by_name(image, path, name, id, size);
		if (fd < 0)
			fd = common_by_id(image, id, size);
		if (fd < 0)
			diag_debug(DIAG_MODULE, "%s: there is no %s", path,
				   name);
	}
	blob_fini(&blob);
	return fd;
}

static bool take_info(struct debug_search *search, const struct image *image,
		      const char *path, struct source *source,
		      const struct sections *sections)
{
	struct info_search *info = (struct info_search *)search;

	if (source->fd < 0 || !sections_find(sections, ".debug_info"))
		return false;
	info->fd = copy_fd(source->fd);
	if (info->fd < 0)
		return false;
	info->common_fd = open_common(image, path, source, sections);
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

int image_open_debug(const struct image *image, int *ret, int *common_ret)
{
	struct info_search search = { .search.take = take_found };
	const struct tables *tables = image_basis(image);
	struct source own = image->source;
	const char *path = tables->debug.path ? tables->debug.path :
						image->name;
	CLEANUP(xfree_cleanup) char *seen =
		xasprintf("%s%s", image_debug_root(image), path);

	if (!take_info(&search.search, image, seen, &own,
		       &tables->sections) &&
	    !image_search_debug(image, &search.search))
		return -ENOENT;
	*ret = search.fd;
	*common_ret = search.common_fd;
	return 0;
}
