/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clears the auxiliary vector that /proc shows of it, so nobody finds its
 * program. One thread forks all the time, another one computes; none may
 * notice that somebody has tried to attach.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int done;
static volatile unsigned long wrong;

static void *fork_all_the_time(void *unused)
{
	while (!done) {
		int status = 0;
		pid_t pid = fork();

		if (!pid)
			_exit(3);
		if (waitpid(pid, &status, 0) != pid ||
		    !WIFEXITED(status) || WEXITSTATUS(status) != 3)
			wrong++;
	}
	return unused;
}

static void *compute(void *unused)
{
	volatile unsigned long x = 1;

	while (!done)
		x = x * 3 + 1;
	return unused;
}

/* Numbers of the fields: proc(5), /proc/PID/stat. */
static int read_fields(unsigned long *fields)
{
	char text[2048] = "", *word;
	FILE *file = fopen("/proc/self/stat", "r");
	int n = 3;

	if (!file || !fgets(text, sizeof(text), file))
		return -1;
	fclose(file);
	word = strtok(strrchr(text, ')') + 1, " ");
	for (; word && n < 53; word = strtok(NULL, " "))
		fields[n++] = strtoul(word, NULL, 10);
	return n == 53 ? 0 : -1;
}

/* With PR_SET_MM_AUXV it would take a capability. */
static int clear_auxv(void)
{
	unsigned long empty[2] = { 0, 0 }, f[53];
	struct prctl_mm_map map;

	if (read_fields(f))
		return -1;
	map = (struct prctl_mm_map){
		.start_code = f[26], .end_code = f[27],
		.start_data = f[45], .end_data = f[46],
		.start_brk = f[47], .brk = (unsigned long)sbrk(0),
		.start_stack = f[28],
		.arg_start = f[48], .arg_end = f[49],
		.env_start = f[50], .env_end = f[51],
		.auxv = (void *)empty, .auxv_size = sizeof(empty),
		.exe_fd = -1,
	};
	return prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0);
}

int main(void)
{
	pthread_t threads[2];
	char byte;

	if (clear_auxv()) {
		perror("prctl");
		return 77;
	}
	pthread_create(&threads[0], NULL, fork_all_the_time, NULL);
	pthread_create(&threads[1], NULL, compute, NULL);
	printf("ready\n");
	fflush(stdout);
	while (read(0, &byte, 1) == 1 && byte != 'q')
		;
	done = 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return wrong ? 1 : 7;
}
