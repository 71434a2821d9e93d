/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unread KIND ROUNDS [ignored]: functions get addresses that they don't look at in that
 * case. What was there could be read before, and is gone by now (none, unmapped), or
 * behind its file's end (cut), or whoever reads it waits for ever (waits).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096

static volatile long number;
static char *volatile sink;

static void leave(int signal)
{
	_exit(50 + signal);
}

static void need(int is)
{
	if (!is)
		_exit(40);
}

/* Nobody ever fills it. */
static void have_it_wait(char *bad)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register pages = {
		.range = { (unsigned long)bad, PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	/* UFFD_USER_MODE_ONLY */
	const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1);

	madvise(bad, PAGE, MADV_DONTNEED);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &pages))
		_exit(77);
}

static void cut(char *bad)
{
	const int fd = memfd_create("cut", 0);

	need(!ftruncate(fd, PAGE));
	need(mmap(bad, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		  0) == bad);
	strcpy(bad, "text");
	number = write(-1, bad, 5);
	need(!ftruncate(fd, 0));
}

static void make_bad(const char *kind, char *bad)
{
	if (!strcmp(kind, "none"))
		need(!mprotect(bad, PAGE, PROT_NONE));
	else if (!strcmp(kind, "unmapped"))
		need(!munmap(bad, PAGE));
	else if (!strcmp(kind, "cut"))
		cut(bad);
	else
		have_it_wait(bad);
}

/* The stream can't be read: its error is known, and nothing else looked at. */
static void read_lines(char *bad, FILE *stream)
{
	size_t room = 10;

	need(getline((char **)bad, &room, stream) == -1);
	need(getdelim((char **)bad, &room, 'x', stream) == -1);
	need(!fgets(bad, 10, stream));
	need(!fread(bad, 1, 10, stream));
}

static void call(char *bad, FILE *stream)
{
	char room[64] = "x";

	errno = 0;
	need(!strtol(bad, (char **)bad, 1) && errno == EINVAL);
	need(!strtoul(bad, (char **)bad, 37));
	need(!strspn(bad, ""));
	need(strstr(bad, "") == bad);
	sink = strncat(room, bad, 0);
	need(!strcmp(room, "x"));
	room[0] = 0;
	need(!strtok(room, bad) && !strtok(NULL, bad));
	sink = strncpy(room, bad, 0);
	read_lines(bad, stream);
}

/* What is read ends in front of it, but no NUL is there. */
static void call_before(char *bad)
{
	char *end;

	memcpy(bad - 3, "1;a", 3);
	need(strtol(bad - 3, &end, 10) == 1 && end == bad - 2);
	need(!strtol(bad - 2, &end, 10) && end == bad - 2);
	need(strpbrk(bad - 3, ";") == bad - 2);
	need(strspn(bad - 3, "01") == 1);
}

int main(int argc, char **argv)
{
	char *bad = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*const handler)(int) = argc > 3 ? SIG_IGN : leave;
	int rounds = argc > 2 ? atoi(argv[2]) : 1, i;
	FILE *stream = fopen("/dev/null", "w");

	need(argc > 1 && bad != MAP_FAILED && stream);
	bad += PAGE;
	signal(SIGSEGV, handler);
	signal(SIGBUS, handler);
	(void)fgetc(stream);
	strcpy(bad, "text");
	for (i = 0; i < 100; i++) {
		number = strtol(bad, NULL, 10);
		number = write(-1, bad, 5);
		usleep(100);
	}
	make_bad(argv[1], bad);
	alarm(60);
	while (rounds--) {
		call(bad, stream);
		call_before(bad);
	}
	return 7;
}
