/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Builds in rounds: all jobs of a round are made at once, then done one after
 * the other over some seconds, each freed when it was done.
 */
#include "server.h"

struct job {
	struct job *next;
	char *command;
};

static struct job *waiting;

static struct job *new_job(unsigned int number)
{
	struct job *j = malloc(sizeof(*j));

	j->command = malloc(40 + pick(100));
	sprintf(j->command, "cc -c file%u.c", number);
	j->next = NULL;
	return j;
}

static void plan_round(void)
{
	for (unsigned int i = 0; i < 150 + pick(150); i++) {
		struct job *j = new_job(i);

		j->next = waiting;
		waiting = j;
	}
}

static char *run_job(const struct job *j)
{
	char *output = malloc(500);

	snprintf(output, 500, "done: %s", j->command);
	return output;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(30)) {
		struct job *j = waiting;
		char *output;

		if (!j) {
			plan_round();
			continue;
		}
		output = run_job(j);
		use(output);
		free(output);
		waiting = j->next;
		free(j->command);
		free(j);
	}
	return 0;
}
