/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/guardian.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/ptrace.h"

/* Memory that isn't used costs nothing. */
#define NOTES_MAX (1u << 20)
#define SPACES_MAX 4096
#define TASKS_MAX 65536
#define RESUMED_MAX 8

#define INT3 0xcc

struct note {
	uint64_t address;
	uint32_t next_free; /* the number of a free note + 1, or 0 */
	uint16_t space;
	uint8_t original;
	uint8_t length; /* of the instruction */
	volatile uint8_t planted;
};

/* A task; it stands behind an int3 that it hasn't been brought past. */
struct standing {
	int32_t pid;
	int32_t tid; /* 0 = a free place */
	volatile uint8_t stands;
	uint8_t chosen; /* by the guardian */
};

/* What both processes see. */
struct shared {
	pthread_mutex_t alive;   /* held by calltrap as long as it lives */
	volatile bool dismissed;
	volatile uint32_t count; /* notes ever used */
	struct note notes[NOTES_MAX];
	volatile uint32_t task_count; /* places ever used */
	volatile uint32_t resumed[RESUMED_MAX]; /* places + 1 */
	uint32_t next_resumed;
	struct standing tasks[TASKS_MAX];
};

struct guardian {
	struct shared *shared;
	int socket;
	uint32_t next_task;
	uint32_t first_free; /* a list of notes; see next_free */
	bool spaces[SPACES_MAX];
	bool deaf; /* it takes no orders any more */
};

/* Who was stopped by somebody must not keep calltrap from its work. */
#define GUARDIAN_PATIENCE NS_PER_SECOND

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

/* ---- in the guardian ---- */

struct guard {
	struct shared *shared;
	int socket;
	pthread_mutex_t lock; /* of the next, and of what is in the socket */
	int mems[SPACES_MAX]; /* /proc/PID/mem, or -1 */
};

/*
 * Returns false when there is nothing (-EAGAIN in errno), and at the end of
 * the socket; *fd_ret is -1 without one.
 */
static bool receive(int socket, struct message *ret, int *fd_ret)
{
	union control control;
	struct iovec vector = { ret, sizeof(*ret) };
	struct msghdr header = {
		.msg_iov = &vector,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		errno = 0;
	if (n != sizeof(*ret))
		return false;
	c = CMSG_FIRSTHDR(&header);
	*fd_ret = -1;
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd_ret, CMSG_DATA(c), sizeof(*fd_ret));
	return true;
}

/*
 * Where no int3 stands there is something else by now: other code was mapped,
 * or calltrap died just before it was written.
 */
static void restore(const struct note *note, int mem)
{
	uint8_t found;

	if (pread(mem, &found, 1, note->address) != 1 || found != INT3)
		return;
	if (pwrite(mem, &note->original, 1, note->address) != 1)
		return; /* the process has gone, or the mapping */
}

static void restore_all(struct guard *guard)
{
	struct shared *shared = guard->shared;
	uint32_t i;

	for (i = 0; i < shared->count && i < NOTES_MAX; i++) {
		const struct note *note = &shared->notes[i];

		if (note->planted && note->space < SPACES_MAX &&
		    guard->mems[note->space] >= 0)
			restore(note, guard->mems[note->space]);
	}
}

static void drop_mem(struct guard *guard, int space)
{
	if (guard->mems[space] >= 0)
		close(guard->mems[space]);
	guard->mems[space] = -1;
}

/*
 * Takes all that calltrap has sent by now, with the lock held: what came last
 * is still in the socket when calltrap dies. False: the socket has ended.
 */
static bool receive_waiting(struct guard *guard)
{
	struct message message;
	int fd;

	while (receive(guard->socket, &message, &fd)) {
		if (message.space < 0 || message.space >= SPACES_MAX)
			continue;
		drop_mem(guard, message.space);
		guard->mems[message.space] = fd;
	}
	return errno == EAGAIN;
}

static void receive_spaces(struct guard *guard)
{
	struct pollfd pollfd = { .fd = guard->socket, .events = POLLIN };
	bool open = true;

	while (open) {
		if (poll(&pollfd, 1, -1) < 0 && errno != EINTR)
			return;
		pthread_mutex_lock(&guard->lock);
		open = receive_waiting(guard);
		pthread_mutex_unlock(&guard->lock);
	}
}

/*
 * Tasks that run, or stand in a stop, may be behind an int3 whose stop has been
 * fetched. They are stopped before they run on (they do when the kernel lets
 * go of them, which comes later), and put back to the instruction that they
 * have not run. Those that sleep in a system call are left alone.
 */
static void for_each_chosen(struct guard *guard,
			    void (*act)(struct guard *guard,
					struct standing *task))
{
	struct shared *shared = guard->shared;
	uint32_t i;

	for (i = 0; i < shared->task_count && i < TASKS_MAX; i++)
		if (shared->tasks[i].tid && shared->tasks[i].chosen)
			act(guard, &shared->tasks[i]);
}

static void stop_task(struct standing *task)
{
	syscall(SYS_tgkill, task->pid, task->tid, SIGSTOP);
	task->chosen = 1;
}

/*
 * One that was resumed last is most likely at a trap by now, and there is no
 * time to look: it must not be let go of before it has its signal.
 */
static void stop_likely(struct guard *guard)
{
	struct shared *shared = guard->shared;
	uint32_t i;

	for (i = 0; i < RESUMED_MAX; i++) {
		uint32_t place = shared->resumed[i] - 1;

		if (place < TASKS_MAX && shared->tasks[place].tid &&
		    !shared->tasks[place].chosen)
			stop_task(&shared->tasks[place]);
	}
}

static void stop_others(struct guard *guard)
{
	struct shared *shared = guard->shared;
	uint32_t i;

	for (i = 0; i < shared->task_count && i < TASKS_MAX; i++) {
		struct standing *task = &shared->tasks[i];
		char state;

		if (!task->tid || task->chosen)
			continue;
		state = procfs_state(task->tid);
		if (state == 't' || state == 'R')
			stop_task(task);
	}
}

static bool was_trapped(const struct guard *guard, uint64_t address,
			bool stands)
{
	const struct shared *shared = guard->shared;
	uint32_t i;

	for (i = 0; i < shared->count && i < NOTES_MAX; i++)
		if (shared->notes[i].address == address)
			return stands || shared->notes[i].length > 1;
	return false;
}

/* The kernel lets go of calltrap's tasks a moment after it has told us. */
static bool seize(pid_t tid)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	int err = -EPERM, tries;

	for (tries = 0; err == -EPERM && tries < 1000; tries++) {
		err = ptrace_seize(tid, 0);
		if (err == -EPERM)
			nanosleep(&moment, NULL);
	}
	return !err;
}

static bool rewind_task(struct guard *guard, const struct standing *task)
{
	struct regs regs;
	pid_t tid = task->tid;
	int status;

	if (!seize(tid) || ptrace_interrupt(tid) ||
	    waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status) ||
	    ptrace_get_regs(tid, &regs))
		return false;
	if (was_trapped(guard, regs.user.rip - 1, task->stands) &&
	    ptrace_set_ip(tid, regs.user.rip - 1))
		return false;
	return !ptrace_detach(tid, 0);
}

/* What can't be put right must not compute wrong results: it dies. */
static void put_back(struct guard *guard, struct standing *task)
{
	if (!rewind_task(guard, task))
		syscall(SYS_tgkill, task->pid, task->tid, SIGTRAP);
}

static void let_go_on(struct guard *guard UNUSED, struct standing *task)
{
	kill(task->pid, SIGCONT);
}

static void put_all_back(struct guard *guard)
{
	restore_all(guard);
	stop_others(guard);
	for_each_chosen(guard, put_back);
	for_each_chosen(guard, let_go_on);
}

static void *await_death(void *argument)
{
	struct guard *guard = argument;
	int err = pthread_mutex_lock(&guard->shared->alive);

	if (err == EOWNERDEAD && !guard->shared->dismissed) {
		stop_likely(guard);
		pthread_mutex_lock(&guard->lock);
		(void)receive_waiting(guard);
		put_all_back(guard);
	}
	_exit(0);
}

/*
 * In a session of its own: what is sent to calltrap's process group is not for
 * it. Pipes that calltrap writes to must end with calltrap.
 */
static NO_RETURN void run_guard(struct shared *shared, int socket)
{
	const struct sched_param priority = { .sched_priority = 1 };
	struct guard guard = {
		.shared = shared,
		.socket = 3,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	pthread_t waiter;
	size_t i;

	for (i = 0; i < SPACES_MAX; i++)
		guard.mems[i] = -1;
	/* Every moment counts then. Root may; others do without. */
	(void)sched_setscheduler(0, SCHED_FIFO, &priority);
	setsid();
	prctl(PR_SET_NAME, "calltrap-guard");
	if (dup2(socket, guard.socket) != guard.socket)
		_exit(1);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	close_range(guard.socket + 1, ~0u, 0);
	if (pthread_create(&waiter, NULL, await_death, &guard))
		_exit(1);
	receive_spaces(&guard);
	pthread_join(waiter, NULL);
	_exit(0);
}

/* ---- in calltrap ---- */

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

static bool send_order(struct guardian *guardian, enum order order,
		       int space, int fd)
{
	struct message message = { order, space };
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

static bool hold(struct shared *shared)
{
	pthread_mutexattr_t attributes;

	return !pthread_mutexattr_init(&attributes) &&
	       !pthread_mutexattr_setpshared(&attributes,
					     PTHREAD_PROCESS_SHARED) &&
	       !pthread_mutexattr_setrobust(&attributes,
					    PTHREAD_MUTEX_ROBUST) &&
	       !pthread_mutex_init(&shared->alive, &attributes) &&
	       !pthread_mutex_lock(&shared->alive);
}

struct guardian *guardian_start(void)
{
	struct guardian *guardian;
	struct shared *shared;
	int sockets[2];
	pid_t pid;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (shared == MAP_FAILED)
		return NULL;
	if (!hold(shared) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) {
		munmap(shared, sizeof(*shared));
		return NULL;
	}
	/* A grandchild: it is no child that calltrap or others would find. */
	pid = fork();
	if (pid == 0) {
		close(sockets[0]);
		if (fork() == 0)
			run_guard(shared, sockets[1]);
		_exit(0);
	}
	close(sockets[1]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	/* It is no business of other children (the reader of debuginfo/). */
	(void)madvise(shared, sizeof(*shared), MADV_DONTFORK);
	guardian = xcalloc(1, sizeof(*guardian));
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
	close(guardian->socket);
	munmap(guardian->shared, sizeof(*guardian->shared));
	free(guardian);
}

int guardian_add_space(struct guardian *guardian, int mem_fd)
{
	int space;

	if (!guardian)
		return -1;
	for (space = 0; space < SPACES_MAX; space++)
		if (!guardian->spaces[space])
			break;
	if (space == SPACES_MAX ||
	    !send_order(guardian, ORDER_ADD_SPACE, space, mem_fd))
		return -1;
	guardian->spaces[space] = true;
	return space;
}

void guardian_drop_space(struct guardian *guardian, int space)
{
	if (!guardian || space < 0)
		return;
	(void)send_order(guardian, ORDER_DROP_SPACE, space, -1);
	guardian->spaces[space] = false;
}

static int take_note(struct guardian *guardian)
{
	struct shared *shared = guardian->shared;
	uint32_t first = guardian->first_free;

	if (first) {
		guardian->first_free = shared->notes[first - 1].next_free;
		return first - 1;
	}
	return shared->count < NOTES_MAX ? (int)shared->count++ : -1;
}

int guardian_note(struct guardian *guardian, int space, taddr_t address,
		  uint8_t original, uint8_t length)
{
	int number = guardian && space >= 0 ? take_note(guardian) : -1;
	struct note *note;

	if (number < 0)
		return -1;
	note = &guardian->shared->notes[number];
	note->address = address;
	note->space = space;
	note->original = original;
	note->length = length;
	note->planted = 1;
	return number;
}

void guardian_unnote(struct guardian *guardian, int number)
{
	struct note *note;

	if (!guardian || number < 0)
		return;
	note = &guardian->shared->notes[number];
	note->planted = 0;
	/* No memory is taken: traps are lifted when there is none left, too. */
	note->next_free = guardian->first_free;
	guardian->first_free = number + 1;
}

int guardian_add_task(struct guardian *guardian, int pid, int tid)
{
	struct shared *shared;
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
		task->stands = 0;
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

void guardian_mark_resumed(struct guardian *guardian, int place)
{
	struct shared *shared;

	if (!guardian || place < 0)
		return;
	shared = guardian->shared;
	shared->resumed[shared->next_resumed++ % RESUMED_MAX] = place + 1;
}
