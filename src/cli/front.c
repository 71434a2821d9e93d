/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/front.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/types.h"
#include "sysdeps/linux/descriptors.h"

/* What the second process asks for by sigqueue(). */
#define RELEASE (SIGRTMIN)

/* ---- in the front ---- */

/* As the other was, so that a shell sees the same. */
static NO_RETURN void end_by(int signal)
{
	const struct rlimit none = { 0 };
	sigset_t set;

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL },
			NULL);
	sigemptyset(&set);
	sigaddset(&set, signal);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	_exit(128 + signal);
}

static void end_with(pid_t worker)
{
	int status;

	if (waitpid(worker, &status, WNOHANG) != worker)
		return;
	if (WIFSIGNALED(status))
		end_by(WTERMSIG(status));
	_exit(WEXITSTATUS(status));
}

/* A shell waits for this process, and wants to see it stopped. */
static void stop_by(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static bool stops(int signal)
{
	return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* Those of a terminal go to the whole group; the other has them as well. */
static void pass_on(const siginfo_t *info, pid_t worker)
{
	if (info->si_signo == SIGCHLD)
		return;
	if (info->si_signo == RELEASE && info->si_pid == worker &&
	    info->si_code == SI_QUEUE)
		_exit(info->si_value.sival_int);
	if (info->si_code <= 0)
		(void)kill(worker, info->si_signo);
	if (stops(info->si_signo))
		stop_by(info->si_signo);
}

/* What came before there were two: it waits here alone (signals_hold()). */
static void pass_on_early(pid_t worker)
{
	sigset_t early;
	int number;

	sigpending(&early);
	for (number = 1; number < NSIG; number++)
		if (number != SIGCHLD && sigismember(&early, number) == 1)
			(void)kill(worker, number);
}

static NO_RETURN void run_front(pid_t worker)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	pass_on_early(worker);
	while (true) {
		siginfo_t info;

		end_with(worker);
		if (sigwaitinfo(&all, &info) > 0)
			pass_on(&info, worker);
	}
}

/* ---- in the other ---- */

/* Unless it has gone already: nothing has begun, so nothing is missed. */
static void watch_front(pid_t front)
{
	prctl(PR_SET_PDEATHSIG, FRONT_GONE);
	if (getppid() != front)
		_exit(EXIT_FAILURE);
	prctl(PR_SET_NAME, FRONT_WORKER_NAME);
}

pid_t front_begin(void)
{
	const struct sigaction usual = { .sa_handler = SIG_DFL };
	struct sigaction former;
	pid_t front = getpid(), worker;

	/* Ignored, a child that ends would leave no status. */
	sigaction(SIGCHLD, &usual, &former);
	worker = fork();
	if (worker > 0)
		run_front(worker);
	sigaction(SIGCHLD, &former, NULL);
	if (worker < 0)
		return 0; /* one process will do, if there can't be two */
	watch_front(front);
	return front;
}

/* Whoever waits for the end of what we write must not wait for us. */
static void leave_descriptors(void)
{
	int fd = descriptor_of_nothing(), i;

	for (i = STDIN_FILENO; fd >= 0 && i <= STDERR_FILENO; i++)
		(void)dup2(fd, i);
	if (fd >= 0)
		close(fd);
}

void front_release(pid_t front, int status)
{
	const union sigval value = { .sival_int = status };

	leave_descriptors();
	if (!front)
		return;
	prctl(PR_SET_PDEATHSIG, 0);
	if (getppid() == front)
		(void)sigqueue(front, RELEASE, value);
}
