/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/prototype.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/builtin.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "prototype/collection.h"
#include "prototype/from_debuginfo.h"
#include "prototype/parser.h"

#define FILE_SIZE_MAX    (16u << 20)
#define IMPORT_DEPTH_MAX 16

/* Which files speak of a library. */
struct library {
	char *name;
	struct definitions **files;
	size_t count, room;
	UT_hash_handle hh;
};

/* A file for what no other has. */
struct last_file {
	char *path;
	bool used; /* which has been told */
};

struct prototypes {
	struct definitions *files; /* every file that was read, by path */
	struct definitions **globals;
	size_t global_count, global_room;
	char **directories;
	size_t directory_count, directory_room;
	struct last_file *last;
	size_t last_count, last_room;
	struct library *libraries;
	unsigned import_depth;
	struct pool pool; /* of those that debug information has */
};

struct prototypes *prototypes_new(void)
{
	return xcalloc(1, sizeof(struct prototypes));
}

static void library_free(struct library *library)
{
	free(library->files);
	free(library->name);
	free(library);
}

void prototypes_free(struct prototypes *prototypes)
{
	struct library *library, *next_library;
	struct definitions *file, *next_file;

	if (!prototypes)
		return;
	HASH_ITER(hh, prototypes->libraries, library, next_library) {
		HASH_DEL(prototypes->libraries, library);
		library_free(library);
	}
	HASH_ITER(hh, prototypes->files, file, next_file) {
		HASH_DEL(prototypes->files, file);
		definitions_free(file);
	}
	for (size_t i = 0; i < prototypes->directory_count; i++)
		free(prototypes->directories[i]);
	for (size_t i = 0; i < prototypes->last_count; i++)
		free(prototypes->last[i].path);
	free(prototypes->last);
	pool_fini(&prototypes->pool);
	free(prototypes->directories);
	free(prototypes->globals);
	free(prototypes);
}

/* What lies in a search path by chance may be no file that ever ends. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat info;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

static struct definitions *read_text(struct prototypes *prototypes,
				     const char *path, const char *text,
				     size_t size)
{
	struct definitions *file = definitions_new(path);

	HASH_ADD_KEYPTR(hh, prototypes->files, file->path, strlen(path), file);
	parser_read(prototypes, file, text, size);
	return file;
}

/* Reads the file that fd is, once; closes fd. */
static int load(struct prototypes *prototypes, const char *path, int fd,
		struct definitions **ret)
{
	struct strbuf text = { 0 };
	int err = fd < 0 ? fd : strbuf_read(&text, fd, FILE_SIZE_MAX);

	if (fd >= 0)
		close(fd);
	if (!err)
		*ret = read_text(prototypes, path, strbuf_text(&text),
				 text.length);
	strbuf_fini(&text);
	return err;
}

static int load_builtin(struct prototypes *prototypes, const char *path,
			struct definitions **ret)
{
	struct strbuf text = { 0 };
	int err = builtin_read(path, &text);

	if (!err)
		*ret = read_text(prototypes, path, strbuf_text(&text),
				 text.length);
	strbuf_fini(&text);
	return err;
}

/* A file of the search path; -ENOENT when it isn't there. */
static int load_found(struct prototypes *prototypes, const char *path,
		      struct definitions **ret)
{
	int err;

	HASH_FIND_STR(prototypes->files, path, *ret);
	if (*ret)
		return 0;
	if (builtin_owns(path))
		return load_builtin(prototypes, path, ret);
	err = load(prototypes, path, open_regular(path), ret);
	if (err && err != -ENOENT && err != -ENOTDIR)
		diag(DIAG_WARNING, DIAG_PROTOTYPE, "%s: can't be read: %s",
		     path, strerror(-err));
	return err;
}

static int is_prototype_file(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && strcmp(entry->d_name + length - 5, ".conf") == 0;
}

static int add_directory_now(struct prototypes *prototypes, const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, is_prototype_file, alphasort);

	if (count < 0)
		return -errno;
	prototypes_add_directory(prototypes, path);
	for (int i = 0; i < count; i++) {
		char *file = xasprintf("%s/%s", path, entries[i]->d_name);
		struct definitions *ignored;

		/* Its own warning said why, and the others are good. */
		load_found(prototypes, file, &ignored);
		free(file);
		free(entries[i]);
	}
	free(entries);
	return 0;
}

static int add_global(struct prototypes *prototypes, const char *path)
{
	struct definitions *file;
	int err = 0;

	HASH_FIND_STR(prototypes->files, path, file);
	if (!file) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		err = load(prototypes, path, fd < 0 ? -errno : fd, &file);
	}
	if (err)
		return err;
	prototypes->globals =
		xgrow(prototypes->globals, prototypes->global_count,
		      &prototypes->global_room, sizeof(*prototypes->globals));
	prototypes->globals[prototypes->global_count++] = file;
	return 0;
}

int prototypes_add(struct prototypes *prototypes, const char *path)
{
	struct stat info;

	if (stat(path, &info) < 0)
		return -errno;
	if (S_ISDIR(info.st_mode))
		return add_directory_now(prototypes, path);
	return add_global(prototypes, path);
}

void prototypes_add_directory(struct prototypes *prototypes,
			      const char *directory)
{
	prototypes->directories = xgrow(prototypes->directories,
					prototypes->directory_count,
					&prototypes->directory_room,
					sizeof(*prototypes->directories));
	prototypes->directories[prototypes->directory_count++] =
		xstrdup(directory);
}

static int import_from(struct prototypes *prototypes, const char *directory,
		       const char *name, size_t length,
		       struct definitions **ret)
{
	char *path = xasprintf("%s/%.*s.conf", directory, (int)length, name);
	int err = load_found(prototypes, path, ret);

	free(path);
	return !err && (*ret)->reading ? -ENOENT : err;
}

int prototypes_import(struct prototypes *prototypes, struct definitions *into,
		      const char *name, size_t length)
{
	struct definitions *found;
	int err = -ENOENT;

	if (!length || length > NAME_MAX || memchr(name, '/', length) ||
	    memchr(name, '\0', length))
		return -EINVAL;
	if (prototypes->import_depth == IMPORT_DEPTH_MAX)
		return -ELOOP;
	prototypes->import_depth++;
	for (size_t i = 0; err && i < prototypes->directory_count; i++)
		err = import_from(prototypes, prototypes->directories[i], name,
				  length, &found);
	prototypes->import_depth--;
	if (!err)
		definitions_import(into, found);
	return err;
}

static void library_add(struct prototypes *prototypes, struct library *library,
			const char *directory, size_t length)
{
	char *path = xasprintf("%s/%.*s.conf", directory, (int)length,
			       library->name);
	struct definitions *file;

	if (load_found(prototypes, path, &file) == 0) {
		library->files = xgrow(library->files, library->count,
				       &library->room, sizeof(*library->files));
		library->files[library->count++] = file;
	}
	free(path);
}

/* Without the last part of a version: libc.so.6 becomes libc.so. */
static size_t snip_version(const char *name, size_t length)
{
	size_t at = length;

	while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	return at < length && at > 1 && name[at - 1] == '.' ? at - 1 : 0;
}

static void library_load(struct prototypes *prototypes, struct library *library)
{
	size_t whole = strlen(library->name);

	if (whole > NAME_MAX)
		return;
	for (size_t i = 0; i < prototypes->directory_count; i++)
		for (size_t length = whole; length > 0;
		     length = snip_version(library->name, length))
			library_add(prototypes, library,
				    prototypes->directories[i], length);
}

/* Its files are read when it is first asked for. */
static struct library *library_of(struct prototypes *prototypes,
				  const char *name)
{
	/* A SONAME comes out of a file that nobody vouches for. */
	const char *slash = strrchr(name, '/');
	struct library *library;

	name = slash ? slash + 1 : name;
	HASH_FIND_STR(prototypes->libraries, name, library);
	if (library)
		return library;
	library = xcalloc(1, sizeof(*library));
	library->name = xstrdup(name);
	HASH_ADD_KEYPTR(hh, prototypes->libraries, library->name, strlen(name),
			library);
	library_load(prototypes, library);
	return library;
}

static const struct prototype *find_in(struct definitions *const *files,
				       size_t count, const char *function)
{
	for (size_t i = 0; i < count; i++) {
		const struct prototype *found =
			definitions_find_function(files[i], function);

		if (found)
			return found;
	}
	return NULL;
}

static const struct prototype *library_find(const struct library *library,
					    const char *function)
{
	return find_in(library->files, library->count, function);
}

/* For who doesn't know where the function is: libc is everywhere. */
static const struct prototype *find_anywhere(struct prototypes *prototypes,
					     const char *function)
{
	struct library *library, *next;

	HASH_ITER(hh, prototypes->libraries, library, next) {
		const struct prototype *found = library_find(library, function);

		if (found)
			return found;
	}
	return library_find(library_of(prototypes, "libc.so"), function);
}

void prototypes_add_last(struct prototypes *prototypes, const char *path)
{
	prototypes->last = xgrow(prototypes->last, prototypes->last_count,
				 &prototypes->last_room,
				 sizeof(*prototypes->last));
	prototypes->last[prototypes->last_count++] =
		(struct last_file){ .path = xstrdup(path) };
}

const struct prototype *prototypes_find_last(struct prototypes *prototypes,
					     const char *function)
{
	for (size_t i = 0; i < prototypes->last_count; i++) {
		struct last_file *last = &prototypes->last[i];
		const struct prototype *found = NULL;
		struct definitions *file;

		if (!load_found(prototypes, last->path, &file))
			found = definitions_find_function(file, function);
		if (!found)
			continue;
		if (!last->used)
			diag(DIAG_NOTE, DIAG_PROTOTYPE,
			     "%s has prototypes that calltrap's own files "
			     "lack: of %s, …",
			     last->path, function);
		last->used = true;
		return found;
	}
	return NULL;
}

const struct prototype *prototypes_find(struct prototypes *prototypes,
					const char *library,
					const char *function)
{
	const struct prototype *found = find_in(prototypes->globals,
						prototypes->global_count,
						function);

	if (!found && library)
		found = library_find(library_of(prototypes, library), function);
	if (!found && !library)
		found = find_anywhere(prototypes, function);
	return found;
}

const struct prototype *prototypes_find_syscall(struct prototypes *prototypes,
						const char *library,
						const char *name)
{
	char *own CLEANUP(xfree_cleanup) = xasprintf("SYS_%s", name);
	const struct prototype *found =
		find_in(prototypes->globals, prototypes->global_count, own);

	return found ? found :
		       library_find(library_of(prototypes, library), name);
}

/* Counts down; NULL when there are fewer. */
static const struct script *script_in(struct definitions *const *files,
				      size_t count, size_t *index)
{
	for (size_t i = 0; i < count; i++)
		if (files[i]->script && !(*index)--)
			return files[i]->script;
	return NULL;
}

const struct script *prototypes_script(struct prototypes *prototypes,
				       const char *library, size_t index)
{
	const struct library *own = library_of(prototypes, library);
	const struct script *found = script_in(prototypes->globals,
					       prototypes->global_count,
					       &index);

	return found ? found : script_in(own->files, own->count, &index);
}

const struct prototype *
prototypes_from_debuginfo(struct prototypes *prototypes,
			  const struct debug_function *function)
{
	return from_debuginfo(&prototypes->pool, function);
}
