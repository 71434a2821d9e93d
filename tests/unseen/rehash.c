/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A table of open files. Files are opened and closed by chance, around 150 of
 * them are open; the table is made anew when it has become too full or empty.
 */
#include "server.h"

struct file {
	struct file *next;
	unsigned int number;
	char path[60];
};

static struct file **buckets;
static unsigned int n_buckets, n_files, numbers;

static struct file **new_buckets(unsigned int n)
{
	return calloc(n, sizeof(struct file *));
}

static void rehash(unsigned int n)
{
	struct file **to = new_buckets(n), *f;

	for (unsigned int i = 0; i < n_buckets; i++) {
		while ((f = buckets[i])) {
			buckets[i] = f->next;
			f->next = to[f->number % n];
			to[f->number % n] = f;
		}
	}
	free(buckets);
	buckets = to;
	n_buckets = n;
}

static void open_file(void)
{
	struct file *f = malloc(sizeof(*f));
	struct file **bucket;

	f->number = numbers++;
	snprintf(f->path, sizeof(f->path), "/tmp/file%u", f->number);
	bucket = &buckets[f->number % n_buckets];
	f->next = *bucket;
	*bucket = f;
	n_files++;
}

static void close_file(void)
{
	struct file **bucket = &buckets[pick(n_buckets)], *f;

	while (*bucket && (*bucket)->next)
		bucket = &(*bucket)->next;
	f = *bucket;
	if (!f)
		return;
	*bucket = NULL;
	free(f);
	n_files--;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	rehash(16);
	while (serving(8)) {
		if (n_files < 100 + pick(100))
			open_file();
		else
			close_file();
		if (n_files > 3 * n_buckets)
			rehash(2 * n_buckets);
		else if (n_files < n_buckets)
			rehash(n_buckets / 2);
	}
	return 0;
}
