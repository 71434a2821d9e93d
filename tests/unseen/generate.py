# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes servers by chance: several behaviours in one program, each with a
function of its own that allocates, and the key to them. The same seed makes the
same programs."""

import os
import random
import re

from programs import Program

HEAD = """\
/* Made by generate.py. */
#include "server.h"

static void *get(size_t size)
{
	void *block = %s;

	if (!block)
		abort();
	use(block);
	return block;
}
"""

# The behaviours. TAKE is the function that the key names; step_I is called every
# so many ticks; N is a size, or tenths of a second.
RING = """
static void *volatile ring_I[N];

static void step_I(void)
{
	static unsigned int next;

	if (pick(ODDS) != 0 || !LEAKS)
		free(ring_I[next % N]);
	ring_I[next++ % N] = TAKE();
}
"""

EXPIRING = """
static struct {
	void *block;
	double until;
} held_I[1024];

static void step_I(void)
{
	static unsigned int first, last;

	while (first != last && held_I[first % 1024].until < uptime()) {
		if (pick(ODDS) != 0 || !LEAKS)
			free(held_I[first % 1024].block);
		first++;
	}
	if (last - first == 1024)
		return;
	held_I[last % 1024].until = uptime() + N / 10.0;
	held_I[last++ % 1024].block = TAKE();
}
"""

SCRATCH = """
static void step_I(void)
{
	void *block = TAKE();

	if (pick(ODDS) != 0 || !LEAKS)
		free(block);
}
"""

SATURATING = """
static void *volatile known_I[N];

static void step_I(void)
{
	unsigned int i = pick(N);

	if (!known_I[i])
		known_I[i] = TAKE();
}
"""

UNBOUNDED = """
static struct node_I {
	struct node_I *next;
	void *block;
} *list_I;

static void step_I(void)
{
	void **block = TAKE();

	*block = list_I;
	list_I = (struct node_I *)block;
}
"""

BATCH = """
static void *volatile batch_I[4096];
static unsigned int n_I;

static void step_I(void)
{
	static double due;

	if (uptime() > due || n_I == 4096) {
		while (n_I)
			free(batch_I[--n_I]);
		due = uptime() + N / 10.0;
	}
	batch_I[n_I++] = TAKE();
}
"""

STARTUP = """
static void *volatile kept_I[2048];
static unsigned int n_I;

static void step_I(void)
{
	if (uptime() < N / 10.0 && n_I < 2048)
		kept_I[n_I++] = TAKE();
}
"""

CROWD = """
static void *volatile crowd_I[N];
static unsigned int n_I;

static void step_I(void)
{
	static unsigned int wanted, steps;
	unsigned int i;

	if (steps++ % 80 == 0)
		wanted = pick(N);
	if (n_I && (n_I > wanted || pick(3) == 0)) {
		i = pick(n_I);
		free(crowd_I[i]);
		crowd_I[i] = crowd_I[--n_I];
	} else if (n_I < N) {
		crowd_I[n_I++] = TAKE();
	}
}
"""

# Name, code, range of N, and of ticks (10 ms) between steps. With odds, one
# block in so many is forgotten.
HEALTHY = [
    ("scratch", SCRATCH, (1, 1), (1, 20)),
    ("ring", RING, (8, 100), (2, 6)),
    ("expiring", EXPIRING, (2, 80), (2, 20)),
    ("saturating", SATURATING, (20, 150), (2, 5)),
    ("batch", BATCH, (10, 100), (2, 10)),
    ("startup", STARTUP, (20, 140), (2, 10)),
    ("crowd", CROWD, (20, 200), (1, 3)),
]
LEAKS = [
    ("scratch", SCRATCH, (1, 1), (2, 8), (1, 20)),
    ("ring", RING, (8, 60), (2, 6), (1, 25)),
    ("expiring", EXPIRING, (2, 30), (2, 8), (1, 15)),
    ("unbounded", UNBOUNDED, (1, 1), (10, 200), None),
    ("slow", SCRATCH, (1, 1), (100, 200), (1, 1)),
]


def behaviour(rng, number, is_leak):
    """The code of one, its key, and how many ticks are between its steps."""
    name, code, sizes, ticks, *odds = rng.choice(LEAKS if is_leak else HEALTHY)
    odds = rng.randint(*odds[0]) if odds and odds[0] else 2
    take = "take_%s_%d" % (name, number)
    text = "\nstatic void *%s(void)\n{\n\treturn get(%d + pick(%d));\n}\n" % (
        take, rng.randint(16, 400), rng.randint(1, 300))
    code = code.replace("_I", "_%d" % number)
    for word, value in (("N", rng.randint(*sizes)), ("ODDS", odds),
                        ("LEAKS", int(is_leak)), ("TAKE", take)):
        code = re.sub(r"\b%s\b" % word, str(value), code)
    return text + code, (take, "leak" if is_leak else "healthy"), \
        rng.randint(*ticks)


def source_of(rng):
    """A program and its key."""
    kinds = [True] * rng.randint(1, 4) + [False] * rng.randint(2, 5)
    rng.shuffle(kinds)
    text = HEAD % rng.choice(["malloc(size)", "calloc(1, size)",
                              "realloc(NULL, size)"])
    key, steps = {}, ""
    for number, is_leak in enumerate(kinds):
        code, (function, kind), ticks = behaviour(rng, number, is_leak)
        text += code
        key[function] = kind
        steps += "\t\tif (i %% %d == 0)\n\t\t\tstep_%d();\n" % (ticks, number)
    text += "\nint main(int argc, char **argv)\n{\n" \
            "\tserve_for(argc, argv);\n" \
            "\tfor (unsigned int i = 0; serving(10); i++) {\n" + steps + \
            "\t}\n\treturn 0;\n}\n"
    return text, key


def programs(folder, count, seed):
    """So many of them, written to a folder."""
    found = []
    for number in range(count):
        name = "random_%d_%d" % (seed, number)
        text, key = source_of(random.Random(name))
        path = os.path.join(folder, name + ".c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        found.append(Program(name, path, key))
    return found
