/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/outputs.h"

#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "cli/complain.h"
#include "report/file/path_pattern.h"
#include "report/file/whole_file.h"

/* Besides the files for other programs: -o, --json of a log, and what is
   written as it goes. */
#define OUTPUTS (HEAP_FILES + 7)

struct output_option {
	const char *option, *path;
};

static void list(const struct options *o, struct output_option ret[OUTPUTS])
{
	const bool heap = o->verb != VERB_TRACE;
	size_t count = 0;

	ret[count++] = (struct output_option){ "-o", heap ? o->report.path :
							    o->log.path };
	ret[count++] = (struct output_option){ "--json", o->json };
	for (enum heap_file file = 0; file < HEAP_FILES; file++)
		ret[count++] = (struct output_option){ heap_file_option(file),
						       o->export.files[file] };
	ret[count++] = (struct output_option){ "--calls", o->heap_calls };
	ret[count++] = (struct output_option){ "--footprint", o->footprint };
	ret[count++] = (struct output_option){ "--per-json", o->per_json };
	ret[count++] = (struct output_option){ "--save", o->snapshot };
	ret[count++] = (struct output_option){
		o->verb == VERB_RECORD ? "-o" : "--record", o->recording
	};
}

/* The later one would take the place of the other. Devices hold nothing. */
static bool are_one_file(const char *a, const char *b)
{
	return a && b && !strcmp(a, b) && strncmp(a, "/dev/", 5) != 0;
}

int outputs_check_names(const struct options *options)
{
	struct output_option all[OUTPUTS];

	list(options, all);
	for (size_t i = 0; i < OUTPUTS; i++)
		for (size_t j = 0; j < i; j++)
			if (are_one_file(all[i].path, all[j].path))
				return complain(-EINVAL,
						"%s '%s': is what %s "
						"is written to; give another "
						"name",
						all[i].option, all[i].path,
						all[j].option);
	return 0;
}

/* Which directories there will be is known only by then. */
static bool is_directory_unknown(const char *path)
{
	const char *end = strrchr(path, '/');
	char *directory CLEANUP(xfree_cleanup) = NULL;

	if (!end)
		return false;
	directory = xstrndup(path, end - path);
	return strstr(directory, "%p") || strstr(directory, "%k");
}

/*
 * One file that grows is opened at once, and written to as it goes. It needs
 * none beside it: it may lie where no other may be made.
 */
static int try_one(const char *path, bool grows)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	bool many = path_pattern_expand(path, 0, &name);

	if ((grows && !many) || is_directory_unknown(path))
		return 0;
	return whole_file_try(strbuf_text(&name));
}

int outputs_try(const struct options *options)
{
	struct output_option all[OUTPUTS];
	int result = 0;

	list(options, all);
	for (size_t i = 0; i < OUTPUTS; i++) {
		const char *path = all[i].path;
		const bool grows = path == options->log.path ||
				   path == options->report.path ||
				   path == options->json ||
				   path == options->recording ||
				   path == options->heap_calls ||
				   path == options->per_json;
		int err;

		if (!path)
			continue;
		err = try_one(path, grows);
		if (err)
			result = complain(err, "%s can't be written: %s", path,
					  strerror(-err));
	}
	return result;
}
