/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/account.h"
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
	int failed[2]; /* a struct launch_failure */
};

static int become(const struct launch_user *user)
{
	int err;

	if (!user)
		return 0;
	err = account_take_groups(user->name, user->gid);
	if (err)
		return err;
	return setgid(user->gid) || setuid(user->uid) ? -errno : 0;
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

static NO_RETURN void run_child(const char *program,
				const struct launch_config *config,
				const struct pipes *pipes)
{
	struct launch_failure failure = { .step = STEP_USER };
	char byte;

	close(pipes->go[1]);
	if (read(pipes->go[0], &byte, 1) != 1)
		_exit(127);
	failure.error = become(config->user);
	if (!failure.error) {
		failure.step = STEP_EXEC;
		inheritance_restore(config->inheritance);
		execv(program, config->command);
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
		if (!stat(program, &st) && S_ISDIR(st.st_mode))
			return xasprintf("%s: is a directory", program);
		return xasprintf("%s: not executable (permission denied)",
				 program);
	case ENOEXEC:
		return xasprintf("%s: neither a program nor a script that "
				 "names its interpreter (#!)",
				 program);
	default:
		return xasprintf("%s: %s", program, strerror(-failure->error));
	}
}

/* Resumes a child that has stopped on its way to its program. */
static bool pass_on(pid_t pid, int status)
{
	struct stop stop = stop_classify(status);

	switch (stop.kind) {
	case STOP_EXEC:
	case STOP_EXITED:
	case STOP_KILLED:
		return false;
	case STOP_GROUP:
		(void)ptrace_listen(pid);
		return true;
	case STOP_SIGNAL:
	case STOP_TRAP:
		(void)ptrace_continue(pid, stop.signal);
		return true;
	default:
		(void)ptrace_continue(pid, 0);
		return true;
	}
}

/* Until the exec, or the end. A signal may have come just before a wait. */
static int await_exec(pid_t pid, const volatile sig_atomic_t *leave,
		      int *status_ret)
{
	while (!*leave) {
		pid_t tid = waitpid(pid, status_ret, __WALL);

		if (tid < 0 && errno != EINTR)
			return -errno;
		if (tid > 0 && !pass_on(pid, *status_ret))
			return 0;
	}
	return -EINTR;
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
	/* It may be read when the child is gone, but not its descriptors. */
	if (pipe2(pipes->failed, O_CLOEXEC | O_NONBLOCK)) {
		close(pipes->go[0]);
		close(pipes->go[1]);
		return -errno;
	}
	return 0;
}

/* A child that never got to its program is no tracee; it has ended, or will. */
static void forget(struct tracer *tracer, pid_t pid)
{
	struct task *task = task_find(tracer, pid);
	struct tracee *tracee = tracee_find(tracer, pid);

	if (task)
		task_free(tracer, task);
	if (tracee)
		tracee_free(tracer, tracee);
}

/*
 * All signals are blocked in the child: the handlers that it has are ours.
 * Returns it, or a negative errno.
 */
static pid_t fork_child(const char *program, const struct launch_config *config,
			const struct pipes *pipes)
{
	sigset_t all, own;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &own);
	pid = fork();
	if (pid == 0)
		run_child(program, config, pipes);
	if (pid < 0)
		pid = -errno;
	pthread_sigmask(SIG_SETMASK, &own, NULL);
	return pid;
}

static pid_t start(const char *program, const struct launch_config *config,
		   struct pipes *pipes)
{
	int err = open_pipes(pipes);
	pid_t pid;

	if (err)
		return err;
	pid = fork_child(program, config, pipes);
	if (pid < 0)
		close_pipes(pipes);
	return pid;
}

/* Lets the child go on to its program; failure_ret says how it failed there. */
static int follow_to_exec(struct tracer *tracer, pid_t pid, struct pipes *pipes,
			  const struct launch_config *config,
			  struct launch_failure *failure_ret)
{
	int status, err = release_child(tracer, pid, pipes);

	if (!err)
		err = await_exec(pid, config->leave, &status);
	if (err) {
		*failure_ret = (struct launch_failure){ STEP_EXEC, err };
		kill(pid, SIGKILL);
	} else if (read(pipes->failed[0], failure_ret, sizeof(*failure_ret)) ==
		   sizeof(*failure_ret)) {
		err = failure_ret->error;
	} else {
		tracer_queue_stop(tracer, pid, status);
	}
	close_pipes(pipes);
	if (err)
		forget(tracer, pid);
	return err;
}

int launch(struct tracer *tracer, const struct launch_config *config,
	   pid_t *pid_ret, char **message_ret)
{
	const char *name = config->command[0];
	char *program CLEANUP(xfree_cleanup) = find_program(name);
	struct launch_failure failure;
	struct pipes pipes;
	pid_t pid;
	int err;

	*message_ret = NULL;
	if (!program) {
		*message_ret = xasprintf("%s: command not found", name);
		return -ENOENT;
	}
	pid = start(program, config, &pipes);
	if (pid < 0) {
		*message_ret = xasprintf("%s can't be started: %s", name,
					 strerror(-pid));
		return pid;
	}
	err = follow_to_exec(tracer, pid, &pipes, config, &failure);
	if (err && err != -EINTR)
		*message_ret = explain(program, &failure, config->user);
	*pid_ret = pid;
	return err;
}
