/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Jobs come from a pool that takes slabs of sixteen. A job that fails isn't put
 * back, so the pool needs another slab every second or so. The slabs are in a
 * list and not lost, but nobody uses them any more.
 */
#include "server.h"

#define SLAB 16

struct job {
	struct job *next;
	char work[120];
};

struct slab {
	struct slab *next;
	struct job jobs[SLAB];
};

static struct slab *slabs;
static struct job *spare;

static void grow_pool(void)
{
	struct slab *s = malloc(sizeof(*s));

	s->next = slabs;
	slabs = s;
	for (int i = 0; i < SLAB; i++) {
		s->jobs[i].next = spare;
		spare = &s->jobs[i];
	}
}

static struct job *take_job(void)
{
	struct job *j;

	if (!spare)
		grow_pool();
	j = spare;
	spare = j->next;
	return j;
}

static void run_job(void)
{
	struct job *j = take_job();

	snprintf(j->work, sizeof(j->work), "job");
	if (pick(5) == 0)
		return;
	j->next = spare;
	spare = j;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(12))
		run_job();
	return 0;
}
