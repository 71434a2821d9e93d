/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_PRIVATE_H
#define CALLTRAP_DEBUGINFO_PRIVATE_H

#include "base/hash.h"
#include "debuginfo/answers.h"
#include "debuginfo/debuginfo.h"
#include "debuginfo/fetch.h"
#include "debuginfo/reader.h"

/* What those files of this room share that are calltrap's, not the child's. */

enum record_state {
	RECORD_GOOD, /* as far as we know */
	RECORD_NONE, /* there is no debug information */
	RECORD_BAD,  /* reading it went wrong */
};

/* What an answer said of an address. */
struct known_places {
	uint64_t address;
	struct debug_caller caller;
	const struct debug_place *places;
	unsigned count;
	UT_hash_handle hh;
};

struct known_function {
	uint64_t address;
	const struct debug_function *function; /* NULL: there is none */
	UT_hash_handle hh;
};

struct known_tails {
	uint64_t address;
	struct debug_tails tails;
	UT_hash_handle hh;
};

/* An image that was asked about. */
struct record {
	struct image *image;
	enum record_state state;
	uint64_t generation; /* of the reader that has it open */
	uint32_t file;       /* … under this number */
	uint64_t fetched_at; /* when it was last looked for what is fetched;
				0: nothing is */
	struct known_places *places;
	struct known_function *functions;
	struct known_tails *tails;
	UT_hash_handle hh; /* by image */
};

/* A question that the reader hasn't answered yet. */
struct question {
	enum wire_order order;
	struct record *record; /* NULL: there is none */
	uint32_t number;
	uint64_t deadline;
	uint64_t addresses[WIRE_ADDRESSES_MAX];
	unsigned count;
};

/* The last way that was asked about. */
struct told_way {
	struct debug_step steps[DEBUG_STEPS_MAX];
	unsigned count;
};

struct debuginfo {
	struct debug_reader *reader; /* NULL until it is needed */
	uint64_t generation;         /* of readers */
	uint32_t next_file;          /* the number that it will have of one */
	uint32_t last_number;        /* of questions */
	struct record *records;
	struct answers answers;
	struct question pending;
	struct told_way way;
	struct debuginfo_losses losses;
	struct fetcher *fetcher; /* NULL: nothing is fetched */
	uint64_t fetch_until;    /* what is fetched may be waited for until
				    then; 0: not at all … */
	const volatile sig_atomic_t *interrupts; /* … and while these are … */
	sig_atomic_t interrupted;                /* … that many */
};

/*
 * files.c: the files to read for an image. -ENOENT when there are none,
 * -EAGAIN when they are being fetched.
 */
int debuginfo_find_files(struct debuginfo *debuginfo, struct record *record,
			 struct debug_files *ret) MUST_CHECK;

/*
 * ask.c: asks the reader, and waits for the answer until a time: what it says
 * is then in the record. -EAGAIN: it is still at it (or at another question);
 * -ENOENT: nothing is to be had of this image.
 */
int debuginfo_ask(struct debuginfo *debuginfo, struct record *record,
		  enum wire_order order, const uint64_t *addresses,
		  unsigned count, uint64_t until) MUST_CHECK;

/*
 * Keeps the answer that has come meanwhile, if any: before one looks what is
 * known, lest it be asked for again.
 */
void debuginfo_take(struct debuginfo *debuginfo);

#endif
