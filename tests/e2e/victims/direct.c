/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * direct THREADS [all]: each calls malloc and free (all: calloc and realloc,
 * too), directly where it is linked so, from one line of the input to the next.
 * Says where they are, answers further lines with how many rounds each has
 * made, and ends at "end". 7 = all blocks held what was written to them.
 * Built with FORKS, from one line "forks" to the next all threads but the first make
 * their rounds in children.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 16

static volatile int over;
static int all;
static volatile long rounds[THREADS];
static volatile long wrong;
static pthread_barrier_t begin;

static void check(int right)
{
	if (!right)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static unsigned char *grow(unsigned char *block, unsigned char i)
{
	unsigned char *zeros = calloc(3, 1u + i);

	check(zeros && zeros[i] == 0);
	free(zeros);
	return realloc(block, 300);
}

static void make_round(unsigned char i)
{
	unsigned char *block = malloc(10 + i);

	check(!!block);
	memset(block, i, 10);
	if (all)
		block = grow(block, i);
	check(block[0] == i && block[9] == i);
	free(block);
}

#ifdef FORKS
static volatile int forks;

static void make_child(unsigned char i)
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		make_round(i);
		_exit(wrong ? 1 : 7);
	}
	check(child > 0 && waitpid(child, &status, 0) == child &&
	      WIFEXITED(status) && WEXITSTATUS(status) == 7);
}
#endif

static void *run(void *context)
{
	volatile long *own = context;

	pthread_barrier_wait(&begin);
	while (!over) {
#ifdef FORKS
		if (forks && own != rounds)
			make_child((unsigned char)*own);
		else
#endif
			make_round((unsigned char)*own);
		++*own;
	}
	return NULL;
}

static void say_rounds(unsigned count)
{
	unsigned i;

	printf("rounds");
	for (i = 0; i < count; i++)
		printf(" %ld", rounds[i]);
	printf("\n");
}

static char buffer[1 << 16];

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 1, i;
	pthread_t threads[THREADS];
	char line[16];

	all = argc > 2;
	/* No call of our own in between. */
	setvbuf(stdout, buffer, _IOLBF, sizeof(buffer));
	setvbuf(stdin, NULL, _IONBF, 0);
	pthread_barrier_init(&begin, NULL, count + 1);
	for (i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run, (void *)&rounds[i]);
	printf("at %p %p %p %p\nready\n", (void *)malloc, (void *)calloc,
	       (void *)realloc, (void *)free);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	pthread_barrier_wait(&begin);
	while (fgets(line, sizeof(line), stdin) && strcmp(line, "end\n")) {
#ifdef FORKS
		if (!strcmp(line, "forks\n")) {
			forks = !forks;
			continue;
		}
#endif
		say_rounds(count);
	}
	over = 1;
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	say_rounds(count);
	printf("done\n");
	fflush(stdout);
	/* exit() would run libgcc's destructors, which call free as well. */
	_exit(wrong ? 1 : 7);
}
