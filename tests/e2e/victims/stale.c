/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stale exe|root BACKING DIRECTORY PROGRAM ARGUMENT...: mounts a file system at
 * DIRECTORY, in a mount namespace of its own (which takes root), that shows the
 * files of BACKING; runs PROGRAM from it, as an ordinary program or with
 * DIRECTORY as its root; and stops to answer when it gets SIGUSR1. Ends as
 * PROGRAM does; status 77, and a word, if there can be no such thing here.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NODES   64
#define REQUEST (1 << 17)

static volatile sig_atomic_t silent;
static char *paths[NODES + 1]; /* of nodes, by number; the root is 1 */
static int device;

static void give_up(const char *what)
{
	printf("no %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(77);
}

static void reply(uint64_t unique, int error, const void *bytes, size_t size)
{
	static char out[REQUEST + sizeof(struct fuse_out_header)];
	struct fuse_out_header header = { .len = sizeof(header) + size,
					  .error = error,
					  .unique = unique };

	memcpy(out, &header, sizeof(header));
	if (size)
		memcpy(out + sizeof(header), bytes, size);
	(void)!write(device, out, header.len);
}

static int describe(uint64_t node, struct fuse_attr *ret)
{
	struct stat st;

	if (node > NODES || !paths[node] || stat(paths[node], &st))
		return -ENOENT;
	*ret = (struct fuse_attr){ .ino = node,
				   .size = st.st_size,
				   .mode = st.st_mode,
				   .nlink = 1 };
	return 0;
}

static uint64_t find_node(uint64_t folder, const char *name)
{
	char path[PATH_MAX];
	uint64_t node = 1;

	snprintf(path, sizeof(path), "%s/%s", paths[folder], name);
	while (node < NODES && paths[node] && strcmp(paths[node], path))
		node++;
	if (!paths[node])
		paths[node] = strdup(path);
	return node;
}

/* Nothing is kept: whoever asks again has to wait. */
static void look_up(const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out entry = { .nodeid = find_node(in->nodeid, name) };
	int err = describe(entry.nodeid, &entry.attr);

	reply(in->unique, err, &entry, err ? 0 : sizeof(entry));
}

static void get_attributes(const struct fuse_in_header *in)
{
	struct fuse_attr_out out = { .attr_valid = 0 };
	int err = describe(in->nodeid, &out.attr);

	reply(in->unique, err, &out, err ? 0 : sizeof(out));
}

static void read_file(const struct fuse_in_header *in,
		      const struct fuse_read_in *want)
{
	static char bytes[REQUEST];
	int fd = open(paths[in->nodeid], O_RDONLY | O_CLOEXEC);
	ssize_t n = pread(fd, bytes,
			  want->size < REQUEST ? want->size : REQUEST,
			  want->offset);

	reply(in->unique, n < 0 ? -EIO : 0, bytes, n < 0 ? 0 : n);
	close(fd);
}

static void serve(const struct fuse_in_header *in, const void *body)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = FUSE_KERNEL_MINOR_VERSION,
				      .max_readahead = 4096,
				      .max_write = 4096 };
	struct fuse_open_out open = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		reply(in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		look_up(in, body);
		break;
	case FUSE_GETATTR:
		get_attributes(in);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		reply(in->unique, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		read_file(in, body);
		break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		reply(in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	default:
		reply(in->unique, -ENOSYS, NULL, 0);
	}
}

static void fall_silent(int signal)
{
	(void)signal;
	silent = 1;
}

/* Takes requests also when it answers none: nobody is called back then. */
static void *serve_all(void *argument)
{
	static char in[REQUEST + 4096];
	ssize_t n;

	while ((n = read(device, in, sizeof(in))) > 0 || errno == EINTR)
		if (n >= (ssize_t)sizeof(struct fuse_in_header) && !silent)
			serve((struct fuse_in_header *)in,
			      in + sizeof(struct fuse_in_header));
	return argument;
}

static void mount_at(const char *directory)
{
	char options[128];

	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (device < 0 || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		give_up("FUSE");
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
	if (mount("stale", directory, "fuse", 0, options))
		give_up("FUSE");
}

static void run(int as_root, const char *directory, char **argv)
{
	char path[PATH_MAX];

	if (as_root && (chroot(directory) || chdir("/")))
		_exit(1);
	snprintf(path, sizeof(path), "%s/%s", as_root ? "" : directory,
		 argv[0]);
	execv(path, argv);
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	_exit(1);
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = fall_silent,
					  .sa_flags = SA_RESTART };
	pthread_t server;
	int status;
	pid_t pid;

	if (argc < 5)
		return 2;
	paths[1] = argv[2];
	mount_at(argv[3]);
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&server, NULL, serve_all, NULL);
	pid = fork();
	if (pid == 0)
		run(!strcmp(argv[1], "root"), argv[3], argv + 4);
	printf("program %d\n", (int)pid);
	fflush(stdout);
	waitpid(pid, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}
