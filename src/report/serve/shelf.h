/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SHELF_H
#define CALLTRAP_SHELF_H

#include "report/serve/feed.h"

/* The documents that have come, the latest of each. */
struct shelf_process {
	pid_t pid; /* 0: what is of all processes */
	char name[PROCFS_COMM_ROOM];
	unsigned long number; /* of the last snapshot that knew it */
	struct {
		int fd;
		uint64_t since; /* monotonic: when its snapshot had come whole;
				   0: there is none */
		unsigned long number;
	} documents[DOCUMENTS];
};

struct shelf {
	struct shelf_process *list;
	size_t count, room;
	unsigned long complete; /* the last snapshot that has come whole */
	uint64_t since;         /* when */
};

void shelf_fini(struct shelf *shelf);

/* Takes what has come; false: calltrap has ended. */
bool shelf_fill(struct shelf *shelf, const struct feed_end *end, uint64_t now);

/* pid 0: the first; NULL: there is none. all: what is of all of them. */
struct shelf_process *shelf_find(struct shelf *shelf, pid_t pid);
struct shelf_process *shelf_all(struct shelf *shelf);

/* The bytes of a document; at most 1 GB. */
int shelf_read(int fd, struct strbuf *out) MUST_CHECK;

#endif
