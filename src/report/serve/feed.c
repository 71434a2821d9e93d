/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/serve/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"

struct feed {
	struct feed_board *board;
	int socket;
	pid_t pid;
};

/* For libraries to be loaded, and for the end of what is being sent. */
#define START_PATIENCE 10000
#define END_PATIENCE   1000

/* ---- the process's beginning ---- */

/* Those that end us are for the process that traces: we end with it. */
static void settle_signals(void)
{
	static const int usual[] = { SIGCHLD, SIGSEGV, SIGBUS,  SIGILL,
				     SIGFPE,  SIGABRT, SIGTRAP, SIGALRM };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_IGN);
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		signal(usual[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* To be nobody is enough for who speaks with others. */
#define NOBODY 65534

static void drop_rights(void)
{
	const struct rlimit none = { 0 };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)setrlimit(RLIMIT_CORE, &none);
	if (geteuid() || setgroups(0, NULL) ||
	    setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return;
}

/* The two that it needs become 3 and 4. */
#define OWN_SOCKET 3
#define OWN_OTHER  4

static bool keep_only(int socket, int fd)
{
	int high = fcntl(socket, F_DUPFD, OWN_OTHER + 1);
	int other = fd < 0 ? -1 : fcntl(fd, F_DUPFD, OWN_OTHER + 1);

	if (high < 0 || dup2(high, OWN_SOCKET) < 0 ||
	    (fd >= 0 && (other < 0 || dup2(other, OWN_OTHER) < 0)))
		return false;
	closefrom(fd < 0 ? OWN_OTHER : OWN_OTHER + 1);
	return fcntl(OWN_SOCKET, F_SETFD, FD_CLOEXEC) != -1;
}

static NO_RETURN void live(const struct feed_life *life, const int sockets[2],
			   int fd, struct feed_board *board, pid_t parent)
{
	const struct feed_end end = { board, OWN_SOCKET };

	settle_signals();
	prctl(PR_SET_NAME, life->name);
	if (!keep_only(sockets[1], fd))
		_exit(EXIT_FAILURE);
	drop_rights();
	/* A change of rights would have undone it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		life->live(&end, fd < 0 ? -1 : OWN_OTHER, life->context);
	_exit(EXIT_SUCCESS);
}

void feed_ready(const struct feed_end *end, int err)
{
	(void)send(end->socket, &err, sizeof(err), MSG_NOSIGNAL);
}

static int wait_until_ready(int socket)
{
	struct pollfd pollfd = { .fd = socket, .events = POLLIN };
	int err;

	if (poll(&pollfd, 1, START_PATIENCE) <= 0 ||
	    recv(socket, &err, sizeof(err), MSG_DONTWAIT) != sizeof(err))
		return -EPIPE;
	return err;
}

static struct feed_board *new_board(void)
{
	void *board = mmap(NULL, sizeof(struct feed_board),
			   PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);

	return board == MAP_FAILED ? NULL : board;
}

int feed_start(const struct feed_life *life, int fd, struct feed **ret)
{
	struct feed_board *board = new_board();
	pid_t pid, own = getpid();
	struct feed *feed;
	int sockets[2], err;

	if (!board)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) {
		err = -errno;
		munmap(board, sizeof(*board));
		return err;
	}
	pid = fork();
	if (!pid)
		live(life, sockets, fd, board, own);
	err = pid < 0 ? -errno : 0;
	close(sockets[1]);
	feed = xcalloc(1, sizeof(*feed));
	*feed = (struct feed){ board, sockets[0], pid };
	if (!err)
		err = wait_until_ready(feed->socket);
	if (err) {
		feed_free(feed);
		return err;
	}
	*ret = feed;
	return 0;
}

/* It has been waited for before, perhaps: who traces reaps whoever ends. */
static void end(pid_t pid)
{
	const struct timespec moment = { .tv_nsec = 5000000 };
	siginfo_t info = { 0 };

	for (int i = 0; i < END_PATIENCE / 5; i++) {
		if (waitid(P_PID, pid, &info, WEXITED | WNOHANG) || info.si_pid)
			return;
		nanosleep(&moment, NULL);
	}
	if (waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT))
		return;
	(void)kill(pid, SIGKILL);
	while (waitid(P_PID, pid, &info, WEXITED) && errno == EINTR)
		;
}

void feed_free(struct feed *feed)
{
	if (!feed)
		return;
	/* Others may have inherited it. */
	(void)shutdown(feed->socket, SHUT_RDWR);
	close(feed->socket);
	if (feed->pid > 0)
		end(feed->pid);
	munmap(feed->board, sizeof(*feed->board));
	free(feed);
}

struct feed_board *feed_board(const struct feed *feed)
{
	return feed->board;
}

int feed_socket(const struct feed *feed)
{
	return feed->socket;
}

/* ---- documents ---- */

static int file_of(const struct strbuf *text)
{
	int fd = memfd_create("calltrap-document", MFD_CLOEXEC);
	size_t at = 0;

	while (fd >= 0 && at < text->length) {
		ssize_t n = write(fd, text->text + at, text->length - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			close(fd);
			return -1;
		}
		at += n;
	}
	return fd;
}

bool feed_send(int socket, const struct feed_head *head,
	       const struct strbuf *text)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { .iov_base = (void *)head,
			      .iov_len = sizeof(*head) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int fd = text ? file_of(text) : -1;
	bool sent;

	if (text && fd < 0)
		return false;
	if (text) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		*CMSG_FIRSTHDR(&message) = (struct cmsghdr){
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(sizeof(int)),
		};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &fd, sizeof(fd));
	}
	sent = sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof(*head);
	if (fd >= 0)
		close(fd);
	return sent;
}

unsigned long feed_ask(const struct feed_end *end, unsigned documents)
{
	atomic_fetch_or(&end->board->wanted,
			documents | DOCUMENT_BIT(DOCUMENT_COMMAND));
	return atomic_fetch_add(&end->board->asked, 1) + 1;
}

int feed_receive(const struct feed_end *end, struct feed_head *ret, int *fd_ret)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { .iov_base = ret, .iov_len = sizeof(*ret) };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n =
		recvmsg(end->socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	*fd_ret = -1;
	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	if (n != sizeof(*ret))
		return 0;
	if (head && head->cmsg_type == SCM_RIGHTS)
		memcpy(fd_ret, CMSG_DATA(head), sizeof(*fd_ret));
	ret->name[sizeof(ret->name) - 1] = '\0';
	return 1;
}
