/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Samples of the last twenty seconds, each with its labels; those that are older
 * are dropped. So there are ever more for twenty seconds, and then no more.
 */
#include "server.h"

struct sample {
	struct sample *next;
	double at, value;
	char *labels;
};

static struct sample *first, **end = &first;

static char *join_labels(unsigned int sensor)
{
	char *labels;

	if (asprintf(&labels, "sensor=%u,unit=C", sensor) < 0)
		exit(1);
	return labels;
}

static struct sample *take_sample(unsigned int sensor)
{
	struct sample *s = calloc(1, sizeof(*s));

	s->at = uptime();
	s->value = pick(100);
	s->labels = join_labels(sensor);
	return s;
}

static void drop_old(void)
{
	struct sample *s;

	while ((s = first) && s->at < uptime() - 20) {
		first = s->next;
		if (!first)
			end = &first;
		free(s->labels);
		free(s);
	}
}

int main(int argc, char **argv)
{
	struct sample *s;

	serve_for(argc, argv);
	while (serving(60)) {
		s = take_sample(pick(9));
		*end = s;
		end = &s->next;
		drop_old();
	}
	return 0;
}
