/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/verb.h"

#include <string.h>

static const struct {
	const char *word;
	enum verb verb;
} verbs[] = {
	{ "trace", VERB_TRACE },   { "heap", VERB_HEAP },
	{ "memory", VERB_MEMORY }, { "record", VERB_RECORD },
	{ "top", VERB_TOP },       { "convert", VERB_CONVERT },
	{ "replay", VERB_REPLAY }, { "doctor", VERB_DOCTOR },
};

const char *verb_word(size_t i)
{
	return i < ARRAY_SIZE(verbs) ? verbs[i].word : NULL;
}

int verb_read(int argc, char **argv, enum verb *ret)
{
	size_t i = 0;

	while (argc && i < ARRAY_SIZE(verbs) &&
	       strcmp(argv[0], verbs[i].word) != 0)
		i++;
	if (!argc || i == ARRAY_SIZE(verbs))
		return 0;
	*ret = verbs[i].verb;
	if (*ret != VERB_HEAP || argc < 2 || strcmp(argv[1], "diff") != 0)
		return 1;
	*ret = VERB_HEAP_DIFF;
	return 2;
}

bool verb_takes_files(enum verb verb)
{
	return verb == VERB_HEAP_DIFF || verb == VERB_CONVERT ||
	       verb == VERB_REPLAY || verb == VERB_MEMORY;
}

bool verb_takes_command(enum verb verb)
{
	return verb == VERB_TRACE || verb == VERB_HEAP || verb == VERB_RECORD;
}

const char *option_help(enum verb verb)
{
	switch (verb) {
	case VERB_TRACE:
		break;
	case VERB_HEAP:
		return "calltrap heap --help";
	case VERB_HEAP_DIFF:
		return "calltrap heap diff --help";
	case VERB_MEMORY:
		return "calltrap memory --help";
	case VERB_RECORD:
		return "calltrap record --help";
	case VERB_TOP:
		return "calltrap top --help";
	case VERB_CONVERT:
		return "calltrap convert --help";
	case VERB_REPLAY:
		return "calltrap replay --help";
	case VERB_DOCTOR:
		return "calltrap doctor --help";
	}
	return "calltrap --help";
}
