/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/doing.h"
#include "base/xalloc.h"
#include "debuginfo/private.h"

/* When the reader is thought to be stuck. */
#define LIMIT (10 * NS_PER_SECOND)

static void stop_reader(struct debuginfo *debuginfo)
{
	reader_stop(debuginfo->reader);
	debuginfo->reader = NULL;
	debuginfo->pending.record = NULL;
}

/* The image that it was asked about is to blame, and not asked about again. */
static void give_up(struct debuginfo *debuginfo, uint64_t *loss,
		    const char *what)
{
	struct record *record = debuginfo->pending.record;

	diag_debug(DIAG_MODULE, "%s: debug information: %s",
		   image_name(record->image), what);
	record->state = RECORD_BAD;
	++*loss;
	stop_reader(debuginfo);
}

/* ---- answers ---- */

static void keep_places(struct debuginfo *debuginfo, struct cursor *body)
{
	struct question *question = &debuginfo->pending;
	struct record *record = question->record;
	unsigned i;

	for (i = 0; i < question->count; i++) {
		struct known_places *known = xcalloc(1, sizeof(*known));

		known->address = question->addresses[i];
		HASH_ADD(hh, record->places, address, sizeof(known->address),
			 known);
		if (answers_read_places(&debuginfo->answers, body,
					&known->caller, &known->places,
					&known->count)) {
			known->count = 0;
			body->bad = true;
		}
	}
}

static void keep_function(struct debuginfo *debuginfo, int status,
			  struct cursor *body)
{
	struct question *question = &debuginfo->pending;
	struct known_function *known = xcalloc(1, sizeof(*known));

	known->address = question->addresses[0];
	HASH_ADD(hh, question->record->functions, address,
		 sizeof(known->address), known);
	if (!status && answers_read_function(&debuginfo->answers, body,
					     &known->function)) {
		known->function = NULL;
		body->bad = true;
	}
}

static void keep_tails(struct debuginfo *debuginfo, int status,
		       struct cursor *body)
{
	struct question *question = &debuginfo->pending;
	struct known_tails *known = xcalloc(1, sizeof(*known));

	known->address = question->addresses[0];
	HASH_ADD(hh, question->record->tails, address, sizeof(known->address),
		 known);
	if (status ||
	    answers_read_tails(&debuginfo->answers, body, &known->tails))
		body->bad = true;
}

static void keep_way(struct debuginfo *debuginfo, int status,
		     struct cursor *body)
{
	struct told_way *way = &debuginfo->way;

	if (status || answers_read_way(&debuginfo->answers, body, way->steps,
				       &way->count)) {
		way->count = 0;
		body->bad = true;
	}
}

static void keep_file(struct debuginfo *debuginfo, int status)
{
	struct record *record = debuginfo->pending.record;

	if (!status) {
		record->generation = debuginfo->generation;
	} else if (status == -ENOENT) {
		record->state = RECORD_NONE;
	} else {
		record->state = RECORD_BAD;
		debuginfo->losses.malformed++;
	}
}

static void keep_answer(struct debuginfo *debuginfo,
			const struct wire_head *head, struct cursor *body)
{
	struct question *question = &debuginfo->pending;

	body->bad = head->number != question->number;
	switch (body->bad ? WIRE_OPEN : question->order) {
	case WIRE_OPEN:
		if (!body->bad)
			keep_file(debuginfo, head->kind);
		break;
	case WIRE_PLACES:
		if (head->kind)
			body->bad = true;
		else
			keep_places(debuginfo, body);
		break;
	case WIRE_FUNCTION:
		keep_function(debuginfo, head->kind, body);
		break;
	case WIRE_TAILS:
		keep_tails(debuginfo, head->kind, body);
		break;
	case WIRE_WAY:
		keep_way(debuginfo, head->kind, body);
		break;
	}
	if (body->bad)
		give_up(debuginfo, &debuginfo->losses.malformed,
			"the answer makes no sense");
	question->record = NULL;
}

/* Waits for the answer to the question that is pending. */
static int settle(struct debuginfo *debuginfo, uint64_t until)
{
	struct question *question = &debuginfo->pending;
	struct wire_head head;
	struct cursor body;
	int err;

	if (!question->record)
		return 0;
	if (until > question->deadline)
		until = question->deadline;
	err = reader_wait(debuginfo->reader, until, &head, &body);
	if (!err)
		keep_answer(debuginfo, &head, &body);
	else if (err != -EAGAIN)
		give_up(debuginfo, &debuginfo->losses.crashed,
			"its reader has died");
	else if (clock_now() >= question->deadline)
		give_up(debuginfo, &debuginfo->losses.timed_out,
			"takes too long to read");
	return question->record ? -EAGAIN : 0;
}

void debuginfo_take(struct debuginfo *debuginfo)
{
	(void)settle(debuginfo, 0);
}

/* ---- questions ---- */

/* -EPIPE: the reader had died before. */
static int put_question(struct debuginfo *debuginfo, struct record *record,
			enum wire_order order, const int *fds,
			unsigned fd_count)
{
	struct question *question = &debuginfo->pending;
	struct wire_head head = {
		.size = question->count * sizeof(*question->addresses),
		.kind = order,
		.file = record->file,
		.number = ++debuginfo->last_number,
	};
	int err = reader_ask(debuginfo->reader, &head, question->addresses, fds,
			     fd_count);

	if (err) {
		stop_reader(debuginfo);
		return err;
	}
	question->number = head.number;
	question->order = order;
	question->record = record;
	question->deadline = clock_now() + LIMIT;
	return 0;
}

static int open_file(struct debuginfo *debuginfo, struct record *record,
		     uint64_t until)
{
	struct debug_files files;
	int err = debuginfo_find_files(debuginfo, record, &files);

	if (err == -EAGAIN)
		return err;
	if (err) {
		record->state = RECORD_NONE;
		return -ENOENT;
	}
	record->file = debuginfo->next_file++;
	debuginfo->pending.count = 0;
	err = put_question(debuginfo, record, WIRE_OPEN,
			   (int[]){ files.fd, files.common_fd },
			   files.common_fd < 0 ? 1 : 2);
	close(files.fd);
	if (files.common_fd >= 0)
		close(files.common_fd);
	return err ? err : settle(debuginfo, until);
}

/* A reader that has the image's file open. */
static int prepare(struct debuginfo *debuginfo, struct record *record,
		   uint64_t until)
{
	if (!debuginfo->reader) {
		debuginfo->reader = reader_start();
		debuginfo->generation++;
		debuginfo->next_file = 0;
	}
	if (!debuginfo->reader)
		return -ENOENT;
	if (record->generation == debuginfo->generation)
		return 0;
	return open_file(debuginfo, record, until);
}

static int ask_once(struct debuginfo *debuginfo, struct record *record,
		    enum wire_order order, const uint64_t *addresses,
		    unsigned count, uint64_t until)
{
	int err = prepare(debuginfo, record, until);

	if (err)
		return err;
	if (record->generation != debuginfo->generation ||
	    record->state != RECORD_GOOD)
		return -ENOENT;
	memcpy(debuginfo->pending.addresses, addresses,
	       count * sizeof(*addresses));
	debuginfo->pending.count = count;
	err = put_question(debuginfo, record, order, NULL, 0);
	return err ? err : settle(debuginfo, until);
}

int debuginfo_ask(struct debuginfo *debuginfo, struct record *record,
		  enum wire_order order, const uint64_t *addresses,
		  unsigned count, uint64_t until)
{
	/* A stopped task never waits for another's pending query. */
	uint64_t first = order == WIRE_FUNCTION ? 0 : until;
	int err;

	doing_part("reading debug information of %s",
		   image_name(record->image));
	err = settle(debuginfo, first);
	if (!err)
		err = ask_once(debuginfo, record, order, addresses, count,
			       until);
	/* Somebody killed it: once more, with a new one. */
	if (err == -EPIPE)
		err = ask_once(debuginfo, record, order, addresses, count,
			       until);
	if (!err && record->state != RECORD_GOOD)
		err = -ENOENT;
	doing_part_ended();
	return err;
}
