// SPDX-License-Identifier: GPL-2.0-or-later
// Blocks of every verdict. "VERDICT ADDRESS" is said of each that is known by
// name; the address as text, so that it isn't kept by being said. Sizes are
// such that nothing is added: the same bytes for all who count.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <pthread.h>
#include <string>
#include <unistd.h>

#define PLAIN __attribute__((noinline, noclone))

struct Shop {
	virtual ~Shop() {}
	long counts[4];
};

struct Left {
	virtual ~Left() {}
	long left;
};

struct Right {
	virtual ~Right() {}
	long right;
};

struct Both : Left, Right {
	long more[3];
};

struct Item {
	~Item();
	long a, b;
};

Item::~Item() {}

struct Node {
	Node *next, *other;
	long pad;
};

// Not static: compilers do without what is never read.
void *table, *hidden_key = (void *)0x5555aaaa5555aaaa;
Right *base;
char *inside;
Item *items;
std::map<int, std::string> *names;
uintptr_t hidden;
thread_local void *of_thread;
static pthread_barrier_t ready;

PLAIN static void say(const char *verdict, const void *block)
{
	char line[64];

	dprintf(1, "%s %p\n", verdict, block);
	memset(line, 0, sizeof(line));
}

/* What earlier calls have left below the stack pointer. */
PLAIN static void wipe()
{
	volatile char below[32768];

	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = 0;
}

PLAIN static void *block(const char *verdict, size_t size)
{
	void *p = calloc(1, size);

	say(verdict, p);
	return p;
}

PLAIN static Node *node(const char *verdict)
{
	return (Node *)block(verdict, sizeof(Node));
}

PLAIN static void make_ring(int length)
{
	Node *first = node("definitely"), *last = first;

	for (int i = 1; i < length; i++)
		last = last->next = node("indirectly");
	last->next = first;
}

PLAIN static void lose()
{
	Node *head = node("definitely");

	for (int i = 0; i < 5; i++)
		say("definitely", new Shop());
	make_ring(12);
	make_ring(2);
	head->next = node("indirectly");
	head->next->other = node("indirectly");
	strcpy((char *)block("definitely", 56), "a text that is lost");
	block("definitely", 1 << 20);
}

PLAIN static void hold()
{
	table = block("reached", 72);
	*(void **)table = block("reached", 88);
	inside = (char *)block("possibly", 1000);
	*(void **)inside = block("possibly", 104);
	inside += 500;
	base = new Both();
	items = new Item[10];
	say("reached", (char *)items - 8);
	names = new std::map<int, std::string>;
	for (int i = 0; i < 50; i++)
		(*names)[i] = std::string(103, 'x');
	/* Nobody can know that. */
	hidden = (uintptr_t)block("definitely", 152) ^ (uintptr_t)hidden_key;
}

static void *thread(void *unused)
{
	void *volatile on_stack = block("reached", 184);

	of_thread = block("reached", 200);
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&ready);
	free(on_stack);
	return unused;
}

int main()
{
	pthread_t id;
	char c;

	pthread_barrier_init(&ready, NULL, 2);
	pthread_create(&id, NULL, thread, NULL);
	pthread_barrier_wait(&ready);
	lose();
	wipe();
	hold();
	wipe();
	dprintf(1, "ready\n");
	if (read(0, &c, 1) < 0)
		return 1;
	wipe();
	exit(0);
}
