/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/guardian.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "tracee/guardian_private.h"

/*
 * The kernel sees to those that a dying thread holds, one after the other, the last one
 * that it has locked first: as long as it takes to come to the end of these (it looks at
 * 2048 at most), the guardian has time before the kernel lets go of our tasks.
 */
#define DELAYS 2000

struct guardian {
	pthread_mutex_t *delays; /* DELAYS, held */
	struct guardian_memory *shared;
	int socket;
	uint32_t next_task;
	uint32_t first_free; /* a list of notes; see next_free */
	bool spaces[SPACES_MAX];
	bool deaf; /* it takes no orders any more */
};

/* Who was stopped by somebody must not keep calltrap from its work. */
#define GUARDIAN_PATIENCE NS_PER_SECOND

static bool has_room(int socket, uint64_t deadline)
{
	struct pollfd pollfd = { .fd = socket, .events = POLLOUT };
	uint64_t now = clock_now();

	return now < deadline &&
	       poll(&pollfd, 1, (deadline - now) / 1000000 + 1) != 0;
}

static ssize_t send_message(struct guardian *guardian,
			    const struct msghdr *header)
{
	uint64_t deadline = clock_now() + GUARDIAN_PATIENCE;
	ssize_t n = -1;

	while (!guardian->deaf) {
		n = sendmsg(guardian->socket, header,
			    MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
		guardian->deaf = !has_room(guardian->socket, deadline);
	}
	return n;
}

static bool send_order(struct guardian *guardian, struct message message,
		       int fd)
{
	union control control;
	struct iovec vector = { &message, sizeof(message) };
	struct msghdr header = { .msg_iov = &vector, .msg_iovlen = 1 };

	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		header.msg_control = &control;
		header.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	return send_message(guardian, &header) == sizeof(message);
}

static void hold_delays(struct guardian *guardian,
			const pthread_mutexattr_t *attributes)
{
	size_t i;

	guardian->delays = xcalloc(DELAYS, sizeof(*guardian->delays));
	for (i = 0; i < DELAYS; i++)
		if (!pthread_mutex_init(&guardian->delays[i], attributes))
			(void)pthread_mutex_lock(&guardian->delays[i]);
}

static void free_delays(struct guardian *guardian)
{
	size_t i;

	if (!guardian->delays)
		return;
	for (i = 0; i < DELAYS; i++)
		(void)pthread_mutex_unlock(&guardian->delays[i]);
	free(guardian->delays);
}

static bool hold(struct guardian *guardian, struct guardian_memory *shared)
{
	pthread_mutexattr_t attributes;
	const bool ready =
		!pthread_mutexattr_init(&attributes) &&
		!pthread_mutexattr_setpshared(&attributes,
					      PTHREAD_PROCESS_SHARED) &&
		!pthread_mutexattr_setrobust(&attributes,
					     PTHREAD_MUTEX_ROBUST) &&
		!pthread_mutex_init(&shared->alive, &attributes);

	if (!ready)
		return false;
	hold_delays(guardian, &attributes);
	return !pthread_mutex_lock(&shared->alive);
}

struct guardian *guardian_start(void)
{
	struct guardian *guardian;
	struct guardian_memory *shared;
	int sockets[2];
	pid_t pid;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (shared == MAP_FAILED)
		return NULL;
	shared->calltrap = getpid();
	shared->tracer = gettid();
	guardian = xcalloc(1, sizeof(*guardian));
	if (!hold(guardian, shared) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) {
		free_delays(guardian);
		free(guardian);
		munmap(shared, sizeof(*shared));
		return NULL;
	}
	/* A grandchild: it is no child that calltrap or others would find. */
	pid = fork();
	if (pid == 0) {
		close(sockets[0]);
		if (fork() == 0)
			guard_run(shared, sockets[1]);
		_exit(0);
	}
	close(sockets[1]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	/* It is no business of other children (the reader of debuginfo/). */
	(void)madvise(shared, sizeof(*shared), MADV_DONTFORK);
	guardian->shared = shared;
	guardian->socket = sockets[0];
	if (pid > 0)
		return guardian;
	guardian_dismiss(guardian);
	return NULL;
}

void guardian_dismiss(struct guardian *guardian)
{
	if (!guardian)
		return;
	guardian->shared->dismissed = true;
	(void)pthread_mutex_unlock(&guardian->shared->alive);
	free_delays(guardian);
	close(guardian->socket);
	munmap(guardian->shared, sizeof(*guardian->shared));
	free(guardian);
}

int guardian_add_space(struct guardian *guardian, int pid, int mem_fd)
{
	int space;

	if (!guardian)
		return -1;
	for (space = 0; space < SPACES_MAX; space++)
		if (!guardian->spaces[space])
			break;
	if (space == SPACES_MAX ||
	    !send_order(guardian,
			(struct message){ ORDER_ADD_SPACE, space, pid },
			mem_fd))
		return -1;
	guardian->spaces[space] = true;
	return space;
}

void guardian_drop_space(struct guardian *guardian, int space)
{
	if (!guardian || space < 0)
		return;
	(void)send_order(guardian,
			 (struct message){ ORDER_DROP_SPACE, space, 0 }, -1);
	guardian->spaces[space] = false;
}

static int take_note(struct guardian *guardian)
{
	struct guardian_memory *shared = guardian->shared;
	uint32_t first = guardian->first_free;

	if (first) {
		guardian->first_free = shared->notes[first - 1].next_free;
		return first - 1;
	}
	return shared->count < NOTES_MAX ? (int)shared->count++ : -1;
}

static int add_note(struct guardian *guardian, const struct note *what)
{
	int number = guardian ? take_note(guardian) : -1;
	struct note *note;

	if (number < 0)
		return -1;
	note = &guardian->shared->notes[number];
	*note = *what;
	note->planted = 1;
	return number;
}

int guardian_note(struct guardian *guardian, int space, taddr_t address,
		  uint32_t original, uint8_t length)
{
	const struct note note = {
		.address = address,
		.space = space,
		.original = original,
		.length = length,
	};

	return space < 0 ? -1 : add_note(guardian, &note);
}

static int note_word(struct guardian *guardian, int space, taddr_t address,
		     enum note_kind kind)
{
	const struct note note = {
		.address = address,
		.space = space,
		.kind = kind,
	};

	return space < 0 ? -1 : add_note(guardian, &note);
}

int guardian_note_gate(struct guardian *guardian, int space, taddr_t address)
{
	return note_word(guardian, space, address, NOTE_GATE);
}

int guardian_note_awaited(struct guardian *guardian, int space, taddr_t address)
{
	return note_word(guardian, space, address, NOTE_AWAITED);
}

static void note_jump(struct guardian_memory *shared, taddr_t address,
		      const struct patch *patch)
{
	struct jump *jump = &shared->jumps[shared->next_jump++ % JUMPS_MAX];

	__atomic_store_n(&jump->address, 0, __ATOMIC_RELEASE);
	memcpy(jump->code, patch->after, PATCH_SIZE);
	memcpy(jump->places, patch->places, sizeof(jump->places));
	__atomic_store_n(&jump->address, address, __ATOMIC_RELEASE);
}

void guardian_note_patch(struct guardian *guardian, int number, taddr_t address,
			 const struct patch *patch)
{
	struct note *note;

	if (!guardian || number < 0)
		return;
	note = &guardian->shared->notes[number];
	memcpy(note->tail, patch->before + 1, sizeof(note->tail));
	__atomic_store_n(&note->has_tail, 1, __ATOMIC_RELEASE);
	note_jump(guardian->shared, address, patch);
}

bool guardian_begin_writing(struct guardian *guardian, int number)
{
	return !guardian || number < 0 ||
	       guardian_claim(&guardian->shared->notes[number], CLAIM_CALLTRAP);
}

void guardian_end_writing(struct guardian *guardian, int number)
{
	if (guardian && number >= 0)
		__atomic_store_n(&guardian->shared->notes[number].claim,
				 CLAIM_NONE, __ATOMIC_SEQ_CST);
}

void guardian_unnote(struct guardian *guardian, int number)
{
	struct note *note;

	if (!guardian || number < 0)
		return;
	note = &guardian->shared->notes[number];
	note->planted = 0;
	/* The guardian may still be at work with it. */
	if (note->claim == CLAIM_GUARDIAN)
		return;
	/* No memory is taken: traps are lifted when there is none left, too. */
	note->next_free = guardian->first_free;
	guardian->first_free = number + 1;
}

int guardian_add_task(struct guardian *guardian, int pid, int tid)
{
	struct guardian_memory *shared;
	uint32_t i;

	if (!guardian)
		return -1;
	shared = guardian->shared;
	/* From the last place on: most of those before it are in use. */
	for (i = 0; i < TASKS_MAX; i++) {
		uint32_t place = guardian->next_task++ % TASKS_MAX;
		struct standing *task = &shared->tasks[place];

		if (task->tid)
			continue;
		task->stands = task->job_stopped = 0;
		task->pid = pid;
		task->tid = tid;
		if (place >= shared->task_count)
			shared->task_count = place + 1;
		return place;
	}
	return -1;
}

void guardian_drop_task(struct guardian *guardian, int place)
{
	if (guardian && place >= 0)
		guardian->shared->tasks[place].tid = 0;
}

void guardian_mark_task(struct guardian *guardian, int place, bool stands)
{
	if (guardian && place >= 0)
		guardian->shared->tasks[place].stands = stands;
}

void guardian_mark_stopped(struct guardian *guardian, int place, bool stopped)
{
	if (guardian && place >= 0)
		guardian->shared->tasks[place].job_stopped = stopped;
}

void guardian_mark_resumed(struct guardian *guardian, int place)
{
	struct guardian_memory *shared;

	if (!guardian || place < 0)
		return;
	shared = guardian->shared;
	shared->resumed[shared->next_resumed++ % RESUMED_MAX] = place + 1;
}
