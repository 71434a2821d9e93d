/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay/answers.h"
#include "replay/perform.h"

/*
 * The result is the other process's, and lies in memory: what is wrong is told
 * there.
 */
static void *map(const char *descriptor, int protection)
{
	char *end;
	long fd = strtol(descriptor, &end, 10);
	struct stat is;
	void *memory;

	if (*end || fd < 0 || fd > INT32_MAX || fstat(fd, &is))
		return NULL;
	memory = mmap(NULL, is.st_size, protection, MAP_SHARED | MAP_POPULATE,
		      fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

/* What was recorded may need more memory than this machine has: then nobody
   else is to be ended for it. */
static void be_first_to_go(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	ssize_t written UNUSED;

	if (fd < 0)
		return;
	written = write(fd, "1000", 4); /* or it is as good a choice as any */
	close(fd);
}

void worker_main(int argc, char **argv)
{
	const struct replay_plan *plan;
	struct replay_result *result;

	if (argc != 6)
		_exit(EXIT_FAILURE);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	be_first_to_go();
	plan = map(argv[2], PROT_READ);
	result = map(argv[3], PROT_READ | PROT_WRITE);
	if (!plan || !result)
		_exit(EXIT_FAILURE);
	if (!answers_check(argv[5], plan->has_aligned, result->problem,
			   sizeof(result->problem)))
		_exit(EXIT_FAILURE);
	if (strcmp(argv[4], WORKER_CHECK) && !perform(plan, result))
		_exit(EXIT_FAILURE);
	result->done = true;
	/* Not by way of what an allocator does at the end. */
	_exit(EXIT_SUCCESS);
}
