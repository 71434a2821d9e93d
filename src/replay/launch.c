/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/launch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay/worker.h"

/* What an allocator prints must not get among ours. */
static NO_RETURN void be_worker(int plan, int result, const char *file,
				bool check_only)
{
	char plan_text[16], result_text[16];
	char *arguments[] = {
		"calltrap",
		WORKER_ARGUMENT,
		plan_text,
		result_text,
		check_only ? WORKER_CHECK : WORKER_RUN,
		(char *)file,
		NULL,
	};

	snprintf(plan_text, sizeof(plan_text), "%d", plan);
	snprintf(result_text, sizeof(result_text), "%d", result);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	if (*file)
		setenv("LD_PRELOAD", file, true);
	else
		unsetenv("LD_PRELOAD");
	execv("/proc/self/exe", arguments);
	_exit(127);
}

static void tell_status(int status, struct replay_result *result)
{
	char *problem = result->problem;

	if (*problem)
		return;
	if (WIFSIGNALED(status))
		snprintf(problem, sizeof(result->problem),
			 "the process was ended by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(problem, sizeof(result->problem),
			 "the process ended with status %d",
			 WEXITSTATUS(status));
}

static int run_worker(int plan, int fd, const char *file, bool check_only,
		      struct replay_result *result)
{
	int status;
	pid_t child = fork();

	if (child < 0)
		return -errno;
	if (!child)
		be_worker(plan, fd, file, check_only);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (result->done && !status)
		return 0;
	tell_status(status, result);
	return -ECHILD;
}

int launch_plan(int plan, const char *file, bool check_only,
		struct replay_result *ret)
{
	int fd = memfd_create("calltrap-result", 0), err;
	struct replay_result *result = MAP_FAILED;

	memset(ret, 0, sizeof(*ret));
	if (fd >= 0 && !ftruncate(fd, sizeof(*result)))
		result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE,
			      MAP_SHARED, fd, 0);
	if (result == MAP_FAILED) {
		err = -errno;
	} else {
		err = run_worker(plan, fd, file, check_only, result);
		*ret = *result;
		ret->problem[sizeof(ret->problem) - 1] = 0;
		munmap(result, sizeof(*result));
	}
	if (fd >= 0)
		close(fd);
	return err;
}
