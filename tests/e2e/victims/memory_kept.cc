// SPDX-License-Identifier: GPL-2.0-or-later
// Holds blocks of some sizes; for each letter read some are new, some given
// back, and of some the pointers are forgotten.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

struct Session {
	virtual ~Session() {}
	long number[20];
};

void *fresh[30], *passing[20], *forgotten[40], *kept[50];
Session *sessions[12];

static void fill(void **list, int count, size_t size)
{
	for (int i = 0; i < count; i++)
		list[i] = calloc(1, size);
}

static void say(const char *text)
{
	puts(text);
	fflush(stdout);
}

static void change()
{
	for (void *&block : passing) {
		free(block);
		block = nullptr;
	}
	for (void *&block : forgotten)
		block = nullptr;
	fill(fresh, 30, 1000);
	for (int i = 5; i < 12; i++)
		sessions[i] = new Session();
}

int main()
{
	char letter;

	fill(passing, 20, 2000);
	fill(forgotten, 40, 3000);
	fill(kept, 50, 4000);
	for (int i = 0; i < 5; i++)
		sessions[i] = new Session();
	say("ready");
	while (read(0, &letter, 1) == 1 && letter != 'q') {
		change();
		say("done");
	}
	return 0;
}
