/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_FETCH_CHILD_H
#define CALLTRAP_DEBUGINFO_FETCH_CHILD_H

#include "image/image.h"

/*
 * What calltrap and the child that fetches say to each other, over a
 * SOCK_SEQPACKET socket: a struct wire_head with the number of a file, and a
 * build-id; in return a head with that number, and as its kind 0, with a
 * descriptor, or a negative errno.
 */

/* Of the child's answers, two mean that no other will be better: */
#define FETCH_NO_LIBRARY (-ELIBACC)
#define FETCH_STALLED    (-ETIMEDOUT)

/* Answers until the socket's other end is closed. */
void fetch_serve(int socket);

#endif
