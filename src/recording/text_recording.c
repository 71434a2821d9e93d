/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/text_recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "heap/apply.h"

struct text_play {
	struct watched process;
	const struct family_function *functions[TEXT_FREE + 1];
	struct act_observer *observer;
	uint64_t now, calls;
};

/* Handles as addresses are: numbers of blocks are small, and not 0. */
#define STEP 1000

static bool find_functions(struct text_play *play,
			   const struct families *families)
{
	static const char *const names[] = {
		[TEXT_MALLOC] = "malloc",
		[TEXT_CALLOC] = "calloc",
		[TEXT_REALLOC] = "realloc",
		[TEXT_FREE] = "free",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		play->functions[i] = families_find(families, names[i]);
		if (!play->functions[i])
			return false;
	}
	return true;
}

static void play_call(struct text_play *play, const struct text_call *call)
{
	const struct act_target target = { &play->process, play->observer };
	const struct family_function *function =
		play->functions[call->function];
	struct applied_act applied = {
		.act = { .function = function,
			 .begin = play->now,
			 .tid = call->pid ? call->pid : play->process.pid,
			 .handle = call->handle,
			 .old = call->old,
			 .size = call->size,
			 .count = call->count,
			 .item = call->item },
	};

	play->process.calls++;
	if (call->function == TEXT_FREE) {
		apply_at_once(&target, &applied.act);
		return;
	}
	applied.act.call = ++play->calls;
	if (call->function == TEXT_REALLOC) {
		applied.act.handle = 0;
		apply_begin(&target, &applied);
		applied.act.handle = call->handle;
	}
	applied.act.end = play->now + 1;
	applied.act.failed = !call->handle;
	apply_end(&target, &applied, play->now);
}

static int play_lines(struct text_play *play, FILE *in, struct text_log *log)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int err;

	while ((length = getline(&line, &room, in)) >= 0) {
		struct text_call call;

		if (memchr(line, 0, length)) {
			free(line);
			return -EBADMSG;
		}
		line[strcspn(line, "\r\n")] = 0;
		if (!text_log_line(log, line, &call))
			continue;
		play->now += STEP;
		play_call(play, &call);
	}
	err = ferror(in) ? -errno : 0;
	free(line);
	return err;
}

int text_recording_play(int fd, const struct families *families,
			const struct stacks *stacks,
			struct act_observer *observer,
			void (*ended)(void *context,
				      const struct watched *process),
			void *context, struct text_log *log)
{
	struct text_play play = { .observer = observer, .now = clock_now() };
	CLEANUP(file_close_cleanup) FILE *in = fdopen(fd, "r");
	struct watched *process = &play.process;
	int err;

	if (!in || !find_functions(&play, families))
		return -EINVAL;
	process->pid = 1;
	process->program = "";
	process->start = play.now;
	process->heap = heap_new(&(struct heap_options){
		.families = families, .start = play.now, .stacks = stacks });
	err = play_lines(&play, in, log);
	process->end = play.now;
	process->state = WATCHED_LEFT;
	ended(context, process);
	heap_free(process->heap);
	return err;
}
