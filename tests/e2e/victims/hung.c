/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hung DIRECTORY: mounts a file system there that never answers, in a mount
 * namespace of its own (which takes root), calls f1 and gets a signal again and
 * again. A letter makes it say how often; "q" ends it, status 7 if all were
 * right. It says so if there can be no such thing here.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/time.h>
#include <unistd.h>

long f1(long i);

static volatile int finished;
static volatile long count, ticks;
static long wrong;

static void give_up(const char *what)
{
	printf("no %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(77);
}

static void greet(int fd)
{
	struct {
		struct fuse_out_header header;
		struct fuse_init_out init;
	} out = { .header = { .len = sizeof(out) },
		  .init = { .major = FUSE_KERNEL_VERSION,
			    .minor = FUSE_KERNEL_MINOR_VERSION,
			    .max_write = 4096 } };
	static char in[1 << 16];

	if (read(fd, in, sizeof(in)) < 0)
		give_up("FUSE");
	out.header.unique = ((struct fuse_in_header *)in)->unique;
	if (write(fd, &out, sizeof(out)) != sizeof(out))
		give_up("FUSE");
}

/* Takes requests: only then nobody can be called back from one. */
static void *ignore_requests(void *argument)
{
	static char in[1 << 16];

	while (read(*(int *)argument, in, sizeof(in)) > 0 || errno == EINTR)
		;
	return NULL;
}

static void mount_it(const char *directory)
{
	static int fd;
	char options[128];
	pthread_t server;

	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0 || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		give_up("FUSE");
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (mount("hung", directory, "fuse", MS_NOSUID | MS_NODEV, options))
		give_up("FUSE");
	greet(fd);
	pthread_create(&server, NULL, ignore_requests, &fd);
}

static void on_tick(int signal)
{
	(void)signal;
	ticks++;
}

static void *call(void *argument)
{
	for (long i = 0; !finished; i++) {
		wrong += f1(i) != i + 1;
		count++;
		usleep(1000);
	}
	return argument;
}

int main(int argc, char **argv)
{
	const struct itimerval often = { { 0, 10000 }, { 0, 10000 } };
	struct sigaction action = { .sa_handler = on_tick,
				    .sa_flags = SA_RESTART };
	pthread_t caller;
	int letter;

	if (argc != 2)
		return 2;
	mount_it(argv[1]);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	pthread_create(&caller, NULL, call, NULL);
	printf("ready\n");
	fflush(stdout);
	while ((letter = getchar()) != EOF && letter != 'q') {
		printf("at %ld %ld\n", count, ticks);
		fflush(stdout);
	}
	finished = 1;
	pthread_join(caller, NULL);
	printf("called %ld\n", count);
	fflush(stdout);
	_exit(wrong ? 1 : 7);
}
