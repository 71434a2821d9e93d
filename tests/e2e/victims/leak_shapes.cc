// SPDX-License-Identifier: GPL-2.0-or-later
// leak_shapes N [LIBRARY]: one of many programs, each of which loses or holds
// blocks in a way of its own, says "ready", and ends without tidying up. Most
// sizes are such that malloc adds nothing. LIBRARY is leak_keeper.c.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <list>
#include <map>
#include <memory>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#define PLAIN __attribute__((noinline, noclone))

// Built with LeakSanitizer, it is asked before the end.
extern "C" __attribute__((weak)) int __lsan_do_recoverable_leak_check();

struct Node {
	Node *next, *other;
	long pad;
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

struct Linked {
	std::shared_ptr<Linked> other;
	long pad[2];
};

void *root, *second;
char *inside;
void **array;
Right *right_base;
Item *items;
std::map<int, std::string> *map_kept;
std::unordered_map<int, std::vector<int> > *table_kept;
std::list<int> *list_kept;
std::string *text_kept;
thread_local void *of_thread;
static pthread_barrier_t barrier;
static const char *library;

// Sizes are all different, so sums tell blocks apart.
static size_t next_size = 24;

PLAIN static void *block()
{
	void *p = calloc(1, next_size);

	next_size += 16;
	return p;
}

PLAIN static Node *node()
{
	return (Node *)block();
}

PLAIN static Node *chain(int length, bool ring)
{
	Node *first = node(), *last = first;

	for (int i = 1; i < length; i++)
		last = last->next = node();
	if (ring)
		last->next = first;
	return first;
}

PLAIN static Node *tree(int depth)
{
	Node *top = node();

	if (depth) {
		top->next = tree(depth - 1);
		top->other = tree(depth - 1);
	}
	return top;
}

// ---- threads

static void *ends_with_tls(void *unused)
{
	of_thread = block();
	return unused;
}

static void *ends_with_local(void *unused)
{
	Node *volatile kept = chain(3, false);

	return kept->other ? kept->other : unused;
}

static void *waits_with_tls(void *unused)
{
	of_thread = chain(3, false);
	pthread_barrier_wait(&barrier);
	pause();
	return unused;
}

static void *waits_with_local(void *unused)
{
	Node *volatile kept = chain(3, false);

	pthread_barrier_wait(&barrier);
	pause();
	return kept ? unused : kept;
}

static void *returns_block(void *unused)
{
	(void)unused;
	return block();
}

PLAIN static pthread_t begin(void *(*what)(void *))
{
	pthread_t id;

	pthread_create(&id, NULL, what, NULL);
	return id;
}

PLAIN static void begin_and_wait(void *(*what)(void *))
{
	pthread_barrier_init(&barrier, NULL, 2);
	begin(what);
	pthread_barrier_wait(&barrier);
}

// ---- C++

static std::string text(char c)
{
	return std::string(103, c);
}

PLAIN static void cycle()
{
	std::shared_ptr<Linked> a = std::make_shared<Linked>();
	std::shared_ptr<Linked> b = std::make_shared<Linked>();

	a->other = b;
	b->other = a;
}

// ---- shapes

typedef void shape();

PLAIN static void *map_page()
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static shape *const shapes[] = {
	[] { chain(10, false); },
	[] { root = chain(10, false)->next->next; },
	[] { chain(12, true); },
	[] { chain(2, true); chain(7, true); chain(1, true); },
	[] { tree(4); },
	[] { root = tree(4); },
	[] { inside = (char *)chain(5, false) + 8; },
	[] { inside = (char *)chain(5, false) + 3; },
	[] { inside = (char *)block() + 24; }, // behind its end
	[] { Node *a = chain(3, true), *b = chain(4, true); a->other = b; },
	[] { Node *a = chain(3, true); root = node();
	     ((Node *)root)->other = a; },
	[] { pthread_join(begin(ends_with_tls), NULL); },
	[] { pthread_join(begin(ends_with_local), NULL); },
	[] { begin_and_wait(waits_with_tls); },
	[] { begin_and_wait(waits_with_local); },
	[] { void *result; pthread_join(begin(returns_block), &result);
	     result = NULL; },
	[] { of_thread = chain(3, false); },
	[] { array = (void **)map_page(); array[100] = chain(3, false); },
	[] { void **page = (void **)map_page(); page[7] = chain(3, false);
	     munmap(page, 4096); },
	[] { array = (void **)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	     array[5] = chain(3, false); },
	[] { map_kept = new std::map<int, std::string>;
	     for (int i = 0; i < 30; i++) (*map_kept)[i] = text('a'); },
	[] { std::map<int, std::string> *lost = new std::map<int, std::string>;
	     for (int i = 0; i < 30; i++) (*lost)[i] = text('b'); },
	[] { table_kept = new std::unordered_map<int, std::vector<int> >;
	     for (int i = 0; i < 50; i++) (*table_kept)[i].resize(50); },
	[] { auto *lost = new std::unordered_map<int, std::vector<int> >;
	     for (int i = 0; i < 50; i++) (*lost)[i].resize(50); },
	[] { list_kept = new std::list<int>(40, 7); },
	[] { new std::list<int>(40, 7); },
	[] { text_kept = new std::string(text('c')); },
	[] { new std::string(text('d')); },
	[] { cycle(); },
	[] { new std::unique_ptr<std::unique_ptr<Node> >(
		     new std::unique_ptr<Node>(new Node())); },
	[] { items = new Item[10]; },
	[] { new Item[10]; },
	[] { right_base = new Both(); },
	[] { new Both(); },
	[] { void *own = dlopen(library, RTLD_NOW);
	     void **kept = (void **)dlsym(own, "keeper"); *kept = chain(3, false); },
	[] { void *own = dlopen(library, RTLD_NOW);
	     void **kept = (void **)dlsym(own, "keeper"); *kept = chain(3, false);
	     dlclose(own); },
	[] { pthread_key_t key; pthread_key_create(&key, NULL);
	     pthread_setspecific(key, chain(3, false)); },
	[] { root = realloc(chain(3, false), 5000); },
	[] { posix_memalign(&root, 256, 1032); posix_memalign(&second, 4096, 72);
	     second = NULL; },
	[] { calloc(1, 1 << 20); root = calloc(1, 3 << 20); },
	[] { Node *gone = chain(3, false); void *volatile after = block();
	     root = after; free(gone); },
	[] { uintptr_t *hidden = (uintptr_t *)block(); root = hidden;
	     *hidden = (uintptr_t)block() ^ UINT64_C(0x5555aaaa5555aaaa); },
	[] { setenv("LEAK_SHAPES", text('e').c_str(), 1); },
	[] { root = tmpfile(); },
	[] { char *packed = (char *)block(); Node *far = chain(2, false);
	     root = packed; memcpy(packed + 3, &far, sizeof(far)); },
	[] { Node *self = node(); self->next = self; },
	[] { array = (void **)calloc(1, 1000); for (int i = 0; i < 125; i++)
		     array[i] = chain(i % 3 + 1, false); },
	[] { array = (void **)calloc(1, 1000); for (int i = 0; i < 125; i++)
		     array[i] = chain(i % 3 + 1, false);
	     memset(array, 0, 500); },
};

// What earlier calls have left below the stack pointer, and in the registers of
// arguments: R9 kept what malloc() overwrites and valgrind's doesn't.
PLAIN static void wipe(long a, long b, long c, long d, long e, long f, long g,
		       long h)
{
	volatile char below[65536];

	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = a | b | c | d | e | f | g | h;
}

PLAIN static void make(size_t which)
{
	shapes[which]();
}

int main(int argc, char **argv)
{
	const size_t count = sizeof(shapes) / sizeof(*shapes);
	char c;

	if (argc < 2) {
		printf("%zu\n", count);
		return 0;
	}
	library = argc > 2 ? argv[2] : NULL;
	make((size_t)atoi(argv[1]) % count);
	wipe(0, 0, 0, 0, 0, 0, 0, 0);
	dprintf(1, "ready\n");
	if (read(0, &c, 1) < 0)
		return 1;
	if (__lsan_do_recoverable_leak_check)
		__lsan_do_recoverable_leak_check();
	_exit(0);
}
