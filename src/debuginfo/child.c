/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "debuginfo/child.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sysdeps/linux/newer_calls.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

static int fork_child(int socket, void (*live)(int socket), pid_t *pid_ret)
{
	pid_t pid = fork();
	int pidfd;

	*pid_ret = pid;
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		live(socket);
		_exit(0);
	}
	/* Nobody has reaped it yet: nothing was waited for since. */
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return pidfd < 0 && !call_is_missing(errno) ? -errno : pidfd;
}

/*
 * It ends with its socket. (PR_SET_PDEATHSIG would end it with the thread that
 * traces, before results are written.)
 */
int child_start(struct child *child, int type, void (*live)(int socket))
{
	int sockets[2];
	pid_t pid;
	int pidfd;

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	pidfd = fork_child(sockets[1], live, &pid);
	close(sockets[1]);
	if (pidfd < -1) {
		close(sockets[0]);
		return pidfd;
	}
	*child = (struct child){ sockets[0], pidfd, pid };
	return 0;
}

/*
 * Without a pidfd: as long as it can be waited for, the number is its own.
 * (Only another thread that reaps it just now could let it be given away.)
 */
static void end_by_pid(pid_t pid)
{
	siginfo_t info;

	if (waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT))
		return;
	(void)kill(pid, SIGKILL);
	while (waitid(P_PID, pid, &info, WEXITED) && errno == EINTR)
		;
}

/*
 * False if one of these calls isn't there: they came one after another, and
 * filters of containers know some of them only.
 */
static bool end_by_pidfd(int pidfd)
{
	siginfo_t info;
	int status;

	if (syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) &&
	    errno != ESRCH)
		return false;
	do
		status = waitid(P_PIDFD, pidfd, &info, WEXITED);
	while (status && errno == EINTR);
	return !status || errno == ECHILD;
}

void child_end(struct child *child)
{
	if (child->pidfd < 0 || !end_by_pidfd(child->pidfd))
		end_by_pid(child->pid);
	child_leave(child);
}

void child_leave(struct child *child)
{
	if (child->pidfd >= 0)
		close(child->pidfd);
	close(child->socket);
}
