/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waiters MILLISECONDS SECONDS: threads that wait in system calls, each in
 * another one, for so long at a time or (the second kind) until something
 * comes, for so many seconds, or until a line comes. One more thread calls
 * f1(0), f1(1), … all the while. Prints, for each way to wait, how many waits
 * there were, how many of them were interrupted (EINTR), ended before their
 * time, or ended otherwise. Nobody sends a signal to this program.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

long f1(long i);

static long period_ms;
static volatile int finished;
static struct timespec period;
static struct timeval period_timeval;

static int new_pipe(void)
{
	int fds[2];

	return pipe(fds) ? -1 : fds[0];
}

static int new_epoll(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(0);

	epoll_ctl(fd, EPOLL_CTL_ADD, new_pipe(), &event);
	return fd;
}

static int new_socket(bool listening)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fds[2];

	if (listening) {
		fds[0] = socket(AF_UNIX, SOCK_STREAM, 0);
		/* No more than the family: the kernel chooses a name. */
		bind(fds[0], (struct sockaddr *)&address, sizeof(sa_family_t));
		listen(fds[0], 1);
	} else if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds)) {
		return -1;
	}
	return fds[0];
}

static int limited(int fd)
{
	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &period_timeval,
			  sizeof(period_timeval)) ? -1 : fd;
}

/* Queues and semaphores are removed at once: they last as long as the wait. */
static int semaphores = -1, messages = -1;

/* Each returns what the system call did; fd is the thread's own. */

static long in_epoll_wait(int fd)
{
	struct epoll_event event;

	return epoll_wait(fd, &event, 1, period_ms);
}

static long in_epoll_pwait2(int fd)
{
	struct epoll_event event;

	return syscall(SYS_epoll_pwait2, fd, &event, 1, &period, NULL, 0);
}

static long in_poll(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };

	return poll(&one, 1, period_ms);
}

static long in_ppoll(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };

	return ppoll(&one, 1, &period, NULL);
}

static long in_select(int fd)
{
	struct timeval time = period_timeval;
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, &set, NULL, NULL, &time);
}

static long in_pselect(int fd)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return pselect(fd + 1, &set, NULL, NULL, &period, NULL);
}

static long in_recv(int fd)
{
	char byte;

	return recv(fd, &byte, 1, 0);
}

static long in_recvmsg(int fd)
{
	char byte;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	return recvmsg(fd, &message, 0);
}

static long in_accept(int fd)
{
	return accept(fd, NULL, NULL);
}

static long in_nanosleep(int fd)
{
	(void)fd;
	return syscall(SYS_nanosleep, &period, NULL);
}

static long in_clock_nanosleep(int fd)
{
	struct timespec end;

	(void)fd;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += period.tv_sec;
	end.tv_nsec += period.tv_nsec;
	if (end.tv_nsec >= 1000000000) {
		end.tv_nsec -= 1000000000;
		end.tv_sec++;
	}
	return -(errno = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end,
					 NULL));
}

static long in_futex(int fd)
{
	int word = 0;

	(void)fd;
	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &period);
}

static long in_sigtimedwait(int fd)
{
	sigset_t set;

	(void)fd;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return sigtimedwait(&set, NULL, &period);
}

static long in_semtimedop(int fd)
{
	struct sembuf down = { .sem_op = -1 };

	(void)fd;
	return semtimedop(semaphores, &down, 1, &period);
}

static long in_mq_timedreceive(int fd)
{
	char message[8192];
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += period.tv_sec + (end.tv_nsec + period.tv_nsec) /
				      1000000000;
	end.tv_nsec = (end.tv_nsec + period.tv_nsec) % 1000000000;
	return mq_timedreceive(fd, message, sizeof(message), NULL, &end);
}

static long in_timerfd(int fd)
{
	struct itimerspec time = { .it_value = period };
	uint64_t count;

	timerfd_settime(fd, 0, &time, NULL);
	return read(fd, &count, sizeof(count)) == sizeof(count) ? 0 : -1;
}

static long in_read(int fd)
{
	char bytes[4096];

	return read(fd, bytes, sizeof(bytes));
}

static long in_msgrcv(int fd)
{
	struct {
		long type;
		char text[8];
	} message;

	(void)fd;
	return msgrcv(messages, &message, sizeof(message.text), 0, 0);
}

static long in_semop(int fd)
{
	struct sembuf down = { .sem_num = 1, .sem_op = -1 };

	(void)fd;
	return semop(semaphores, &down, 1);
}

static long in_epoll_forever(int fd)
{
	struct epoll_event event;

	return epoll_wait(fd, &event, 1, -1);
}

static long in_accept_forever(int fd)
{
	return accept(fd, NULL, NULL);
}

static long in_lock(int fd)
{
	struct flock lock = { .l_type = F_WRLCK };

	return fcntl(fd, F_SETLKW, &lock);
}

static long in_waitpid(int fd)
{
	(void)fd;
	return waitpid(-1, NULL, 0);
}

static long in_pause(int fd)
{
	(void)fd;
	return pause();
}

static int new_queue(void)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "/waiters-%d", getpid());
	fd = mq_open(name, O_CREAT | O_RDWR, 0600, NULL);
	mq_unlink(name);
	return fd;
}

/* A child that lives as long as its parent, and holds a lock on the file. */
static bool new_child(int fd)
{
	struct flock lock = { .l_type = F_WRLCK };
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends))
		return false;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (fcntl(fd, F_SETLK, &lock) || write(ends[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	return pid > 0 && read(ends[0], &byte, 1) == 1;
}

static int new_lock(void)
{
	char path[] = "/tmp/waiters-XXXXXX";
	int fd = mkstemp(path);

	unlink(path);
	return new_child(fd) ? fd : -1;
}

enum needs { NOTHING, PIPE, EPOLL, PAIR, LIMITED_LISTENER, LISTENER, QUEUE,
	     TIMER, EVENT, INOTIFY, LOCK };

static const struct way {
	const char *name;
	long (*wait)(int fd);
	enum needs needs;
	int error;    /* what it says when the time is over */
	bool forever;
} ways[] = {
	{ "epoll_wait", in_epoll_wait, EPOLL, 0, false },
	{ "epoll_pwait2", in_epoll_pwait2, EPOLL, 0, false },
	{ "poll", in_poll, PIPE, 0, false },
	{ "ppoll", in_ppoll, PIPE, 0, false },
	{ "select", in_select, PIPE, 0, false },
	{ "pselect", in_pselect, PIPE, 0, false },
	{ "recv", in_recv, PAIR, EAGAIN, false },
	{ "recvmsg", in_recvmsg, PAIR, EAGAIN, false },
	{ "accept", in_accept, LIMITED_LISTENER, EAGAIN, false },
	{ "nanosleep", in_nanosleep, NOTHING, 0, false },
	{ "clock_nanosleep", in_clock_nanosleep, NOTHING, 0, false },
	{ "futex", in_futex, NOTHING, ETIMEDOUT, false },
	{ "sigtimedwait", in_sigtimedwait, NOTHING, EAGAIN, false },
	{ "semtimedop", in_semtimedop, NOTHING, EAGAIN, false },
	{ "mq_timedreceive", in_mq_timedreceive, QUEUE, ETIMEDOUT, false },
	{ "timerfd", in_timerfd, TIMER, 0, false },
	{ "read-pipe", in_read, PIPE, 0, true },
	{ "read-eventfd", in_read, EVENT, 0, true },
	{ "read-inotify", in_read, INOTIFY, 0, true },
	{ "msgrcv", in_msgrcv, NOTHING, 0, true },
	{ "semop", in_semop, NOTHING, 0, true },
	{ "epoll_wait-forever", in_epoll_forever, EPOLL, 0, true },
	{ "accept-forever", in_accept_forever, LISTENER, 0, true },
	{ "lock", in_lock, LOCK, 0, true },
	{ "waitpid", in_waitpid, LOCK, 0, true },
	{ "pause", in_pause, NOTHING, 0, true },
};

enum { WAYS = sizeof(ways) / sizeof(*ways) };

static struct count {
	long waits, interrupted, early, other;
	int last_error;
} counts[WAYS];

static int make(enum needs needs)
{
	switch (needs) {
	case PIPE:
		return new_pipe();
	case EPOLL:
		return new_epoll();
	case PAIR:
		return limited(new_socket(false));
	case LIMITED_LISTENER:
		return limited(new_socket(true));
	case LISTENER:
		return new_socket(true);
	case QUEUE:
		return new_queue();
	case TIMER:
		return timerfd_create(CLOCK_MONOTONIC, 0);
	case EVENT:
		return eventfd(0, 0);
	case INOTIFY:
		return inotify_init();
	case LOCK:
		return new_lock();
	default:
		return 0;
	}
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000.0 + time.tv_nsec / 1e6;
}

static void wait_once(const struct way *way, struct count *count, int fd)
{
	double before = now();
	long result;
	int error;

	errno = 0;
	result = way->wait(fd);
	error = result < 0 ? errno : 0;
	if (error == EINTR)
		count->interrupted++;
	else if (way->forever || error != way->error || result > 0)
		count->other++;
	/* The clocks of some waits tick a little out of step. */
	else if (now() - before < period_ms - 1.0)
		count->early++;
	if (error != way->error)
		count->last_error = error;
	count->waits++;
}

static void *waiter(void *argument)
{
	const struct way *way = argument;
	int fd = make(way->needs);

	if (fd < 0) {
		counts[way - ways].other++;
		counts[way - ways].last_error = errno;
		return NULL;
	}
	while (!finished)
		wait_once(way, &counts[way - ways], fd);
	return NULL;
}

static void *caller(void *unused)
{
	for (long i = 0; !finished; i++)
		if (f1(i) != i + 1)
			_exit(1);
	return unused;
}

static void prepare(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	semaphores = semget(IPC_PRIVATE, 2, 0600);
	messages = msgget(IPC_PRIVATE, 0600);
}

static int is_over(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, 10) > 0;
}

int main(int argc, char **argv)
{
	long seconds = argc > 2 ? atol(argv[2]) : 1;
	pthread_t id;

	period_ms = argc > 1 ? atol(argv[1]) : 100;
	period = (struct timespec){ period_ms / 1000,
				    period_ms % 1000 * 1000000 };
	period_timeval = (struct timeval){ period_ms / 1000,
					   period_ms % 1000 * 1000 };
	prepare();
	for (int i = 0; i < WAYS; i++)
		pthread_create(&id, NULL, waiter, (void *)&ways[i]);
	pthread_create(&id, NULL, caller, NULL);
	printf("ready\n");
	fflush(stdout);
	for (double end = now() + seconds * 1000.0; now() < end && !is_over();)
		;
	finished = 1;
	/* Each wait that has an end is waited for. */
	usleep(period_ms * 1000 + 200000);
	for (int i = 0; i < WAYS; i++)
		printf("%s waits %ld interrupted %ld early %ld other %ld "
		       "error %d\n", ways[i].name, counts[i].waits,
		       counts[i].interrupted, counts[i].early,
		       counts[i].other, counts[i].last_error);
	semctl(semaphores, 0, IPC_RMID);
	msgctl(messages, IPC_RMID, NULL);
	fflush(stdout);
	_exit(7);
}
