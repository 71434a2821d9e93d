/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * says ROUNDS [blocks]: calls functions of the C library and a library's own with texts
 * wherever these may lie, and where there are none. blocks: with SIGSEGV and SIGBUS
 * blocked. Ends with 7 if each call has done what it is to do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAGE 4096

int say(const char *text, size_t size);

static int wrong;

static void expect(long found, long wanted)
{
	if (found != wanted)
		wrong++;
}

/* What ends with the last byte that there is. */
static char *page_end(void)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(pages + PAGE, PAGE);
	return pages + PAGE;
}

static void write_all(int fd, const char *text)
{
	const long size = (long)strlen(text);

	expect(write(fd, text, (size_t)size), size);
	expect(write(fd, text, 0), 0);
	expect(pwrite(fd, text, (size_t)size, 0), size);
	expect(say(text, (size_t)size), (int)size);
}

static void open_all(const char *path)
{
	const int fd = open("/dev/null", O_WRONLY | O_CREAT, 0600);

	expect(open(path, O_RDONLY | O_CLOEXEC), -1);
	expect(fd >= 0, 1);
	close(fd);
}

/* The kernel says so. */
static void fail(int fd, const char *nowhere)
{
	expect(write(fd, nowhere, 5), -1);
	expect(errno, EFAULT);
	expect(open(nowhere, O_RDONLY), -1);
	expect(errno, EFAULT);
}

static void at_an_end(int fd, char *end)
{
	memcpy(end - 6, "behind", 6);
	expect(write(fd, end - 6, 6), 6);
	expect(open(end - 6, O_RDONLY), -1);
	end[-1] = '\0';
	expect(open(end - 6, O_RDONLY), -1);
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 1;
	const int fd = memfd_create("says", MFD_CLOEXEC);
	char *end = page_end(), *heap = malloc(300);
	char on_stack[40] = "/nonexistent/on/the\tstack";
	int two[2];

	if (argc > 2) {
		sigset_t set;

		sigemptyset(&set);
		sigaddset(&set, SIGSEGV);
		sigaddset(&set, SIGBUS);
		sigprocmask(SIG_BLOCK, &set, NULL);
	}
	memset(heap, 'h', 299);
	heap[299] = '\0';
	expect(socketpair(AF_UNIX, SOCK_DGRAM, 0, two), 0);
	for (int i = 0; i < rounds; i++) {
		write_all(fd, "a constant");
		write_all(fd, on_stack);
		write_all(fd, heap);
		open_all(on_stack);
		expect(send(two[1], "sent\0too", 8, MSG_DONTWAIT), 8);
		expect(recv(two[0], on_stack + 30, 8, 0), 8);
		fail(fd, NULL);
		fail(fd, (char *)1);
		fail(fd, end);
		at_an_end(fd, end);
		if (i == rounds / 2) {
			munmap(end - PAGE, PAGE);
			fail(fd, end - 6);
			end = page_end();
		}
	}
	return wrong ? 9 : 7;
}
