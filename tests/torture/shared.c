/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "torture.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct shared *shared;
const char *program, *shared_path, *directory;
bool is_stopped_by_others;

int shared_open(const char *path, bool create)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0600);

	if (fd < 0 || (create && ftruncate(fd, sizeof(*shared))))
		return -1;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      fd, 0);
	close(fd);
	return shared == MAP_FAILED ? -1 : 0;
}

/* Without the C library: children that share our memory come here, too. */
struct stream *stream_new(void)
{
	uint32_t number = atomic_fetch_add(&shared->streams_used, 1);
	struct stream *stream;

	if (number >= STREAMS_MAX) {
		atomic_store(&shared->streams_used, STREAMS_MAX);
		atomic_store(&shared->stop, 1);
		return NULL;
	}
	stream = &shared->streams[number];
	stream->number = number;
	stream->pid = syscall(SYS_getpid);
	stream->status = -1;
	return stream;
}

void fail(const char *format, ...)
{
	char text[300];
	va_list list;
	int n;

	n = snprintf(text, sizeof(text), "torture: %d: ", (int)getpid());
	va_start(list, format);
	n += vsnprintf(text + n, sizeof(text) - n - 1, format, list);
	va_end(list);
	if (n > (int)sizeof(text) - 2)
		n = sizeof(text) - 2;
	text[n++] = '\n';
	/* A flood says no more than its beginning. */
	if (atomic_fetch_add(&shared->errors, 1) < 20)
		(void)!write(STDERR_FILENO, text, n);
}

static long begin(struct stream *stream, enum function function)
{
	long number = (long)stream->number << NUMBER_SHIFT;

	/* Calls of it may go unseen: a tracer has to say so. */
	if (function == STEP)
		return number | STEP_BIT | stream->begun[STEP]++;
	stream->begun[function]++;
	return number | stream->sequence++;
}

static void end(struct stream *stream, enum function function, long x,
		long result)
{
	if (result != RESULT(x, function))
		fail("function %d(%#lx) returned %#lx", function, x, result);
	stream->returned[function]++;
}

#ifdef __aarch64__
static long call_step(long x)
{
	register long result __asm__("x0") = x;
	register long number __asm__("x8") = SYS_gettid;
	register long same __asm__("x9") = x;

	__asm__ volatile("bl p_step"
			 : "+r"(result), "+r"(number), "+r"(same)
			 :
			 : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x10",
			   "x11", "x12", "x13", "x14", "x15", "x16", "x17",
			   "x30", "cc", "memory");
	return result;
}
#else
static long call_step(long x)
{
	register long result __asm__("rax") = SYS_gettid;

	__asm__ volatile("sub $128, %%rsp\n\t"
			 "call p_step@PLT\n\t"
			 "add $128, %%rsp"
			 : "+r"(result)
			 : "D"(x)
			 : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "cc",
			   "memory");
	return result;
}
#endif

void call(struct stream *stream, enum function function)
{
	long x = begin(stream, function);
	long result = 0;

	switch (function) {
	case LEAF:
		result = p_leaf(x);
		break;
	case DATA:
		result = p_data(x);
		break;
	case STEP:
		result = call_step(x);
		break;
	case TAIL:
		result = p_tail(x);
		break;
	case THROUGH:
	case PLUG_A:
	case PLUG_B:
	case FUNCTIONS:
		abort();
	}
	end(stream, function, x, result);
}

void call_through(struct stream *stream, void (*function)(void *),
		  void *context)
{
	long x = begin(stream, THROUGH);

	end(stream, THROUGH, x, p_through(x, function, context));
}

void call_pointer(struct stream *stream, enum function function,
		  long (*pointer)(long))
{
	long x = begin(stream, function);

	end(stream, function, x, pointer(x));
}

/* xorshift64* */
unsigned random_below(uint64_t *state, unsigned limit)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (unsigned)((*state * 0x2545f4914f6cdd1dull) >> 33) % limit;
}

uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}
