/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/file_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "report/file/path_pattern.h"

static bool names_process(const char *path)
{
	CLEANUP(strbuf_fini) struct strbuf expanded = { 0 };

	return path_pattern_expand(path, 0, &expanded);
}

/* Behind the name, before what a browser knows the file's kind by. */
static char *with_process(const char *path)
{
	const char *base = file_base_name(path), *dot = strrchr(base, '.');
	size_t length = dot && dot != base ? (size_t)(dot - path) :
					     strlen(path);

	return xasprintf("%.*s.%%p%s", (int)length, path, path + length);
}

void file_names_add_process(struct options *options)
{
	for (enum heap_file file = 0; file < HEAP_FILES; file++) {
		const char **path = &options->export.files[file];

		if (!*path || names_process(*path) ||
		    !strncmp(*path, "/dev/", 5))
			continue;
		options->files[file] = with_process(*path);
		*path = options->files[file];
		diag(DIAG_WARNING, DIAG_SESSION,
		     "there may be several processes: %s writes %s",
		     heap_file_option(file), *path);
	}
}

/* Of recordings, that is known when they have been read. */
void file_names_tell_apart(struct options *options)
{
	if ((options->verb == VERB_HEAP || options->verb == VERB_MEMORY) &&
	    (options->follow || options->pid_count + !!options->command > 1))
		file_names_add_process(options);
}

void file_names_fini(struct options *options)
{
	for (enum heap_file file = 0; file < HEAP_FILES; file++)
		free(options->files[file]);
}
