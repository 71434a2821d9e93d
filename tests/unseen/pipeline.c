/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Three threads: one reads records, one changes them, one writes them. Records
 * are passed on by pointer through pipes, and freed by the last thread.
 */
#include "server.h"
#include <pthread.h>

struct record {
	char *raw, *text;
};

static int to_change[2], to_write[2];

static struct record *read_record(unsigned int number)
{
	struct record *r = calloc(1, sizeof(*r));

	if (asprintf(&r->raw, "%u;%u", number, pick(1000)) < 0)
		exit(1);
	return r;
}

static char *convert(const char *raw)
{
	char *text = malloc(2 * strlen(raw) + 20);

	sprintf(text, "{\"record\": \"%s\"}", raw);
	return text;
}

static void *change(void *unused)
{
	struct record *r;

	while (read(to_change[0], &r, sizeof(r)) == sizeof(r)) {
		r->text = convert(r->raw);
		if (write(to_write[1], &r, sizeof(r)) < 0)
			break;
	}
	close(to_write[1]);
	return unused;
}

static void *write_out(void *unused)
{
	struct record *r;

	while (read(to_write[0], &r, sizeof(r)) == sizeof(r)) {
		if (pick(20) == 0)
			usleep(100000);
		free(r->raw);
		free(r->text);
		free(r);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	struct record *r;

	serve_for(argc, argv);
	if (pipe(to_change) || pipe(to_write))
		return 1;
	pthread_create(&threads[0], NULL, change, NULL);
	pthread_create(&threads[1], NULL, write_out, NULL);
	for (unsigned int i = 0; serving(15); i++) {
		r = read_record(i);
		if (write(to_change[1], &r, sizeof(r)) < 0)
			return 1;
	}
	close(to_change[1]);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
