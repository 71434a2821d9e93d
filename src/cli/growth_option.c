/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/growth_option.h"

#include <errno.h>
#include <string.h>

#include "cli/complain.h"

static const struct {
	const char *name;
	unsigned bit; /* 0: leaks */
} words[] = {
	{ "heap", GROWTH_BIT(GROWTH_HEAP) },
	{ "mmap", GROWTH_BIT(GROWTH_MMAP) },
	{ "faults", GROWTH_BIT(GROWTH_FAULTS) },
	{ "leaks", 0 },
};

static int apply_word(struct options *options, const char *word,
		      size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strlen(words[i].name) != length ||
		    memcmp(words[i].name, word, length) != 0)
			continue;
		options->report.growth |= words[i].bit;
		options->report.blocks_too |= !words[i].bit;
		return 0;
	}
	return complain(-EINVAL, "--growth '%.*s': some of heap, mmap, faults "
			"and leaks are expected, with commas between them",
			(int)length, word);
}

int apply_growth(struct command_line *line,
		 const struct option_entry *entry UNUSED, const char *argument)
{
	struct options *options = line->options;

	for (const char *word = argument;; word++) {
		size_t length = strcspn(word, ",");
		int err = apply_word(options, word, length);

		if (err)
			return err;
		word += length;
		if (!*word)
			break;
	}
	if (!options->report.growth)
		return complain(-EINVAL, "--growth '%s': what else? leaks are "
				"told without it", argument);
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
static int check_picture(const struct options *o, const char *option,
			 const char *path)
{
	if (!path || is_one(o->report.growth) || names_kind(path))
		return 0;
	return complain(-EINVAL, "--%s %s: each kind of growth has a file of "
			"its own; name one kind, or put %%k into the name",
			option, path);
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
	if (export->callgrind)
		return complain(-EINVAL, "--callgrind: has nothing of "
				"--growth, unless leaks are watched as well");
	if (o->heap_calls || o->footprint)
		return complain(-EINVAL, "--%s: has nothing of --growth, unless "
				"leaks are watched as well",
				o->footprint ? "footprint" : "calls");
	if (o->report.by == HEAP_BY_THREAD || o->report.by == HEAP_BY_SIZE ||
	    o->report.by == HEAP_BY_COMPONENT)
		return complain(-EINVAL, "--by: growth is told by stack, "
				"function, line or library");
	err = check_picture(o, "svg", export->svg);
	if (!err)
		err = check_picture(o, "folded", export->folded);
	return err ? err : check_picture(o, "pprof", export->pprof);
}
