/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FEED_H
#define CALLTRAP_FEED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/strbuf.h"
#include "sysdeps/linux/procfs.h"

/*
 * From the process that traces, which never waits for anybody, to one that
 * speaks with others (a server, a client). That one asks in shared memory; a
 * snapshot of what is known by then (a forked process, which may take its time)
 * sends it the documents: files without names, over a socket.
 */

enum document {
	DOCUMENT_COMMAND, /* of a process: its arguments, each with its NUL;
			     always sent: so who is watched is known */
	DOCUMENT_PPROF,   /* … what it holds, for pprof */
	DOCUMENT_PAGE,    /* … for a browser */
	DOCUMENT_METRICS, /* of all processes, for OpenMetrics; .pid is 0 */
	DOCUMENTS,
};
#define DOCUMENT_BIT(document) (1U << (document))

/* Precedes each document; a last one, without any, says that it was all. */
struct feed_head {
	uint64_t number; /* what had been asked for when it was made */
	int32_t pid;
	uint32_t document; /* enum document; DOCUMENTS: that was all */
	char name[PROCFS_COMM_ROOM];
};

/* Shared. The other process may write anything there. */
struct feed_board {
	_Atomic unsigned wanted;       /* DOCUMENT_BIT()s */
	_Atomic unsigned long asked;   /* how often, after .wanted was set */
	_Atomic unsigned long refused; /* nothing will come of what was asked
					  for up to this */
};

struct feed;

/* In the process that speaks with others. */
struct feed_end {
	struct feed_board *board;
	int socket; /* an end of file: calltrap has ended */
};

/*
 * Starts such a process: it says by feed_ready() whether it can do its work,
 * which is waited for. It keeps this process's standard error, and the
 * descriptor fd (-1: none), which live() gets; and has no rights that it doesn't
 * need.
 */
struct feed_life {
	const char *name; /* for ps(1) */
	void (*live)(const struct feed_end *end, int fd, void *context);
	void *context;
};
int feed_start(const struct feed_life *life, int fd,
	       struct feed **ret) MUST_CHECK;
void feed_ready(const struct feed_end *end, int err);
/* Ends it. NULL is fine. */
void feed_free(struct feed *feed);

/* ---- for who traces ---- */

struct feed_board *feed_board(const struct feed *feed);
/* The end that snapshots send to. */
int feed_socket(const struct feed *feed);

/* ---- for snapshots ---- */

/* False: nobody reads any more. text NULL: DOCUMENTS. */
bool feed_send(int socket, const struct feed_head *head,
	       const struct strbuf *text);

/* ---- for who asks ---- */

/* Returns the number that the answer will have at least. */
unsigned long feed_ask(const struct feed_end *end, unsigned documents);

/* The next message; *fd_ret: the document, or -1. 0: the end, -EAGAIN: not yet
   (never waits). */
int feed_receive(const struct feed_end *end, struct feed_head *ret,
		 int *fd_ret) MUST_CHECK;

#endif
