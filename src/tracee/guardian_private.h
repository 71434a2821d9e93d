/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GUARDIAN_PRIVATE_H
#define CALLTRAP_GUARDIAN_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/types.h"
#include "tracee/guardian.h"
#include "tracee/patch.h"

/* What guardian.c, in calltrap, and guard.c, in the guardian, both know. */

/* Memory that isn't used costs nothing. */
#define NOTES_MAX   (1u << 20)
#define SPACES_MAX  4096
#define TASKS_MAX   65536
#define RESUMED_MAX 8
#define JUMPS_MAX   16384

/* Whose business what a note tells of is. While calltrap lives, nobody takes it
   from the other. */
enum claim {
	CLAIM_NONE,
	CLAIM_CALLTRAP, /* it writes behind the trap */
	CLAIM_GUARDIAN, /* it lifts the trap */
};

enum note_kind {
	NOTE_TRAP,
	NOTE_GATE,    /* a word that is to be 0 */
	NOTE_AWAITED, /* … when no trap is left, and nobody stands at one */
};

struct note {
	uint64_t address;
	uint32_t next_free; /* the number of a free note + 1, or 0 */
	uint32_t original;  /* what arch_native's trap has replaced */
	uint16_t space;
	uint8_t length; /* of the instruction */
	volatile uint8_t planted;
	uint8_t kind; /* enum note_kind */
	uint8_t claim;
	uint8_t has_tail;             /* the bytes behind the trap: see … */
	uint8_t tail[PATCH_SIZE - 1]; /* … guardian_note_patch() */
};

/*
 * A jump that may stand somewhere: wherever it does, as where it leads says
 * where copies are.
 */
struct jump {
	uint64_t address; /* written last */
	uint8_t code[PATCH_SIZE];
	uint64_t places[PATCH_SIZE]; /* struct patch has them */
};

/* A task; it stands at a trap that it hasn't been brought past. */
struct standing {
	int32_t pid;
	int32_t tid; /* 0 = a free place */
	volatile uint8_t stands;
	volatile uint8_t job_stopped; /* by somebody else's signal */
	uint8_t chosen;               /* the guardian has stopped it, or … */
	uint8_t disturbed; /* it waited, and was stopped with a chosen one, … */
	uint8_t seized;    /* … has yet to put it back */
};

/* What both processes see. */
struct guardian_memory {
	pthread_mutex_t alive; /* held by calltrap as long as it lives */
	volatile bool dismissed;
	int32_t calltrap;        /* its number, and … */
	int32_t tracer;          /* … that of its thread that traces */
	volatile uint32_t count; /* notes ever used */
	struct note notes[NOTES_MAX];
	struct jump jumps[JUMPS_MAX]; /* the last ones */
	volatile uint32_t next_jump;
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
	int pid; /* whose it is */
};

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static inline bool guardian_claim(struct note *note, uint8_t claim)
{
	uint8_t found = CLAIM_NONE;

	return __atomic_compare_exchange_n(&note->claim, &found, claim, false,
					   __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST) ||
	       found == claim;
}

/* The life of the guardian; orders come through the socket. */
void guard_run(struct guardian_memory *shared, int socket) NO_RETURN;

#endif
