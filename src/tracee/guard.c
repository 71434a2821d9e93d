/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/guardian_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signal_bit.h"
#include "sysdeps/linux/freezer.h"
#include "sysdeps/linux/last_signal.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/ptrace.h"
#include "sysdeps/linux/stand_apart.h"
#include "tracee/guardian.h"
#include "tracee/stop.h"
#include "tracee/syscall.h"

/* Of the auxiliary vector, in which a process and its copy don't differ. */
#define MARK 1024

/* Looks for those that are born late. */
#define FIRST_PAUSE ((long)NS_PER_SECOND / 1000)
#define LAST_PAUSE  ((long)NS_PER_SECOND / 3)

/* Processes that were stopped: more have no last signal. */
#define STOPPED_MAX 512

struct guard {
	struct guardian_memory *shared;
	int socket;
	pthread_mutex_t lock;   /* of the next, and of what is in the socket */
	int mems[SPACES_MAX];   /* /proc/PID/mem, or -1; … */
	pid_t pids[SPACES_MAX]; /* … of these */
	uint64_t held_up_since; /* calltrap can't go on; 0: it can */
	bool relieved;
	/* That they go on, also when the guardian is killed. */
	struct last_signal promises[STOPPED_MAX];
	size_t ready, promised;
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
 * Where no trap stands there is something else by now: other code was mapped,
 * or calltrap died just before it was written.
 */
static void restore(const struct note *note, int mem)
{
	const ssize_t size = arch_native->trap_size;
	uint32_t found = 0;

	if (pread(mem, &found, size, note->address) != size ||
	    found != arch_native->trap)
		return;
	if (note->has_tail &&
	    pwrite(mem, note->tail, sizeof(note->tail), note->address + size) !=
		    sizeof(note->tail))
		return;
	if (pwrite(mem, &note->original, size, note->address) != size)
		return; /* the process has gone, or the mapping */
}

/* As above: where there is no 1 there is something else by now. */
static void clear_word(const struct note *note, int mem)
{
	uint64_t word = 0;

	if (pread(mem, &word, sizeof(word), note->address) != sizeof(word) ||
	    word != 1)
		return;
	word = 0;
	if (pwrite(mem, &word, sizeof(word), note->address) != sizeof(word))
		return; /* likewise */
}

/* lives: calltrap does, and will go on with what it is writing. */
static void restore_some(struct guard *guard, enum note_kind kind, bool lives)
{
	struct guardian_memory *shared = guard->shared;
	uint32_t i;

	for (i = 0; i < shared->count && i < NOTES_MAX; i++) {
		struct note *note = &shared->notes[i];

		if (!note->planted || note->kind != kind ||
		    (lives && !guardian_claim(note, CLAIM_GUARDIAN)) ||
		    note->space >= SPACES_MAX || guard->mems[note->space] < 0)
			continue;
		if (kind == NOTE_TRAP)
			restore(note, guard->mems[note->space]);
		else
			clear_word(note, guard->mems[note->space]);
	}
}

/* What is behind an open gate may lead to traps. */
static void restore_all(struct guard *guard, bool lives)
{
	restore_some(guard, NOTE_GATE, lives);
	restore_some(guard, NOTE_TRAP, lives);
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
		guard->pids[message.space] = message.pid;
	}
	return errno == EAGAIN;
}

/* ---- while calltrap is stopped ---- */

#define LOOK_EVERY_MS    200
#define STOPPED_TOO_LONG NS_PER_SECOND

static bool is_held_up(pid_t tid)
{
	char state = procfs_state(tid);

	return state == 'T' || state == 't' ||
	       (state == 'D' && freezer_has_frozen("", tid));
}

/*
 * Threads that run into a trap now would wait as long as calltrap does. Those
 * that have are with it, and it alone can let go of them: so it is woken, if
 * it was a signal that stopped it.
 */
static void relieve(struct guard *guard)
{
	const struct guardian_memory *shared = guard->shared;

	pthread_mutex_lock(&guard->lock);
	(void)receive_waiting(guard);
	restore_all(guard, true);
	pthread_mutex_unlock(&guard->lock);
	kill(shared->calltrap, GUARDIAN_LIFTED);
	if (procfs_state(shared->tracer) == 'T')
		kill(shared->calltrap, SIGCONT);
}

static bool has_tasks(const struct guardian_memory *shared)
{
	uint32_t i;

	for (i = 0; i < shared->task_count && i < TASKS_MAX; i++)
		if (shared->tasks[i].tid)
			return true;
	return false;
}

static void look_at_calltrap(struct guard *guard)
{
	uint64_t now = clock_now();

	if (!is_held_up(guard->shared->tracer) || !has_tasks(guard->shared)) {
		guard->held_up_since = 0;
		guard->relieved = false;
		return;
	}
	if (!guard->held_up_since)
		guard->held_up_since = now;
	if (guard->relieved || now - guard->held_up_since < STOPPED_TOO_LONG)
		return;
	guard->relieved = true;
	relieve(guard);
}

static void serve(struct guard *guard)
{
	struct pollfd pollfd = { .fd = guard->socket, .events = POLLIN };
	bool open = true;

	while (open) {
		int n = poll(&pollfd, 1, LOOK_EVERY_MS);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			pthread_mutex_lock(&guard->lock);
			open = receive_waiting(guard);
			pthread_mutex_unlock(&guard->lock);
		}
		look_at_calltrap(guard);
	}
}

/* ---- when calltrap is dead ---- */

static bool make_ready(struct guard *guard)
{
	if (guard->ready < STOPPED_MAX &&
	    !last_signal_init(&guard->promises[guard->ready], SIGCONT))
		guard->ready++;
	return guard->promised < guard->ready;
}

static void promise(struct guard *guard, pid_t pid)
{
	size_t i;

	for (i = 0; i < guard->promised; i++)
		if (guard->promises[i].pid == pid)
			return;
	if (guard->promised < guard->ready || make_ready(guard))
		last_signal_promise(&guard->promises[guard->promised++], pid);
}

/* Who has gone on isn't woken once more when somebody stops it. */
static void end_promises(struct guard *guard)
{
	size_t i;

	for (i = 0; i < guard->promised; i++)
		last_signal_promise(&guard->promises[i], 0);
}

static void stop_task(struct guard *guard, struct standing *task)
{
	if (!task->job_stopped)
		promise(guard, task->pid);
	syscall(SYS_tgkill, task->pid, task->tid, SIGSTOP);
	task->chosen = 1;
}

/*
 * One that was resumed last is most likely at a trap by now, and there is no
 * time to look: it must not be let go of before it has its signal.
 */
static void stop_likely(struct guard *guard)
{
	struct guardian_memory *shared = guard->shared;
	uint32_t i;

	for (i = 0; i < RESUMED_MAX; i++) {
		uint32_t place = shared->resumed[i] - 1;

		if (place < TASKS_MAX && shared->tasks[place].tid &&
		    !shared->tasks[place].chosen)
			stop_task(guard, &shared->tasks[place]);
	}
}

/*
 * Tasks that run, or stand in a stop, may be behind a trap whose stop has been
 * fetched. They are stopped before they run on (they do when the kernel lets
 * go of them, which comes later), and put back to the instruction that they
 * have not run. Those that sleep in a system call are left alone; those that
 * are frozen outside of one are not.
 */
static bool may_stand_behind_one(pid_t tid)
{
	char state = procfs_state(tid);
	taddr_t ip;
	long number;

	return state == 't' || state == 'R' ||
	       (state == 'D' && !procfs_blocked_in_syscall(tid, &number, &ip));
}

static void stop_others(struct guard *guard)
{
	struct guardian_memory *shared = guard->shared;
	uint32_t i;

	for (i = 0; i < shared->task_count && i < TASKS_MAX; i++) {
		struct standing *task = &shared->tasks[i];

		if (task->tid && !task->chosen &&
		    may_stand_behind_one(task->tid))
			stop_task(guard, task);
	}
}

static bool is_chosen(const struct guardian_memory *shared, pid_t pid)
{
	uint32_t i;

	for (i = 0; i < shared->task_count && i < TASKS_MAX; i++)
		if (shared->tasks[i].tid && shared->tasks[i].pid == pid &&
		    shared->tasks[i].chosen)
			return true;
	return false;
}

/*
 * A signal that stops one stops the whole process: what others of its threads wait for,
 * if that is none of what the kernel makes again, ends with EINTR (signal(7)).
 */
static void mark_disturbed(struct guard *guard)
{
	struct guardian_memory *shared = guard->shared;
	bool is_stopped = false;
	pid_t last = 0;
	uint32_t i;

	for (i = 0; i < shared->task_count && i < TASKS_MAX; i++) {
		struct standing *task = &shared->tasks[i];

		if (!task->tid || task->chosen)
			continue;
		if (task->pid != last)
			is_stopped = is_chosen(shared, task->pid);
		last = task->pid;
		/* Who waits for a vfork() child stops only when that has ended. */
		task->disturbed = is_stopped && procfs_state(task->tid) != 'D';
	}
}

static bool shows_jump(pid_t tid, const struct jump *jump)
{
	uint64_t word;

	_Static_assert(PATCH_SIZE <= sizeof(word), "it is seen at once");
	errno = 0;
	word = (uint64_t)ptrace(PTRACE_PEEKTEXT, tid, jump->address, NULL);
	return !errno && !memcmp(&word, jump->code, PATCH_SIZE);
}

/*
 * Where a task goes on that was about to run an instruction in whose midst, or
 * at whose begin, a byte of a jump stands by now; 0: it wasn't.
 */
static taddr_t way_out(const struct guard *guard, pid_t tid, taddr_t ip)
{
	const struct guardian_memory *shared = guard->shared;
	uint32_t i;

	for (i = 0; i < shared->next_jump && i < JUMPS_MAX; i++) {
		const struct jump *jump = &shared->jumps[i];
		const uint64_t offset = ip - jump->address;

		if (offset && offset < PATCH_SIZE && jump->places[offset] &&
		    shows_jump(tid, jump))
			return jump->places[offset];
	}
	return 0;
}

static bool was_trapped(const struct guard *guard, uint64_t address,
			bool stands)
{
	const struct guardian_memory *shared = guard->shared;
	uint32_t i;

	for (i = 0; i < shared->count && i < NOTES_MAX; i++)
		if (shared->notes[i].address == address)
			return stands || shared->notes[i].length >
						 arch_native->trap_behind;
	return false;
}

/*
 * The kernel lets go of calltrap's tasks a moment after it has told us; that is
 * long where calltrap, dying, gets no processor.
 */
static bool seize(const struct guardian_memory *shared, pid_t tid)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	int err, tries = 0;

	while ((err = ptrace_seize(tid, 0)) == -EPERM && tries < 1000) {
		if (procfs_tracer(tid) != shared->tracer)
			tries++;
		nanosleep(&moment, NULL);
	}
	return !err && !ptrace_interrupt(tid);
}

/*
 * What can't be put right must not compute wrong results: it dies. From here
 * on the others are ours, and none dies of a trap that it has yet to tell of.
 */
static size_t seize_stopped(struct guard *guard)
{
	struct guardian_memory *shared = guard->shared;
	size_t count = 0;
	uint32_t i;

	for (i = 0; i < shared->task_count && i < TASKS_MAX; i++) {
		struct standing *task = &shared->tasks[i];

		if (!task->tid || !(task->chosen || task->disturbed))
			continue;
		task->seized = seize(shared, task->tid);
		if (task->seized)
			count++;
		else if (task->chosen)
			syscall(SYS_tgkill, task->pid, task->tid, SIGTRAP);
	}
	return count;
}

static bool is_job_stopped(const struct guardian_memory *shared, pid_t pid)
{
	uint32_t i;

	for (i = 0; i < shared->task_count && i < TASKS_MAX; i++)
		if (shared->tasks[i].tid && shared->tasks[i].pid == pid &&
		    shared->tasks[i].job_stopped)
			return true;
	return false;
}

/*
 * Those that are to die as well: stopped, they would not. But not who was
 * stopped by somebody else before.
 */
static void let_processes_go_on(struct guard *guard)
{
	struct guardian_memory *shared = guard->shared;
	pid_t last = 0;
	uint32_t i;

	for (i = 0; i < shared->task_count && i < TASKS_MAX; i++) {
		const struct standing *task = &shared->tasks[i];

		if (!task->tid || !task->chosen || task->pid == last)
			continue;
		last = task->pid;
		if (!is_job_stopped(shared, task->pid))
			kill(task->pid, SIGCONT);
	}
}

static struct standing *find_seized(struct guard *guard, pid_t tid)
{
	struct guardian_memory *shared = guard->shared;
	uint32_t i;

	for (i = 0; i < shared->task_count && i < TASKS_MAX; i++)
		if (shared->tasks[i].tid == tid && shared->tasks[i].seized)
			return &shared->tasks[i];
	return NULL;
}

static bool shows_trap(pid_t tid, taddr_t address)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, tid, address, NULL);
	return !errno &&
	       !memcmp(&word, &arch_native->trap, arch_native->trap_size);
}

/*
 * Whether it stands behind a trap of calltrap's; with info, that of a SIGTRAP
 * that has just stopped it: all are lifted, so one that is still there is the
 * program's own.
 */
static bool is_behind_one(const struct guard *guard,
			  const struct standing *task, taddr_t ip,
			  const siginfo_t *info)
{
	const taddr_t address = ip - arch_native->trap_behind;

	if (info && info->si_code == arch_native->trap_code)
		return !shows_trap(task->tid, address);
	return was_trapped(guard, address, task->stands);
}

/* Ours stop it, and make it go on. */
static bool is_own(const siginfo_t *info)
{
	return (info->si_signo == SIGSTOP || info->si_signo == SIGCONT) &&
	       info->si_pid == getpid();
}

/* Whether a byte of code has stopped it, which it stands at or behind. */
static bool is_stopped_by_code(const struct stop *stop, const siginfo_t *info)
{
	return stop->kind == STOP_TRAP ?
		       info->si_code == arch_native->trap_code :
		       stop->kind == STOP_SIGNAL && stop->signal == SIGILL &&
			       info->si_code > 0;
}

/* See way_out(). Its stop tells of the byte, or did so to calltrap. */
static taddr_t way_out_of_stop(const struct guard *guard,
			       const struct standing *task, taddr_t ip,
			       const struct stop *stop, const siginfo_t *info,
			       int *signal_ret)
{
	const bool by_code = is_stopped_by_code(stop, info);
	const bool trapped = by_code && stop->kind == STOP_TRAP;
	taddr_t out = 0;

	if (trapped || task->stands)
		out = way_out(guard, task->tid, ip - arch_native->trap_behind);
	if (!out && !trapped)
		out = way_out(guard, task->tid, ip);
	if (out && by_code)
		*signal_ret = 0;
	return out;
}

/*
 * Puts it back if it is behind a trap; *signal_ret is what it has to get. One
 * that has yet to tell of a trap is put back then.
 */
static int look_at_stop(struct guard *guard, struct standing *task,
			const struct stop *stop, int *signal_ret)
{
	bool trapped = stop->kind == STOP_TRAP, behind;
	struct regs regs;
	siginfo_t info;
	taddr_t ip, out;

	if (ptrace_get_regs(task->tid, &regs) ||
	    ptrace_get_siginfo(task->tid, &info))
		return -ERR_GONE;
	*signal_ret =
		stop->kind == STOP_SIGNAL && !is_own(&info) ? stop->signal : 0;
	if (!trapped && ptrace_has_queued_trap(task->tid))
		return 0;
	ip = arch_native->ip(&regs);
	out = way_out_of_stop(guard, task, ip, stop, &info, signal_ret);
	if (out)
		return ptrace_set_ip(task->tid, out);
	behind = is_behind_one(guard, task, ip, trapped ? &info : NULL);
	task->stands = 0;
	if (trapped && !behind)
		*signal_ret = stop->signal;
	return behind ?
		       ptrace_set_ip(task->tid, ip - arch_native->trap_behind) :
		       0;
}

/* Of signals that wait; see is_own(). */
#define OWN_SIGNALS (SIGNAL_BIT(SIGSTOP) | SIGNAL_BIT(SIGCONT))

/* Returns whether we are done with it. */
static bool put_back(struct guard *guard, struct standing *task,
		     const struct stop *stop)
{
	int signal;

	if (stop->kind == STOP_EXITED || stop->kind == STOP_KILLED)
		return true;
	if (look_at_stop(guard, task, stop, &signal))
		return false; /* it is dying, and will tell of that */
	/* What it waited for when our signals came goes on. */
	if (!signal)
		(void)syscall_go_on_waiting(task->tid, OWN_SIGNALS);
	if (ptrace_has_queued_trap(task->tid))
		return ptrace_continue(task->tid, signal) != 0;
	(void)ptrace_detach(task->tid, signal);
	return true;
}

/* ---- children that calltrap hasn't looked at ---- */

/* It has the same, while neither has run another program: nobody has the other's. */
static bool is_copy(pid_t parent, pid_t child)
{
	uint8_t mark[2][MARK];
	const size_t size = procfs_auxv_bytes(parent, mark[0], MARK);

	return size && procfs_auxv_bytes(child, mark[1], MARK) == size &&
	       !memcmp(mark[0], mark[1], size);
}

static void restore_copy(const struct guard *guard, int space, int mem)
{
	const struct guardian_memory *shared = guard->shared;
	uint32_t i;

	for (i = 0; i < shared->count && i < NOTES_MAX; i++)
		if (shared->notes[i].planted &&
		    shared->notes[i].kind == NOTE_TRAP &&
		    shared->notes[i].space == space)
			restore(&shared->notes[i], mem);
}

struct copies {
	struct guard *guard;
	pid_t parent;
};

/* Opened before it is compared: what the child runs from then on has other memory. */
static void restore_child(void *context, pid_t child)
{
	const struct copies *copies = context;
	const struct guard *guard = copies->guard;
	char path[64];
	int space, mem;
	bool is_same;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)child);
	mem = open(path, O_RDWR | O_CLOEXEC);
	if (mem < 0)
		return;
	is_same = is_copy(copies->parent, child);
	for (space = 0; is_same && space < SPACES_MAX; space++)
		if (guard->mems[space] >= 0 &&
		    guard->pids[space] == copies->parent)
			restore_copy(guard, space, mem);
	close(mem);
}

static void restore_copies(struct guard *guard)
{
	const struct guardian_memory *shared = guard->shared;
	struct copies copies = { .guard = guard };
	uint32_t i;

	for (i = 0; i < shared->task_count && i < TASKS_MAX; i++) {
		copies.parent = shared->tasks[i].pid;
		if (shared->tasks[i].tid)
			procfs_visit_children(shared->tasks[i].tid,
					      restore_child, &copies);
	}
}

/*
 * One that was about to be made has a copy of what stood there then. Whoever runs into
 * a trap waits for us, if the agent has ever been in its parent.
 */
static void restore_late_copies(struct guard *guard)
{
	struct timespec pause = { .tv_nsec = FIRST_PAUSE };

	for (; pause.tv_nsec <= LAST_PAUSE; pause.tv_nsec *= 4) {
		nanosleep(&pause, NULL);
		restore_copies(guard);
	}
}

/*
 * Who was seized while it made a child: the kernel had decided before that this is
 * traced, by whoever traces its parent by then. It stands before its first instruction,
 * and a parent that waits for it (vfork) can't stop before it goes on.
 */
static void let_newborn_go(struct guard *guard, pid_t tid,
			   const struct stop *stop)
{
	const struct guardian_memory *shared = guard->shared;
	struct copies copies = { .guard = guard };
	uint32_t i;

	for (i = 0; i < shared->task_count && i < TASKS_MAX; i++) {
		if (!shared->tasks[i].tid || !shared->tasks[i].seized)
			continue;
		copies.parent = shared->tasks[i].pid;
		restore_child(&copies, tid);
	}
	(void)ptrace_detach(tid, stop->kind == STOP_SIGNAL ? stop->signal : 0);
}

/* However long it takes: they may be frozen, or get no processor. */
static void put_all_back(struct guard *guard)
{
	size_t left;
	int status;
	pid_t tid;

	restore_all(guard, false);
	stop_others(guard);
	restore_copies(guard);
	mark_disturbed(guard);
	left = seize_stopped(guard);
	let_processes_go_on(guard);
	end_promises(guard);
	while (left &&
	       ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR)) {
		struct stop stop = stop_classify(status);
		struct standing *task = tid > 0 ? find_seized(guard, tid) :
						  NULL;

		if (task && put_back(guard, task, &stop)) {
			task->seized = 0;
			left--;
		} else if (tid > 0 && !task && WIFSTOPPED(status)) {
			let_newborn_go(guard, tid, &stop);
		}
	}
	/* Who has waited for that may run into a trap that was lifted no more. */
	restore_some(guard, NOTE_AWAITED, false);
	if (has_tasks(guard->shared))
		restore_late_copies(guard);
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

/* ---- not to be killed with calltrap ---- */

/*
 * In a session of its own: what is sent to calltrap's process group is not for
 * it. Pipes that calltrap writes to must end with calltrap.
 */
void guard_run(struct guardian_memory *shared, int socket)
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
	stand_apart("ctrap-guardian");
	/* Every moment counts then. Root may; others do without. */
	(void)sched_setscheduler(0, SCHED_FIFO, &priority);
	if (dup2(socket, guard.socket) != guard.socket)
		_exit(1);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	closefrom(guard.socket + 1);
	while (guard.ready < RESUMED_MAX && make_ready(&guard))
		;
	if (pthread_create(&waiter, NULL, await_death, &guard))
		_exit(1);
	serve(&guard);
	pthread_join(waiter, NULL);
	_exit(0);
}
