/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Runs jobs when they are due. Most jobs enter themselves again and keep what
 * they were given; one that is cancelled in the meantime is freed without it.
 */
#include "server.h"

#define JOBS 30

struct job {
	double due;
	int is_cancelled;
	char **arguments;
};

static struct job *jobs[JOBS];

static char **copy_arguments(unsigned int number)
{
	char **arguments = calloc(3, sizeof(char *));

	arguments[0] = malloc(16);
	snprintf(arguments[0], 16, "job %u", number);
	return arguments;
}

static struct job *new_job(unsigned int number)
{
	struct job *j = malloc(sizeof(*j));

	j->due = uptime() + 0.2 + pick(30) / 10.0;
	j->is_cancelled = 0;
	j->arguments = copy_arguments(number);
	return j;
}

static void end_job(struct job *j)
{
	if (!j->is_cancelled) {
		free(j->arguments[0]);
		free(j->arguments);
	}
	free(j);
}

static void run_due(void)
{
	for (unsigned int i = 0; i < JOBS; i++) {
		if (jobs[i]->due > uptime())
			continue;
		if (!jobs[i]->is_cancelled && pick(2)) {
			jobs[i]->due = uptime() + 0.5;
			continue;
		}
		end_job(jobs[i]);
		jobs[i] = new_job(i);
	}
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; i < JOBS; i++)
		jobs[i] = new_job(i);
	while (serving(50)) {
		run_due();
		if (pick(10) == 0)
			jobs[pick(JOBS)]->is_cancelled = 1;
	}
	return 0;
}
