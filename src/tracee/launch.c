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

/*
 * As execvp() searches, which would go on to run what is neither ELF nor "#!"
 * with a shell: that is no program to trace. The result is to be freed.
 */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH"), *end;
	struct stat st;

	if (strchr(name, '/'))
		return xstrdup(name);
	for (path = path ? path : "/bin:/usr/bin"; *path;
	     path = *end ? end + 1 : end) {
		char *file;

		end = strchrnul(path, ':');
		file = xasprintf("%.*s%s%s", (int)(end - path), path,
				 end > path ? "/" : "", name);
		if (!stat(file, &st) && S_ISREG(st.st_mode) &&
		    !access(file, X_OK))
			return file;
		free(file);
	}
	return NULL;
}

static NO_RETURN void run_child(const char *program, char **command,
				const struct launch_user *user,
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
		execv(program, command);
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
		return xasprintf("%s: no such file", program);
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
	if (pipes->failed[1] >= 0)
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

/* Returns the child, or a negative errno. */
static pid_t start(const char *program, char **command,
		   const struct launch_user *user, struct pipes *pipes)
{
	int err = open_pipes(pipes);
	pid_t pid;

	if (err)
		return err;
	pid = fork();
	if (pid == 0)
		run_child(program, command, user, pipes);
	if (pid > 0)
		return pid;
	err = -errno;
	close_pipes(pipes);
	return err;
}

/* Lets the child go on to its program; failure_ret says how it failed there. */
static int follow_to_exec(struct tracer *tracer, pid_t pid,
			  struct pipes *pipes,
			  struct launch_failure *failure_ret)
{
	int err = release_child(tracer, pid, pipes);

	close(pipes->failed[1]);
	pipes->failed[1] = -1;
	if (!err)
		err = await_exec(pipes, failure_ret);
	else
		*failure_ret = (struct launch_failure){ STEP_EXEC, err };
	close_pipes(pipes);
	if (err)
		forget(tracer, pid);
	return err;
}

int launch(struct tracer *tracer, char **command,
	   const struct launch_user *user, pid_t *pid_ret, char **message_ret)
{
	char *program CLEANUP(xfree_cleanup) = find_program(command[0]);
	struct launch_failure failure;
	struct pipes pipes;
	pid_t pid;
	int err;

	*message_ret = NULL;
	if (!program) {
		*message_ret = xasprintf("%s: command not found", command[0]);
		return -ENOENT;
	}
	pid = start(program, command, user, &pipes);
	if (pid < 0) {
		*message_ret = xasprintf("%s can't be started: %s",
					 command[0], strerror(-pid));
		return pid;
	}
	err = follow_to_exec(tracer, pid, &pipes, &failure);
	if (err)
		*message_ret = explain(program, &failure, user);
	*pid_ret = pid;
	return err;
}
