/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "debuginfo/child.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

static int fork_child(int socket, void (*live)(int socket))
{
	pid_t pid = fork();
	int pidfd;

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		live(socket);
		_exit(0);
	}
	/* Nobody has reaped it yet: nothing was waited for since. */
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return pidfd < 0 ? -errno : pidfd;
}

/*
 * It ends with its socket. (PR_SET_PDEATHSIG would end it with the thread that
 * traces, before results are written.)
 */
int child_start(struct child *child, int type, void (*live)(int socket))
{
	int sockets[2];
	int pidfd;

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	pidfd = fork_child(sockets[1], live);
	close(sockets[1]);
	if (pidfd < 0) {
		close(sockets[0]);
		return pidfd;
	}
	*child = (struct child){ sockets[0], pidfd };
	return 0;
}

void child_end(struct child *child)
{
	siginfo_t info;

	(void)syscall(SYS_pidfd_send_signal, child->pidfd, SIGKILL, NULL, 0);
	while (waitid(P_PIDFD, child->pidfd, &info, WEXITED) &&
	       errno == EINTR)
		;
	child_leave(child);
}

void child_leave(struct child *child)
{
	close(child->pidfd);
	close(child->socket);
}
