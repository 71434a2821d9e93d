/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Touches pages, of which it says how many; prints the faults of the kernel. */

#define PAGE 4096
#define MANY 2000
#define FEW  700
#define DEPTH 40

static char *map_pages(size_t count)
{
	char *memory = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(99);
	/* A page is a page. */
	madvise(memory, count * PAGE, MADV_NOHUGEPAGE);
	return memory;
}

static __attribute__((noinline)) void touch_many(char *memory)
{
	for (size_t i = 0; i < MANY; i++)
		memory[i * PAGE] = 1; /* the line of many */
}

static __attribute__((noinline)) void touch_few(char *memory)
{
	for (size_t i = 0; i < FEW; i++)
		memory[i * PAGE] = 1; /* the line of few */
}

static __attribute__((noinline)) void *work(void *unused)
{
	char *memory = map_pages(MANY + FEW);

	(void)unused;
	touch_many(memory);
	touch_few(memory + MANY * PAGE);
	return memory;
}

static __attribute__((noinline)) void *work_deafly(void *unused)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	return work(unused);
}

static void run_threads(int count, void *(*function)(void *))
{
	pthread_t threads[16];

	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, function, NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* Frames of a kilobyte. */
static __attribute__((noinline)) void dig(int depth)
{
	volatile char room[1024];

	room[0] = depth;
	if (depth)
		dig(depth - 1);
	else
		touch_few(map_pages(FEW));
	room[1] = room[0];
}

static __attribute__((noinline)) void fill(char *memory)
{
	int zero = open("/dev/zero", O_RDONLY);

	for (size_t i = 0; i < FEW / 10; i++)
		if (read(zero, memory + i * 10 * PAGE, 10 * PAGE) !=
		    10 * PAGE)
			exit(98);
	close(zero);
}

static volatile sig_atomic_t winches;

static void on_winch(int signal)
{
	(void)signal;
	winches++;
}

/* Half of it goes again. */
static __attribute__((noinline)) void give_back(void)
{
	char *memory = work(NULL);

	munmap(memory, MANY * PAGE);
}

/* Pages of 2 MiB, if they can be had. */
static __attribute__((noinline)) void touch_huge(void)
{
	const size_t huge = 512 * PAGE;
	char *memory = mmap(NULL, 5 * huge, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memory += -(size_t)memory % huge;
	madvise(memory, 4 * huge, MADV_HUGEPAGE);
	for (size_t i = 0; i < 4 * huge; i += PAGE)
		((volatile char *)memory)[i] = 1;
}

static void have_child(void)
{
	pid_t child = fork();

	if (!child) {
		work(NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void serve(void)
{
	char line[16];

	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		run_threads(atoi(line), work);
		printf("done\n");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "work";
	struct rusage before, after;

	signal(SIGWINCH, on_winch);
	getrusage(RUSAGE_SELF, &before);
	if (!strcmp(what, "work"))
		work(NULL);
	else if (!strcmp(what, "threads"))
		run_threads(4, work);
	else if (!strcmp(what, "deaf"))
		run_threads(2, work_deafly);
	else if (!strcmp(what, "deep"))
		dig(DEPTH);
	else if (!strcmp(what, "read"))
		fill(map_pages(FEW));
	else if (!strcmp(what, "back"))
		give_back();
	else if (!strcmp(what, "huge"))
		touch_huge();
	else if (!strcmp(what, "child"))
		have_child();
	else if (!strcmp(what, "serve"))
		serve();
	getrusage(RUSAGE_SELF, &after);
	printf("faults %ld winches %d\n", after.ru_minflt - before.ru_minflt,
	       (int)winches);
	return 0;
}
