/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "torture.h"

#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct element {
	const char *name;
	void (*run)(struct worker *worker);
};

/* The last three are no work of the threads. */
static const struct element elements[] = {
	{ "calls", do_calls },
	{ "step", do_step },
	{ "fork", do_fork },
	{ "daemon", do_daemon },
	{ "vfork", do_vfork },
	{ "clone", do_clone },
	{ "spawn", do_spawn },
	{ "exec", do_exec },
	{ "exit", do_exit },
	{ "signals", do_signals },
	{ "load", do_load },
	{ "throw", do_throw },
	{ "jump", do_jump },
	{ "end", do_end },
	{ "coroutine", do_coroutine },
	{ "beat", do_beat },
	{ "rest", do_rest },
	{ "timer", NULL },
	{ "stop", NULL },
	{ "waits", NULL },
};

#define ELEMENTS (sizeof(elements) / sizeof(elements[0]))

struct settings {
	unsigned threads;
	uint64_t seed;
	double seconds;
	uint64_t rounds; /* per thread; 0: until the time is over */
	uint64_t calls;  /* by all together; 0: as many as there is time for */
	uint64_t own;    /* the same for the first process alone */
	bool timer, stop, waits;
	const struct element *mix[ELEMENTS];
	unsigned mix_size;
};

static struct settings settings = { .threads = 1, .seed = 1, .seconds = 5 };
static struct worker workers[THREADS_MAX];
static pthread_barrier_t barrier;

static void usage(void)
{
	size_t i;

	fprintf(stderr, "usage: torture [--seed N] [--seconds S] [--rounds N] "
			"[--calls N] [--own N]\n"
			"               [--threads T] [--mix LIST] "
			"--shared FILE\n"
			"LIST is of:");
	for (i = 0; i < ELEMENTS; i++)
		fprintf(stderr, " %s", elements[i].name);
	fputc('\n', stderr);
	exit(2);
}

static void add_element(const char *name)
{
	size_t i;

	for (i = 0; i < ELEMENTS && strcmp(name, elements[i].name); i++)
		;
	if (i == ELEMENTS || settings.mix_size == ELEMENTS)
		usage();
	if (elements[i].run)
		settings.mix[settings.mix_size++] = &elements[i];
	settings.timer |= !strcmp(name, "timer");
	settings.stop |= !strcmp(name, "stop");
	settings.waits |= !strcmp(name, "waits");
}

static void read_mix(char *list)
{
	char *name;

	while ((name = strsep(&list, ",")))
		add_element(name);
}

static int read_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "seconds", required_argument, NULL, 't' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "calls", required_argument, NULL, 'l' },
		{ "own", required_argument, NULL, 'o' },
		{ "threads", required_argument, NULL, 'n' },
		{ "mix", required_argument, NULL, 'm' },
		{ "shared", required_argument, NULL, 'f' },
		{ "child", required_argument, NULL, 'c' },
		{ NULL, 0, NULL, 0 },
	};
	int c, child = -1;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's')
			settings.seed = strtoull(optarg, NULL, 0);
		else if (c == 't')
			settings.seconds = atof(optarg);
		else if (c == 'r')
			settings.rounds = strtoull(optarg, NULL, 0);
		else if (c == 'l')
			settings.calls = strtoull(optarg, NULL, 0);
		else if (c == 'o')
			settings.own = strtoull(optarg, NULL, 0);
		else if (c == 'n')
			settings.threads = atoi(optarg);
		else if (c == 'm')
			read_mix(optarg);
		else if (c == 'f')
			shared_path = optarg;
		else if (c == 'c')
			child = atoi(optarg);
		else
			usage();
	}
	if (!shared_path || !settings.threads ||
	    settings.threads > THREADS_MAX || (child < 0 && !settings.mix_size))
		usage();
	return child;
}

static void *work(void *context)
{
	struct worker *worker = context;
	uint64_t i;

	worker->tid = syscall(SYS_gettid);
	pthread_barrier_wait(&barrier);
	signals_begin(worker, settings.timer);
	pthread_barrier_wait(&barrier);
	for (i = 0; !atomic_load(&shared->stop) &&
		    (!settings.rounds || i < settings.rounds);
	     i++)
		settings.mix[random_below(&worker->random, settings.mix_size)]
			->run(worker);
	pthread_barrier_wait(&barrier);
	if (worker->has_timer) {
		worker->has_timer = false;
		timer_delete(worker->timer);
	}
	signals_end(worker);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void start_workers(void)
{
	unsigned i;

	pthread_barrier_init(&barrier, NULL, settings.threads);
	for (i = 0; i < settings.threads; i++) {
		struct worker *worker = &workers[i];

		worker->index = i;
		worker->random = settings.seed * 0x9e3779b97f4a7c15ull + i + 1;
		worker->stream = stream_new();
		worker->handler = stream_new();
		worker->neighbour = &workers[(i + 1) % settings.threads];
	}
	for (i = 0; i < settings.threads; i++) {
		int err = pthread_create(&workers[i].thread, NULL, work,
					 &workers[i]);

		if (err) {
			fprintf(stderr, "torture: %s\n", strerror(err));
			exit(2);
		}
	}
	atomic_store(&shared->running, 1);
}

/* Another process, which stops and continues ours. */
static pid_t start_stopper(void)
{
	pid_t target = getpid(), pid = fork();
	struct timespec stopped = { 0, 2000000 }, running = { 0, 30000000 };

	if (pid)
		return pid;
	while (!atomic_load(&shared->stop)) {
		nanosleep(&running, NULL);
		kill(target, SIGSTOP);
		nanosleep(&stopped, NULL);
		kill(target, SIGCONT);
	}
	_exit(5);
}

static void end_stopper(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 5)
		fail("the process that stopped us has status %#x", status);
}

static bool has_called_enough(void)
{
	uint32_t used = atomic_load(&shared->streams_used), i;
	uint64_t all = 0, own = 0;
	pid_t pid = getpid();

	for (i = 0; i < used && i < STREAMS_MAX; i++) {
		const struct stream *stream = &shared->streams[i];
		uint64_t calls = stream->sequence + stream->begun[STEP];

		all += calls;
		own += stream->pid == pid ? calls : 0;
	}
	atomic_store(&shared->calls, all);
	atomic_store(&shared->own_calls, own);
	return (settings.calls && all >= settings.calls) ||
	       (settings.own && own >= settings.own);
}

static void rest_until_end(void)
{
	uint64_t deadline = now() + (uint64_t)(settings.seconds * 1e9);
	struct timespec moment = { 0, 5000000 };

	while (!atomic_load(&shared->stop) && now() < deadline &&
	       !has_called_enough())
		nanosleep(&moment, NULL);
	atomic_store(&shared->stop, 1);
}

static void print_counts(void)
{
	static const char *const names[FUNCTIONS] = {
		"p_leaf",    "p_data", "p_step", "p_tail",
		"p_through", "plug_a", "plug_b",
	};
	unsigned f, i;

	for (f = 0; f < FUNCTIONS; f++) {
		uint64_t begun = 0, returned = 0;

		for (i = 0; i < atomic_load(&shared->streams_used); i++) {
			begun += shared->streams[i].begun[f];
			returned += shared->streams[i].returned[f];
		}
		printf("calls %s %lu returned %lu\n", names[f],
		       (unsigned long)begun, (unsigned long)returned);
	}
	printf("streams %u errors %u\n", atomic_load(&shared->streams_used),
	       atomic_load(&shared->errors));
}

/* The first thread only watches: signals are the workers' business. */
static int torture(void)
{
	sigset_t all, before;
	pthread_t waiter;
	pid_t stopper = 0;
	unsigned i;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	signals_install();
	is_stopped_by_others = settings.stop;
	if (settings.stop)
		stopper = start_stopper();
	if (settings.waits)
		pthread_create(&waiter, NULL, waits_run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	start_workers();
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	if (!settings.rounds)
		rest_until_end();
	for (i = 0; i < settings.threads; i++)
		pthread_join(workers[i].thread, NULL);
	atomic_store(&shared->stop, 1);
	if (settings.waits)
		pthread_join(waiter, NULL);
	if (stopper)
		end_stopper(stopper);
	print_counts();
	return atomic_load(&shared->errors) ? 1 : 0;
}

int main(int argc, char **argv)
{
	char *path = realpath("/proc/self/exe", NULL);
	int child = read_options(argc, argv);

	program = path;
	directory = dirname(strdup(path));
	if (shared_open(shared_path, child < 0)) {
		perror(shared_path);
		return 2;
	}
	return child < 0 ? torture() : child_main(child);
}
