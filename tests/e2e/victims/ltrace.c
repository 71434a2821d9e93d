/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many small programs in one: the first argument says which it is. */
#include "ltrace.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void ints(void)
{
	take_ints(-5, 4000000000u, -9, 10, -8, 40000);
	take_ints(0, 0, 0, 0, 0, 0);
}

static void chars(void)
{
	take_chars('a', '\n', 0, (char)200);
	take_chars('\'', '"', '\\', ' ');
}

static void reals(void)
{
	take_reals(3.4f, -3.4);
	take_reals(0, 1e10);
}

static void strings(void)
{
	take_strings("plain", "q\"uo\\te\t\001\177", "a very long string, of "
		     "more than thirty-two characters");
	take_strings("", NULL, "\a\b\v\f\r");
}

static void counted(void)
{
	take_counted(3, "abcdefgh", "ab\0cd");
}

static void addresses(void)
{
	take_addresses((void *)0x1234, NULL);
}

static void lengths(void)
{
	char text[] = "12345";

	take_bools(strlen(text) == 5, strlen(text + 1) == 5);
}

static void based(void)
{
	take_based(8, 0, 255, 1.5);
	take_based(-1, 7, 0, 0);
}

static void bools(void)
{
	take_bools(0, 5);
}

static void bits(void)
{
	take_bits(0x38, ~6UL);
	take_bits(0, 1);
}

static void colors(void)
{
	take_colors(RED, BLUE, 5);
}

static void structs(void)
{
	struct whole second = { .i = 2, .s = "two" };
	struct whole first = { 1, 2, 'c', 1.5, 2.5, "one", { 3, "abc" },
			       { 1, 2, 3, 4, 5, 6 }, &second };
	struct part part = { 5, "qr" };

	take_whole(&first);
	take_whole(NULL);
	take_part(part);
}

static void lists(void)
{
	struct whole list[6] = { 0 };

	for (int i = 0; i < 5; i++)
		list[i] = (struct whole){ .i = i, .next = &list[i + 1] };
	take_whole(list);
	list[1].next = list;
	take_whole(list);
}

static void arrays(void)
{
	static const int six[] = { 1, 2, 3, 4, 5, 6 }, end[] = { 9, 8, 0, 7 };
	static const double two[] = { 1.5, 2.5 };
	static const char *const names[] = { "x", "y", "z" };

	take_arrays(six, six, two);
	take_zeros(end);
	take_names(names);
}

static void hidden(void)
{
	take_hidden(1, 2, 3);
}

static void pointers(void)
{
	static const int value = 17;

	take_pointers(&value, "hello");
	take_pointers(NULL, NULL);
}

static void formats(void)
{
	take_format(1, "%d %s %5.2f %c %x %lu %% %hd", 7, "s", 2.5, 'k', 255,
		    9UL, (short)3);
	take_format(2, "none");
}

static void results(void)
{
	give_part(7);
	give_string();
	give_double();
	give_float();
	give_char();
	give_minus_one();
	give_pointer();
	give_color();
	give_unsigned();
}

static void out(void)
{
	char text[8] = "old";
	int n = 1;

	give_out(21, &n, text);
}

static void heap(void)
{
	char *p = malloc(10);

	p = realloc(p, 20);
	strcpy(p, "copied");
	free(p);
	free(calloc(2, 3));
}

static void print(void)
{
	char text[30];

	printf("%d %s %f %c\n", 3, "str", 1.5, 'q');
	sprintf(text, "%s-%d", "a", 1);
	snprintf(text, sizeof(text), "%5.2f", 3.14);
	puts("line");
	fflush(NULL);
}

static void files(void)
{
	char text[10];
	int fd = open("/dev/null", O_RDWR);

	write(fd, "text", 4);
	read(fd, text, sizeof(text));
	close(fd);
	open("/nowhere", O_RDONLY);
}

static void on_signal(int number)
{
	(void)number;
	take_nothing();
}

static void signals(void)
{
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	signal(SIGUSR2, SIG_IGN);
	raise(SIGUSR2);
}

static void killed(void)
{
	raise(SIGTERM);
}

static void crash(void)
{
	take_nothing();
	*(volatile int *)16 = 1;
}

static void leaves(void)
{
	exit(42);
}

static void leaves_at_once(void)
{
	_exit(5);
}

static int twice(int n)
{
	take_nothing();
	return 2 * n;
}

static void nested(void)
{
	nest(2);
	call_back(twice, 3);
}

static __attribute__((noinline)) int own_function(int n)
{
	__asm__ volatile("");
	return n + 1;
}

static void own(void)
{
	own_function(1);
	own_function(-2);
}

static void jumps(void)
{
	static jmp_buf place;

	if (!setjmp(place)) {
		take_nothing();
		longjmp(place, 1);
	}
	take_bools(1, 1);
}

static void forks(void)
{
	int status;

	take_nothing();
	if (!fork()) {
		take_bools(0, 1);
		_exit(3);
	}
	wait(&status);
	take_bools(1, 0);
}

static void vforks(void)
{
	int status;

	if (!vfork())
		_exit(3);
	wait(&status);
	take_nothing();
}

static void executes(void)
{
	take_nothing();
	execl("/bin/true", "true", NULL);
}

static void *thread(void *argument)
{
	take_bools(0, 0);
	return argument;
}

static void threads(void)
{
	pthread_t id;

	take_nothing();
	pthread_create(&id, NULL, thread, NULL);
	pthread_join(id, NULL);
	take_bools(1, 1);
}

static void naps(void)
{
	usleep(1000);
}

static void ticks(void)
{
	for (int i = 0; i < 4000; i++) {
		usleep(10000);
		take_bools(i != 0, 1);
	}
}

static void rests(void)
{
	take_nothing();
	usleep(1000000);
}

static void loads(void)
{
	for (int i = 0; i < 2; i++) {
		void *library = dlopen("libltrace-loaded.so", RTLD_NOW);
		int (*loaded)(int) = dlsym(library, "loaded");

		loaded(i);
		dlclose(library);
	}
}

static void who(void)
{
	take_ints(getuid(), geteuid(), getgid(), getegid(), 0, 0);
}

static const struct {
	const char *name;
	void (*run)(void);
} programs[] = {
	{ "ints", ints },	   { "chars", chars },
	{ "reals", reals },	   { "strings", strings },
	{ "counted", counted },	   { "addresses", addresses },
	{ "lengths", lengths },	   { "based", based },	   { "bools", bools },
	{ "bits", bits },	   { "colors", colors },
	{ "structs", structs },	   { "lists", lists },
	{ "arrays", arrays },	   { "hidden", hidden },
	{ "pointers", pointers },  { "formats", formats },
	{ "results", results },	   { "out", out },
	{ "heap", heap },	   { "print", print },
	{ "files", files },	   { "signals", signals },
	{ "killed", killed },	   { "crash", crash },
	{ "leaves", leaves },	   { "leaves_at_once", leaves_at_once },
	{ "nested", nested },	   { "own", own },
	{ "jumps", jumps },	   { "forks", forks },
	{ "vforks", vforks },	   { "executes", executes },
	{ "threads", threads },	   { "naps", naps },
	{ "ticks", ticks },	   { "loads", loads },
	{ "who", who },		   { "rests", rests },
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		const char *a = programs[i].name, *b = name;

		while (*a && *a == *b)
			a++, b++;
		if (*a == *b)
			programs[i].run();
	}
	return 7;
}
