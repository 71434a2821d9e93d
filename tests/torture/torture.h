/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TORTURE_H
#define TORTURE_H

/*
 * A program that does to a tracer what programs do at their worst, checks
 * what it gets, and counts its calls of the probed functions itself. What it
 * counts lies in a file that is mapped by all of its processes, the ones that
 * were exec'd included; tests/torture/run reads it.
 */

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
#define _Atomic(type) type
extern "C" {
#endif

enum function {
	LEAF,    /* begins with an instruction that is easily emulated */
	DATA,    /* begins with one that reads memory relative to the ip */
	STEP,    /* begins with a system call */
	TAIL,    /* jumps to another one */
	THROUGH, /* calls back */
	PLUG_A,  /* of libraries that come and go */
	PLUG_B,
	FUNCTIONS,
};

/* A result says which function it is of, and what was its argument. */
#define RESULT_SHIFT        56
#define RESULT(x, function) ((x) | ((function) + 1l) << RESULT_SHIFT)
#define NUMBER_SHIFT        32
#define STEP_BIT            (1l << 31)

long p_leaf(long x);
long p_data(long x);
long p_step(long x);
long p_tail(long x);
long p_tail_end(long x);
long p_through(long x, void (*function)(void *), void *context);

/*
 * The calls of one thread; those of its signal handlers are a stream of their
 * own. Arguments are the stream's number and a sequence without gaps.
 */
struct stream {
	uint32_t number;
	int32_t pid;
	int32_t parent;  /* of a daemon, and gone; 0 for all others */
	int32_t status;  /* what its process exits with; -1: not said */
	uint64_t shares; /* the memory of its parent */
	uint64_t cut;    /* the thread was ended from without: by one less */
	uint64_t sequence;
	uint64_t begun[FUNCTIONS];
	uint64_t returned[FUNCTIONS];
};

/* The longest time in which a thread didn't come to read the clock. */
struct beat {
	_Atomic(uint64_t) beats;
	_Atomic(uint64_t) longest; /* ns; the reader sets it to 0 */
};

#define THREADS_MAX 256
#define STREAMS_MAX 65536

struct shared {
	_Atomic(uint32_t) stop;
	_Atomic(uint32_t) errors;
	_Atomic(uint32_t) streams_used;
	_Atomic(uint32_t) running;   /* the threads are all there */
	_Atomic(uint64_t) calls;     /* a few ms ago, by all together */
	_Atomic(uint64_t) own_calls; /* by the first process */
	struct beat beats[THREADS_MAX];
	struct stream streams[STREAMS_MAX];
};

extern struct shared *shared;
extern const char *program, *shared_path, *directory;
extern bool is_stopped_by_others; /* SIGSTOP may make EINTR visible */

struct worker {
	unsigned index;
	uint64_t random;
	struct stream *stream;
	struct stream *handler; /* stream of its signal handlers */
	pid_t tid;
	pthread_t thread;
	struct worker *neighbour;
	timer_t timer;
	volatile bool has_timer;
	uint64_t due; /* when it is to tick */
	void *altstack;
	unsigned sent;              /* to the neighbour, by this one */
	volatile unsigned received; /* from the one before */
	volatile unsigned ticks;
	volatile unsigned jumps;
};

/* shared.c */
int shared_open(const char *path, bool create);
struct stream *stream_new(void); /* NULL: no more of them, time to end */
void call(struct stream *stream, enum function function);
void call_through(struct stream *stream, void (*function)(void *),
		  void *context);
void call_pointer(struct stream *stream, enum function function,
		  long (*pointer)(long));
void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
unsigned random_below(uint64_t *state, unsigned limit);
uint64_t now(void);

/* What a worker may be told to do, again and again. */
void do_calls(struct worker *worker);
void do_step(struct worker *worker);
void do_fork(struct worker *worker);
void do_daemon(struct worker *worker);
void do_vfork(struct worker *worker);
void do_clone(struct worker *worker);
void do_spawn(struct worker *worker);
void do_exec(struct worker *worker);
void do_exit(struct worker *worker);
void do_signals(struct worker *worker);
void do_load(struct worker *worker);
void do_throw(struct worker *worker);
void do_jump(struct worker *worker);
void do_end(struct worker *worker);
void do_coroutine(struct worker *worker);
void do_beat(struct worker *worker);
void do_rest(struct worker *worker);

/* signals.c */
void signals_install(void);
void signals_begin(struct worker *worker, bool timer);
void signals_end(struct worker *worker);

/* waits.c: a thread of its own, in which all signals are blocked */
void *waits_run(void *unused);

/* children.c: what a program that was exec'd does */
int child_main(unsigned calls);

#ifdef __cplusplus
}
#endif

#endif
