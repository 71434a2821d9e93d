/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the heap would have said of a recorded program (recorder.c): one line a
 * site with blocks outstanding, "LEVEL BLOCKS BYTES STACK: WHY".
 *
 *	replay FAMILIES TRACE [FROM [TO [IDLE]]]
 *
 * FROM, TO: which part of the time is watched (0 to 1). The process had run
 * before if FROM is not 0. IDLE: it does nothing for so long (1: as long as the
 * recording) before it is judged.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "heap/verdict.h"

struct stack_text {
	char *text;
	stack_id number;
	UT_hash_handle hh;
};

static stack_id stack_of(struct stack_text **all, const char *text)
{
	struct stack_text *found;

	HASH_FIND_STR(*all, text, found);
	if (!found) {
		found = xcalloc(1, sizeof(*found));
		found->text = xstrdup(text);
		found->number = HASH_COUNT(*all) + 1;
		HASH_ADD_KEYPTR(hh, *all, found->text, strlen(found->text),
				found);
	}
	return found->number;
}

static void apply(struct heap *heap, const struct families *families,
		  struct stack_text **stacks, const char *line)
{
	struct heap_act act = { .library = "program" };
	char name[64], *stack = xmalloc(strlen(line) + 1);
	uint64_t result, old;

	*stack = '\0';
	if (sscanf(line,
		   "%63s %" SCNu64 " %" SCNu64 " %d %" SCNx64 " %" SCNx64
		   " %" SCNu64 " %s",
		   name, &act.begin, &act.end, &act.tid, &result, &old,
		   &act.size, stack) >= 7) {
		act.function = families_find(families, name);
		act.handle = result;
		act.old = old;
		act.stack = stack_of(stacks, stack);
		if (act.function)
			heap_act(heap, &act);
	}
	free(stack);
}

static const char *text_of(struct stack_text *stacks, stack_id number)
{
	for (struct stack_text *s = stacks; s; s = s->hh.next)
		if (s->number == number)
			return s->text;
	return "?";
}

static void print(struct heap *heap, struct stack_text *stacks, uint64_t now)
{
	struct survey *survey = survey_new(heap, now, 0);

	for (size_t i = 1; i <= heap_site_count(heap); i++) {
		const struct site *site = heap_site(heap, i);
		struct strbuf why = { 0 };
		struct verdict verdict = verdict_of(heap, site, survey);

		if (!site->blocks)
			continue;
		verdict_explain(&verdict, site, &why);
		printf("%s %" PRIu64 " %" PRIu64 " %s<%s: %s\n",
		       verdict_name(verdict.level), site->blocks, site->bytes,
		       site->function->name, text_of(stacks, site->stack),
		       strbuf_text(&why));
		strbuf_fini(&why);
	}
	survey_free(survey);
}

/* When the recording began and ended; false if it wasn't finished. */
static bool times_of(FILE *file, uint64_t *start, uint64_t *end)
{
	char *line = NULL;
	size_t room = 0;
	int found = 0;

	while (getline(&line, &room, file) > 0) {
		found += sscanf(line, "start %" SCNu64, start) == 1;
		found += sscanf(line, "end %" SCNu64, end) == 1;
	}
	free(line);
	rewind(file);
	return found == 2;
}

static uint64_t time_at(uint64_t start, uint64_t end, const char *part)
{
	return start + (end - start) * atof(part);
}

static uint64_t feed(struct heap *heap, const struct families *families,
		     FILE *file, struct stack_text **stacks, uint64_t from,
		     uint64_t to)
{
	char *line = NULL;
	size_t room = 0;
	uint64_t time;

	while (getline(&line, &room, file) > 0) {
		if (sscanf(line, "%*s %" SCNu64, &time) != 1 || time < from)
			continue;
		if (time > to)
			break;
		apply(heap, families, stacks, line);
	}
	free(line);
	return to;
}

int main(int argc, char **argv)
{
	struct families *families = families_new();
	FILE *file = argc > 2 ? fopen(argv[2], "r") : NULL;
	struct heap_options options = { .families = families };
	struct stack_text *stacks = NULL;
	uint64_t start, end, now;
	struct heap *heap;

	if (!file || families_read(families, argv[1]) ||
	    !times_of(file, &start, &end)) {
		fprintf(stderr,
			"usage: replay FAMILIES TRACE [FROM [TO [IDLE]]]\n");
		return 2;
	}
	options.start = argc > 3 ? time_at(start, end, argv[3]) : start;
	options.complete = options.start == start;
	heap = heap_new(&options);
	now = feed(heap, families, file, &stacks, options.start,
		   argc > 4 ? time_at(start, end, argv[4]) : end);
	if (argc > 5)
		now = time_at(now, now + (end - start), argv[5]);
	print(heap, stacks, now);
	return 0;
}
