/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"

/* The largest string tables seen are below 100 MiB. */
#define BLOB_MAX (128u << 20)

int source_init_file(struct source *source, int fd)
{
	struct stat status;
	int copy;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -ENOEXEC;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return -errno;
	*source = (struct source){ .fd = copy, .size = status.st_size };
	return 0;
}

void source_init_bytes(struct source *source, uint8_t *bytes, size_t size)
{
	*source = (struct source){ .fd = -1, .bytes = bytes, .size = size };
}

void source_fini(struct source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	free(source->bytes);
}

static size_t read_file(int fd, uint64_t offset, uint8_t *ret, size_t size)
{
	size_t got = 0;

	while (got < size) {
		ssize_t n = pread(fd, ret + got, size - got, offset + got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += n;
	}
	return got;
}

size_t source_read(const struct source *source, uint64_t offset, void *ret,
		   size_t size)
{
	if (offset >= source->size)
		return 0;
	if (size > source->size - offset)
		size = source->size - offset;
	if (source->fd >= 0)
		return read_file(source->fd, offset, ret, size);
	memcpy(ret, source->bytes + offset, size);
	return size;
}

void blob_load(struct blob *ret, const struct source *source, uint64_t offset,
	       uint64_t size)
{
	*ret = (struct blob){ 0 };
	if (offset >= source->size)
		return;
	if (size > source->size - offset)
		size = source->size - offset;
	if (size == 0 || size > BLOB_MAX)
		return;
	ret->bytes = xmalloc(size + 1);
	ret->size = source_read(source, offset, ret->bytes, size);
	ret->bytes[ret->size] = '\0';
}

void blob_fini(struct blob *blob)
{
	free(blob->bytes);
	*blob = (struct blob){ 0 };
}

struct cursor blob_cursor(const struct blob *blob)
{
	return cursor_of(blob->bytes, blob->size);
}

const char *blob_string(const struct blob *blob, uint64_t offset)
{
	return offset < blob->size ? (const char *)blob->bytes + offset : NULL;
}

void table_init(struct table *table, const struct source *source,
		uint64_t offset, uint64_t size, uint32_t entry_size)
{
	if (offset >= source->size)
		size = 0;
	else if (size > source->size - offset)
		size = source->size - offset;
	table->source = source;
	table->offset = offset;
	table->count = size / entry_size;
	table->entry_size = entry_size;
	table->first = 0;
	table->loaded = 0;
}

bool table_get(struct table *table, uint64_t index, struct cursor *ret)
{
	const size_t entry_size = table->entry_size;

	if (index >= table->count)
		return false;
	if (index < table->first || index - table->first >= table->loaded) {
		size_t room = sizeof(table->window) / entry_size;

		if (room > table->count - index)
			room = table->count - index;
		table->first = index;
		table->loaded =
			source_read(table->source,
				    table->offset + index * entry_size,
				    table->window, room * entry_size) /
			entry_size;
		if (!table->loaded)
			return false;
	}
	*ret = cursor_of(table->window + (index - table->first) * entry_size,
			 entry_size);
	return true;
}
