/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections of all ages; each frees what it has. */
/* truth: none */
#include "corpus.h"

#define OPEN 30

struct session {
	char *buffer;
	int ends;
} sessions[OPEN];

PLAIN void session_begin(struct session *session, int now)
{
	int length = 1;

	while (pick(12) && length < 200)
		length++;
	session->buffer = malloc(2048);
	session->ends = now + length;
}

static void step(int i)
{
	for (int k = 0; k < OPEN; k++) {
		if (sessions[k].buffer && sessions[k].ends <= i) {
			free(sessions[k].buffer);
			sessions[k].buffer = NULL;
		} else if (!sessions[k].buffer && pick(8) == 0) {
			session_begin(&sessions[k], i);
		}
	}
}
