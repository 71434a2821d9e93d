/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/seize.h"

/* How far the child came. */
enum launch_step {
	STEP_USER,
	STEP_EXEC,
};

struct launch_failure {
	enum launch_step step;
	int error;
};

struct pipes {
	int go[2];     /* one byte: the child has been seized */
	int failed[2]; /* closed by a successful exec */
};

static int become(const struct launch_user *user)
{
	if (!user)
		return 0;
	if (initgroups(user->name, user->gid) || setgid(user->gid) ||
	    setuid(user->uid))
		return -errno;
	return 0;
}

/* What the child inherits must be what it would get without calltrap. */
static void reset_signals(void)
{
	sigset_t none;

	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static NO_RETURN void run_child(char **command, const struct launch_user *user,
				const struct pipes *pipes)
{
	struct launch_failure failure = { .step = STEP_USER };
	char byte;

	close(pipes->go[1]);
	if (read(pipes->go[0], &byte, 1) != 1)
		_exit(127);
	reset_signals();
	failure.error = become(user);
	if (!failure.error) {
		failure.step = STEP_EXEC;
		execvp(command[0], command);
		failure.error = -errno;
	}
	if (write(pipes->failed[1], &failure, sizeof(failure)) < 0)
		_exit(126);
	_exit(127);
}

/*
 * ENOENT with a file that is there: its interpreter isn't. ENOEXEC: neither
 * ELF nor "#!" (a shell would run it as a script; exec doesn't).
 */
static char *explain(const char *program, const struct launch_failure *failure,
		     const struct launch_user *user)
{
	struct stat st;

	if (failure->step == STEP_USER)
		return xasprintf("can't become user %s: %s", user->name,
				 strerror(-failure->error));
	switch (-failure->error) {
	case ENOENT:
		if (strchr(program, '/') && !stat(program, &st))
			return xasprintf("%s: its interpreter (the one named "
					 "in its first line, or its dynamic "
					 "linker) isn't there",
					 program);
		if (strchr(program, '/'))
			return xasprintf("%s: no such file", program);
		return xasprintf("%s: command not found", program);
	case EACCES:
		return xasprintf("%s: not executable (permission denied)",
				 program);
	case ENOEXEC:
		return xasprintf("%s: neither a program nor a script that "
				 "names its interpreter (#!)",
				 program);
	default:
		return xasprintf("%s: %s", program,
				 strerror(-failure->error));
	}
}

/*
 * The exec of a task that was seized stops with PTRACE_EVENT_EXEC; the pipe is
 * closed by then (de_thread and the closing of descriptors come before the
 * stop: begin_new_exec(), fs/exec.c).
 */
static int await_exec(struct pipes *pipes, struct launch_failure *ret)
{
	ssize_t n;

	do
		n = read(pipes->failed[0], ret, sizeof(*ret));
	while (n < 0 && errno == EINTR);
	return n == sizeof(*ret) ? ret->error : 0;
}

static int release_child(struct tracer *tracer, pid_t pid, struct pipes *pipes)
{
	int err = ptrace_seize(pid, SEIZE_OPTIONS | PTRACE_O_EXITKILL);
	struct tracee *tracee;

	if (err)
		return err;
	tracee = tracee_new(tracer, pid, space_new(tracer, pid));
	tracee->started = true;
	task_new(tracer, pid, tracee);
	return write(pipes->go[1], "", 1) == 1 ? 0 : -errno;
}

static void close_pipes(struct pipes *pipes)
{
	close(pipes->go[0]);
	close(pipes->go[1]);
	close(pipes->failed[0]);
	close(pipes->failed[1]);
}

static int open_pipes(struct pipes *pipes)
{
	if (pipe2(pipes->go, O_CLOEXEC))
		return -errno;
	if (pipe2(pipes->failed, O_CLOEXEC)) {
		close(pipes->go[0]);
		close(pipes->go[1]);
		return -errno;
	}
	return 0;
}

/* A child that never got to its program is no tracee. */
static void forget(struct tracer *tracer, pid_t pid)
{
	struct task *task = task_find(tracer, pid);
	struct tracee *tracee = tracee_find(tracer, pid);

	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
	if (task)
		task_free(tracer, task);
	if (tracee)
		tracee_free(tracer, tracee);
}

int launch(struct tracer *tracer, char **command,
	   const struct launch_user *user, pid_t *pid_ret, char **message_ret)
{
	struct launch_failure failure = { .step = STEP_EXEC };
	struct pipes pipes;
	pid_t pid;
	int err = open_pipes(&pipes);

	*message_ret = NULL;
	if (err) {
		*message_ret = xasprintf("pipe: %s", strerror(-err));
		return err;
	}
	pid = fork();
	if (pid == 0)
		run_child(command, user, &pipes);
	err = pid < 0 ? -errno : release_child(tracer, pid, &pipes);
	close(pipes.failed[1]);
	pipes.failed[1] = -1;
	if (!err)
		err = await_exec(&pipes, &failure);
	else
		*message_ret = xasprintf("%s can't be started: %s", command[0],
					 strerror(-err));
	close_pipes(&pipes);
	if (err && !*message_ret)
		*message_ret = explain(command[0], &failure, user);
	if (err && pid > 0)
		forget(tracer, pid);
	*pid_ret = pid;
	return err;
}
