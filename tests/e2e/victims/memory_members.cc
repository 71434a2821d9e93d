// SPDX-License-Identifier: GPL-2.0-or-later
// Blocks that are held through members of structures; says where they are.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unistd.h>

namespace shop {
struct session {
	session *next;
	char *name;
};

struct whole {
	long count;
	session *first;
	session **buckets;
	struct {
		int unused;
		void *inner;
	} extra;
};

whole cache;
static std::map<int, int> all;
}

struct row {
	void *cells[4];
} table[5];

struct plain {
	virtual ~plain() {}
	void *x;
};

// What it has is behind what a pointer to a plain one tells.
struct derived : plain {
	char *y;
};

static struct {
	long unused;
	plain *here;
} base;

template <typename T> static T *make(const char *what, size_t count)
{
	T *made = (T *)calloc(count, sizeof(T));

	if (what)
		printf("%s %p\n", what, (void *)made);
	return made;
}

static void fill()
{
	using namespace shop;
	derived *object = new derived;

	cache.first = make<session>(nullptr, 1);
	cache.first->next = make<session>(nullptr, 1);
	cache.first->next->name = make<char>("name", 101);
	cache.buckets = make<session *>(nullptr, 10);
	cache.buckets[3] = make<session>("bucket", 1);
	cache.extra.inner = make<char>("inner", 102);
	table[2].cells[1] = make<char>("cell", 103);
	object->y = make<char>("derived", 104);
	base.here = object;
	printf("node %p\n", (void *)&*all.insert({ 1, 2 }).first);
}

// What registers and the stack had of it is written over.
static void scrub()
{
	volatile char room[65536];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

int main()
{
	fill();
	scrub();
	puts("ready");
	fflush(stdout);
	(void)getchar();
	return 0;
}
