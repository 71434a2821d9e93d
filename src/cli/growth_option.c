/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/growth_option.h"

#include <errno.h>
#include <string.h>

#include "cli/complain.h"

/* In the order of the option's words; 0: leaks. */
static const unsigned bits[] = { GROWTH_BIT(GROWTH_HEAP),
				 GROWTH_BIT(GROWTH_MMAP),
				 GROWTH_BIT(GROWTH_FAULTS), 0 };

static int add_word(struct options *options, const struct option_entry *entry,
		    const char *word, size_t length)
{
	const int i = option_word(entry, word, length);

	if (i >= 0) {
		options->report.growth |= bits[i];
		options->report.blocks_too |= !bits[i];
		return 0;
	}
	return complain(-EINVAL,
			"--growth '%.*s': some of heap, mmap, faults "
			"and leaks are expected, with commas between them",
			(int)length, word);
}

int apply_growth(struct command_line *line, const struct option_entry *entry,
		 const char *argument)
{
	struct options *options = line->options;

	for (const char *word = argument;; word++) {
		size_t length = strcspn(word, ",");
		int err = add_word(options, entry, word, length);

		if (err)
			return err;
		word += length;
		if (!*word)
			break;
	}
	if (!options->report.growth)
		return complain(-EINVAL,
				"--growth '%s': what else? leaks are "
				"told without it",
				argument);
	return 0;
}

static bool is_one(unsigned kinds)
{
	return !(kinds & (kinds - 1));
}

/* "%%" stands for itself. */
static bool names_kind(const char *path)
{
	for (; (path = strchr(path, '%')); path += path[1] ? 2 : 1)
		if (path[1] == 'k')
			return true;
	return false;
}

/* A picture has one unit. */
static int check_picture(const struct options *o, enum heap_file file)
{
	const char *path = o->export.files[file];

	if (!path || is_one(o->report.growth) || names_kind(path))
		return 0;
	return complain(-EINVAL,
			"%s %s: each kind of growth has a file of "
			"its own; name one kind, or put %%k into the name",
			heap_file_option(file), path);
}

/* Files that know of blocks alone. */
static int check_blocks(const struct heap_export_options *export)
{
	static const enum heap_file files[] = {
		HEAP_FILE_CALLGRIND, HEAP_FILE_SPEEDSCOPE, HEAP_FILE_DHAT,
		HEAP_FILE_MASSIF,    HEAP_FILE_FIREFOX,    HEAP_FILE_HTML,
		HEAP_FILE_OBJECTS,
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (export->files[files[i]])
			return complain(-EINVAL,
					"%s: has nothing of "
					"--growth, unless leaks are watched "
					"as well",
					heap_file_option(files[i]));
	return 0;
}

int check_growth(const struct options *o)
{
	const struct heap_export_options *export = &o->export;
	int err;

	if (!o->report.growth)
		return o->system_calls ?
			       complain(-EINVAL, "-S: is for --growth only") :
			       0;
	if (o->report.blocks_too)
		return 0;
	err = check_blocks(export);
	if (err)
		return err;
	if (export->value > HEAP_ALLOC_BLOCKS)
		return complain(-EINVAL,
				"--value: what was held at the peak, or was "
				"temporary, isn't known of --growth");
	if (o->heap_calls || o->footprint)
		return complain(-EINVAL,
				"--%s: has nothing of --growth, unless "
				"leaks are watched as well",
				o->footprint ? "footprint" : "calls");
	if (o->report.by == HEAP_BY_THREAD || o->report.by == HEAP_BY_SIZE ||
	    o->report.by == HEAP_BY_COMPONENT || o->report.by == HEAP_BY_SCRIPT)
		return complain(-EINVAL, "--by: growth is told by stack, "
					 "function, line or library");
	err = check_picture(o, HEAP_FILE_SVG);
	if (!err)
		err = check_picture(o, HEAP_FILE_FOLDED);
	return err ? err : check_picture(o, HEAP_FILE_PPROF);
}
