/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/screen/live.h"

struct live_picture *live_blank(struct live_shared *shared)
{
	unsigned latest = atomic_load(&shared->latest);
	/* The other process may write anything there. */
	unsigned reading = atomic_load(&shared->reading) % 3;
	unsigned i = 0;

	while (i == latest || i == reading)
		i++;
	return &shared->pictures[i];
}

void live_publish(struct live_shared *shared, const struct live_picture *done)
{
	atomic_store(&shared->latest, (unsigned)(done - shared->pictures));
}

/* What is latest may be another one by the time that it is said to be read. */
const struct live_picture *live_read(struct live_shared *shared)
{
	unsigned latest;

	do {
		latest = atomic_load(&shared->latest);
		atomic_store(&shared->reading, latest);
	} while (latest != atomic_load(&shared->latest));
	return &shared->pictures[latest];
}

static void halve(struct live_spark *spark)
{
	for (unsigned i = 0; i < LIVE_SPARK / 2; i++)
		spark->points[i] =
			(spark->points[2 * i] + spark->points[2 * i + 1]) / 2;
	spark->count = LIVE_SPARK / 2;
	spark->merged *= 2;
}

void live_spark_add(struct live_spark *spark, double number)
{
	float *last;

	if (!spark->merged)
		spark->merged = 1;
	if (!spark->pending && spark->count == LIVE_SPARK)
		halve(spark);
	if (!spark->pending)
		spark->points[spark->count++] = 0;
	last = &spark->points[spark->count - 1];
	*last += (number - *last) / ++spark->pending;
	if (spark->pending == spark->merged)
		spark->pending = 0;
}
