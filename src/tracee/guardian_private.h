/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GUARDIAN_PRIVATE_H
#define CALLTRAP_GUARDIAN_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/types.h"
#include "tracee/guardian.h"

/* What guardian.c, in calltrap, and guard.c, in the guardian, both know. */

/* Memory that isn't used costs nothing. */
#define NOTES_MAX   (1u << 20)
#define SPACES_MAX  4096
#define TASKS_MAX   65536
#define RESUMED_MAX 8

struct note {
	uint64_t address;
	uint32_t next_free; /* the number of a free note + 1, or 0 */
	uint32_t original;  /* what arch_native's trap has replaced */
	uint16_t space;
	uint8_t length; /* of the instruction */
	volatile uint8_t planted;
	uint8_t is_gate;             /* no trap: a word that is to be 0 */
	volatile uint8_t is_written; /* what is behind the trap, just now */
	volatile uint8_t tail_size;  /* of that; see … */
	uint8_t tail[GUARDIAN_TAIL]; /* … guardian_note_tail() */
};

/* A task; it stands at a trap that it hasn't been brought past. */
struct standing {
	int32_t pid;
	int32_t tid; /* 0 = a free place */
	volatile uint8_t stands;
	volatile uint8_t job_stopped; /* by somebody else's signal */
	uint8_t chosen;               /* the guardian has stopped it, and … */
	uint8_t seized;               /* … has yet to put it back */
};

/* What both processes see. */
struct guardian_memory {
	pthread_mutex_t alive; /* held by calltrap as long as it lives */
	volatile bool dismissed;
	int32_t calltrap;        /* its number, and … */
	int32_t tracer;          /* … that of its thread that traces */
	volatile uint32_t count; /* notes ever used */
	struct note notes[NOTES_MAX];
	volatile uint32_t task_count;           /* places ever used */
	volatile uint32_t resumed[RESUMED_MAX]; /* places + 1 */
	uint32_t next_resumed;
	struct standing tasks[TASKS_MAX];
};

/* What is sent with a descriptor, or without one. */
enum order {
	ORDER_ADD_SPACE,
	ORDER_DROP_SPACE,
};

struct message {
	enum order order;
	int space;
};

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* The life of the guardian; orders come through the socket. */
void guard_run(struct guardian_memory *shared, int socket) NO_RETURN;

#endif
