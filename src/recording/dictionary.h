/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DICTIONARY_H
#define CALLTRAP_DICTIONARY_H

#include "heap/watch.h"
#include "naming/namer.h"

/*
 * What events of a recording speak of, each told once, under a number. New
 * entries gather in .text until they are taken from there.
 */
struct dictionary {
	const struct stacks *stacks;
	struct strbuf text;
	uint32_t count;                /* entries in it */
	struct numbered *numbered[11]; /* by enum entry_kind */
	uint32_t last[11];
	struct frame *frames; /* by number, less 1: to be named at the end */
	size_t frame_room;
};

void dictionary_fini(struct dictionary *dictionary);

/* All of them, in their order: before anything else; and again those of which
   other acquisitions are missing now. missing: as of heap_options; or NULL. */
void dictionary_families(struct dictionary *dictionary,
			 const struct families *families, const bool *missing);

uint32_t dictionary_process(struct dictionary *dictionary,
			    const struct watched *process);
uint32_t dictionary_thread(struct dictionary *dictionary,
			   const struct watched *process, pid_t tid);
uint32_t dictionary_site(struct dictionary *dictionary,
			 const struct family_function *function,
			 stack_id stack);

/* The names that the process's threads have by now, where they are others. */
void dictionary_rename(struct dictionary *dictionary,
		       const struct watched *process);

/*
 * The names of all frames that were told. Many at once are better than few, as
 * debug information is read; taken: told when much text has gathered.
 */
void dictionary_names(struct dictionary *dictionary, struct namer *namer,
		      void (*taken)(void *context), void *context);

#endif
