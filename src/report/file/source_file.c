/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/file/source_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/printable.h"

#define SIZE_MAX_READ (16u << 20)
#define COLUMNS_MAX   160

static int check(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	return st->st_size > SIZE_MAX_READ ? -EFBIG : 0;
}

static int open_regular(const char *path, const struct rights *rights,
			struct stat *ret)
{
	int fd = rights_open(rights, path, 0), err;

	if (fd < 0)
		return fd;
	err = fstat(fd, ret) ? -errno : check(ret);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int source_file_read(const char *path, const struct rights *rights,
		     struct source_file *ret)
{
	struct source_file file = { .line = 1 };
	struct stat st;
	int fd = open_regular(path, rights, &st), err;

	if (fd < 0)
		return fd;
	err = strbuf_read(&file.text, fd, SIZE_MAX_READ);
	close(fd);
	if (err) {
		source_file_fini(&file);
		return err;
	}
	file.changed = st.st_mtim;
	*ret = file;
	return 0;
}

void source_file_fini(struct source_file *file)
{
	strbuf_fini(&file->text);
}

const char *source_file_problem(int err)
{
	if (err == -EINVAL)
		return "no regular file";
	if (err == -EFBIG)
		return "larger than 16 MiB";
	return strerror(-err);
}

/* Moves on to a line; false when there is none. */
static bool find_line(struct source_file *file, unsigned line)
{
	const char *text = strbuf_text(&file->text);

	if (line < file->line) {
		file->line = 1;
		file->position = 0;
	}
	while (file->line < line) {
		const char *end = memchr(text + file->position, '\n',
					 file->text.length - file->position);

		if (!end)
			return false;
		file->position = end + 1 - text;
		file->line++;
	}
	return file->position < file->text.length;
}

bool source_file_add_line(struct source_file *file, unsigned line,
			  struct strbuf *out)
{
	size_t begin = out->length;
	const char *s, *end;

	if (!find_line(file, line))
		return false;
	s = strbuf_text(&file->text) + file->position;
	end = strbuf_text(&file->text) + file->text.length;
	for (; s < end && *s != '\n'; s++) {
		size_t n = printable_length(s);

		if (out->length - begin > COLUMNS_MAX) {
			strbuf_puts(out, "...");
			break;
		}
		if (*s == '\t') {
			strbuf_pad(out,
				   begin + (out->length - begin) / 8 * 8 + 8);
		} else if (n) {
			strbuf_add(out, s, n);
			s += n - 1;
		} else if (*s != '\r') {
			strbuf_printf(out, "\\%03o", (uint8_t)*s);
		}
	}
	return true;
}
