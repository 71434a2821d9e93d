/* SPDX-License-Identifier: GPL-2.0-or-later */
/* work THREADS CALLS: calls f1 CALLS times in all, spread over threads. */

#include <pthread.h>
#include <stdlib.h>

long f1(long i);

static long each;

static void *work(void *unused)
{
	for (long i = 0; i < each; i++)
		f1(i);
	return unused;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t ids[64];

	each = (argc > 2 ? atol(argv[2]) : 1) / n;
	if (n == 1)
		return work(NULL) != NULL;
	for (int i = 0; i < n && i < 64; i++)
		pthread_create(&ids[i], NULL, work, NULL);
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(ids[i], NULL);
	return 0;
}
