/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * served uffd|fuse DIRECTORY: a program whose pages are filled by a thread of
 * its own, by userfaultfd, or as the server of a file system (mounted at
 * DIRECTORY, in a mount namespace of its own, which takes root). One thread
 * calls f1(address of a page that isn't there), then reads it; the other calls
 * f2(number) before it serves the page.
 * The letter "q" stops it: it prints how many pages it has read; status 7 if
 * all were right, 77 if there can be no such thing here.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

long f1(long i);
long f2(long i);

#define PAGE  4096
#define PAGES 64
#define SIZE  (PAGE * PAGES)

static volatile int finished;
static char *memory;
static int file = -1;
static volatile long count;
static long wrong;

static void give_up(const char *what)
{
	printf("no %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(77);
}

static void fill(char *page, long number)
{
	memset(page, 0, PAGE);
	snprintf(page, PAGE, "page %ld", number % PAGES);
}

/* ---- userfaultfd ---- */

static void *serve_faults(void *argument)
{
	int fd = *(int *)argument;
	static char page[PAGE] __attribute__((aligned(PAGE)));
	struct uffd_msg message;

	while (read(fd, &message, sizeof(message)) == sizeof(message)) {
		uint64_t address = message.arg.pagefault.address & -PAGE;
		struct uffdio_copy copy = { .dst = address,
					    .src = (uintptr_t)page,
					    .len = PAGE };
		long number = (address - (uintptr_t)memory) / PAGE;

		wrong += f2(number) != number + 1;
		fill(page, number);
		ioctl(fd, UFFDIO_COPY, &copy);
	}
	return NULL;
}

static void begin_faults(void)
{
	static int fd;
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	pthread_t server;

	fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		give_up("userfaultfd");
	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)memory;
	range.range.len = SIZE;
	if (ioctl(fd, UFFDIO_REGISTER, &range))
		give_up("userfaultfd");
	pthread_create(&server, NULL, serve_faults, &fd);
}

/* ---- a file system of one file ---- */

#define NODE 2

static void reply(int fd, uint64_t unique, int error, const void *bytes,
		  size_t size)
{
	char out[PAGE * 33];
	struct fuse_out_header header = { .len = sizeof(header) + size,
					  .error = error,
					  .unique = unique };

	memcpy(out, &header, sizeof(header));
	if (size)
		memcpy(out + sizeof(header), bytes, size);
	if (write(fd, out, header.len) != (ssize_t)header.len)
		wrong++;
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = node == NODE ? SIZE : 0,
		.mode = node == NODE ? S_IFREG | 0444 : S_IFDIR | 0555,
		.nlink = 1,
	};
}

static void serve_read(int fd, const struct fuse_in_header *in,
		       const struct fuse_read_in *want)
{
	static char pages[PAGE * 32];
	size_t size = want->size < sizeof(pages) ? want->size : sizeof(pages);
	long number = want->offset / PAGE;

	wrong += f2(number) != number + 1;
	for (size_t i = 0; i * PAGE < size; i++)
		fill(pages + i * PAGE, number + i);
	reply(fd, in->unique, 0, pages, size);
}

static void serve_request(int fd, const struct fuse_in_header *in,
			  const void *body)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = FUSE_KERNEL_MINOR_VERSION,
				      .max_write = PAGE };
	struct fuse_entry_out entry = { .nodeid = NODE, .entry_valid = 1000,
					.attr_valid = 1000,
					.attr = attributes(NODE) };
	struct fuse_attr_out attr = { .attr_valid = 1000,
				      .attr = attributes(in->nodeid) };
	struct fuse_open_out open = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		reply(fd, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		reply(fd, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		reply(fd, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		reply(fd, in->unique, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		serve_read(fd, in, body);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	default:
		reply(fd, in->unique, -ENOSYS, NULL, 0);
	}
}

static void *serve_files(void *argument)
{
	int fd = *(int *)argument;
	static char in[PAGE * 4];
	ssize_t n;

	while ((n = read(fd, in, sizeof(in))) > 0 || errno == EINTR)
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			serve_request(fd, (struct fuse_in_header *)in,
				      in + sizeof(struct fuse_in_header));
	return NULL;
}

static void begin_files(const char *directory)
{
	static int fd;
	char options[128], path[4096];
	pthread_t server;

	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0 || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		give_up("FUSE");
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (mount("served", directory, "fuse", MS_NOSUID | MS_NODEV, options))
		give_up("FUSE");
	pthread_create(&server, NULL, serve_files, &fd);
	snprintf(path, sizeof(path), "%s/pages", directory);
	/* The kernel learns that there is no FUSE_FLUSH: it would wait for one
	   at the end, when nobody serves any more. */
	close(open(path, O_RDONLY | O_CLOEXEC));
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		give_up("file");
	memory = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, file, 0);
	if (memory == MAP_FAILED || madvise(memory, SIZE, MADV_RANDOM))
		give_up("mapping");
}

/* ---- who reads ---- */

static void empty(void)
{
	madvise(memory, SIZE, MADV_DONTNEED);
	if (file >= 0)
		posix_fadvise(file, 0, SIZE, POSIX_FADV_DONTNEED);
}

static void *read_pages(void *argument)
{
	char wanted[32];

	for (long i = 0; !finished; i++) {
		char *page = memory + i % PAGES * PAGE;

		if (i % PAGES == 0)
			empty();
		wrong += f1((long)page) != (long)page + 1;
		snprintf(wanted, sizeof(wanted), "page %ld", i % PAGES);
		wrong += strcmp(page, wanted) != 0;
		count++;
		usleep(1000);
	}
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t reader;
	int letter;

	if (argc != 3)
		return 2;
	if (strcmp(argv[1], "fuse"))
		begin_faults();
	else
		begin_files(argv[2]);
	pthread_create(&reader, NULL, read_pages, NULL);
	printf("ready\n");
	fflush(stdout);
	while ((letter = getchar()) != EOF && letter != 'q') {
		printf("at %ld\n", count);
		fflush(stdout);
	}
	finished = 1;
	pthread_join(reader, NULL);
	printf("read %ld pages\n", count);
	fflush(stdout);
	_exit(wrong ? 1 : 7);
}
