/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Measurements of forty machines, kept in steps of a second for 45 seconds; what
 * is older becomes a sum. A thread takes them in, another one answers questions
 * about the last while.
 * needs: -pthread
 */
#include <pthread.h>
#include "server.h"

#define STEPS    45
#define MACHINES 40

struct step {
	struct sample *samples;
	unsigned int second;
};

struct sample {
	struct sample *next;
	unsigned int machine;
	double value;
	char unit[24];
};

static struct step steps[STEPS];
static double sums[MACHINES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct sample *new_sample(unsigned int machine, struct sample *next)
{
	struct sample *sample = malloc(sizeof(*sample));

	sample->machine = machine;
	sample->value = pick(1000) / 10.0;
	strcpy(sample->unit, "requests a second");
	sample->next = next;
	return sample;
}

static void sum_up(struct step *step)
{
	struct sample *sample = step->samples, *next;

	for (; sample; sample = next) {
		next = sample->next;
		sums[sample->machine] += sample->value;
		free(sample);
	}
	step->samples = NULL;
}

static void measure(unsigned int second)
{
	struct step *step = &steps[second % STEPS];

	pthread_mutex_lock(&lock);
	if (step->second != second)
		sum_up(step);
	step->second = second;
	step->samples = new_sample(pick(MACHINES), step->samples);
	pthread_mutex_unlock(&lock);
}

static double *collect(unsigned int machine, unsigned int *count)
{
	double *values = NULL;

	*count = 0;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < STEPS; i++)
		for (struct sample *sample = steps[i].samples; sample;
		     sample = sample->next) {
			if (sample->machine != machine)
				continue;
			values = realloc(values, ++*count * sizeof(*values));
			values[*count - 1] = sample->value;
		}
	pthread_mutex_unlock(&lock);
	return values;
}

static void *answer(void *unused)
{
	unsigned int count;

	while (serving(60)) {
		double *values = collect(pick(MACHINES), &count);

		use(values);
		free(values);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	serve_for(argc, argv);
	for (unsigned int i = 0; i < STEPS * 20; i++)
		measure(1000 + i / 20);
	pthread_create(&thread, NULL, answer, NULL);
	while (serving(50))
		measure(1000 + STEPS + (unsigned int)uptime());
	pthread_join(thread, NULL);
	return 0;
}
