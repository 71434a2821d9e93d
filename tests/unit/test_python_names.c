/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake_heap.h"

#include "memory/python_names.h"
#include "unit.h"

/* What Python's objects and their parts are called, and how long that is looked for.
   Types lie in a library's data, with what they lead to. */
#define TYPE         FAKE_DATA
#define CLASS        (FAKE_DATA + 0x200)
#define BASE         (FAKE_DATA + 0x400)
#define MEMBERS      FAKE_HEAP
#define BASE_MEMBERS (FAKE_HEAP + 0x1000)
#define TEXTS        (FAKE_HEAP + 0x2000)
#define OBJECT       FAKE_MAP

#define OF_TYPES (UINT64_C(1) << 31 | 1 << 12)
#define READY    (UINT64_C(1) << 12)

/* So many of a class, without the one that ends them. */
#define EACH 80

static struct fake_heap fake;

static void put_text(taddr_t at, const char *text)
{
	char words[16] = "";
	uint64_t word;

	memcpy(words, text, strlen(text));
	memcpy(&word, words, 8);
	fake_put(&fake, at, word);
	memcpy(&word, words + 8, 8);
	fake_put(&fake, at + 8, word);
}

static void put_type(taddr_t at, taddr_t type, taddr_t name, uint64_t flags)
{
	fake_put(&fake, at, 1);
	fake_put(&fake, at + 8, type);
	fake_put(&fake, at + 24, name);
	fake_put(&fake, at + 32, 64);
	fake_put(&fake, at + 168, flags);
}

/* Their offsets lead on from one class to the one above. */
static void put_members(taddr_t at, unsigned first)
{
	for (unsigned i = 0; i < EACH; i++) {
		fake_put(&fake, at + i * 40, TEXTS + 0x40);
		fake_put(&fake, at + i * 40 + 16, 16 + (first + i) * 8);
	}
}

static void setup(void)
{
	fake_init(&fake);
	for (taddr_t at = FAKE_DATA; at < FAKE_DATA + 0x600; at += 8)
		fake_put(&fake, at, 0);
	for (taddr_t at = FAKE_HEAP; at < FAKE_HEAP + 0x3000; at += 8)
		fake_put(&fake, at, 0);
	put_text(TEXTS, "type");
	put_text(TEXTS + 0x10, "Session");
	put_text(TEXTS + 0x20, "Base");
	put_text(TEXTS + 0x40, "other");
	put_text(TEXTS + 0x50, "user");
	put_type(TYPE, TYPE, TEXTS, OF_TYPES);
	put_type(CLASS, TYPE, TEXTS + 0x10, READY);
	put_type(BASE, TYPE, TEXTS + 0x20, READY);
	fake_put(&fake, CLASS + 240, MEMBERS);
	fake_put(&fake, CLASS + 256, BASE);
	fake_put(&fake, BASE + 240, BASE_MEMBERS);
	put_members(MEMBERS, 0);
	put_members(BASE_MEMBERS, EACH);
	fake_put(&fake, BASE_MEMBERS + 40, TEXTS + 0x50);
	fake_put(&fake, OBJECT, 1);
	fake_put(&fake, OBJECT + 8, CLASS);
}

static void teardown(void)
{
	fake_fini(&fake);
}

static const struct block object = {
	.address = OBJECT,
	.units = 100,
	.state = BLOCK_USED,
	.object = true,
};

static struct python_names *names_for(unsigned looks)
{
	return python_names_new(&fake.picture.memory, &fake.mappings, looks);
}

/* The place whose name is "user", in the class above. */
#define USER (OBJECT + 16 + (EACH + 1) * 8)

static void check_name(const char *found, const char *wanted)
{
	if (wanted)
		ck_assert_pstr_eq(found, wanted);
	else
		ck_assert_ptr_null(found);
}

START_TEST(members_of_a_class)
{
	struct python_names *names = names_for(PYTHON_LOOKS);

	check_name(python_names_class(names, &object), "Session");
	check_name(python_names_member(names, &object, OBJECT + 16), ".other");
	check_name(python_names_member(names, &object, USER), ".user");
	check_name(python_names_member(names, &object, USER + 0x1000), NULL);
	python_names_free(names);
}
END_TEST

/* The name is behind eighty members of the class and one of the other. */
START_TEST(members_that_are_many)
{
	struct python_names *names = names_for(2 * (EACH + 2) + 1);

	check_name(python_names_member(names, &object, USER + 8), ".other");
	check_name(python_names_member(names, &object, USER), NULL);
	check_name(python_names_member(names, &object, OBJECT + 16), NULL);
	check_name(python_names_class(names, &object), "Session");
	python_names_free(names);
}
END_TEST

/* Classes that are their own base. */
START_TEST(bases_without_end)
{
	struct python_names *names = names_for(PYTHON_LOOKS);

	fake_put(&fake, BASE + 256, CLASS);
	check_name(python_names_member(names, &object, USER + 0x1000), NULL);
	fake_put(&fake, BASE + 256, OBJECT);
	check_name(python_names_member(names, &object, USER + 0x1000), NULL);
	check_name(python_names_member(names, &object, USER), ".user");
	python_names_free(names);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		members_of_a_class,
		members_that_are_many,
		bases_without_end,
	};

	return unit_run_tests("python_names", setup, teardown, tests,
			      ARRAY_SIZE(tests));
}
