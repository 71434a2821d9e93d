/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype_fixture.h"

#include "script/script.h"

/* An interpreter whose variables are at the addresses of their numbers. */
static const struct script *script;
static taddr_t places[4];
static unsigned asked;

static int object(struct script_thread *thread, size_t index, taddr_t *ret)
{
	size_t count;
	const struct script_object *objects = script_objects(script, &count);

	(void)thread;
	asked++;
	ck_assert_uint_lt(index, count);
	if (strcmp(objects[index].name, "missing") == 0)
		return -ENOENT;
	*ret = places[index] + (objects[index].per_thread ? 0x100 : 0);
	return 0;
}

static int pointer(struct script_thread *thread, taddr_t *ret)
{
	(void)thread;
	*ret = 0x7001;
	return 0;
}

static const struct script_thread_ops thread_ops = { object, pointer };

static void read_script(const char *text)
{
	prototypes_free(all);
	all = prototypes_new();
	add_text(text);
	script = prototypes_script(all, "libx.so", 0);
}

static int ask(size_t depth, struct script_frames **ret)
{
	struct script_thread thread = { &thread_ops, &data.memory };

	ck_assert_ptr_nonnull(script);
	return script_ask(script, &thread, depth, ret);
}

/* What an expression is, as the line of a file that is always the same. */
static int value_of(const char *expression, unsigned *ret)
{
	char *text = xasprintf("script line = %s;\n"
			       "script file = text(0x%llx, 1);\n",
			       expression, (unsigned long long)put_text("f"));
	struct script_frames *frames;
	int err;

	read_script(text);
	free(text);
	ck_assert_str_eq(said, "");
	err = ask(1, &frames);
	if (err)
		return err;
	ck_assert_uint_eq(frames->count, 1);
	ck_assert_str_eq(frames->list[0].file, "f");
	*ret = frames->list[0].line;
	script_frames_free(frames);
	return 0;
}

/* What C makes of it is the truth, and precedence what is tested. */
#pragma GCC diagnostic ignored "-Wparentheses"
#define VALUE(expression)                           \
	{                                           \
#expression, (uint64_t)(expression) \
	}

static const struct {
	const char *expression;
	uint64_t value;
} expressions[] = {
	VALUE(7),
	VALUE(0x10),
	VALUE(2 + 3 * 4),
	VALUE((2 + 3) * 4),
	VALUE(20 - 3 - 4),
	VALUE(100 / 7 / 2),
	VALUE(100 % 7 * 3),
	VALUE(1 << 3 + 1),
	VALUE(0xff >> 2 >> 1),
	VALUE(6 & 3 | 8),
	VALUE(12 | 3 & 6),
	VALUE(6 & 3 == 3),
	VALUE(3 < 4 == 1),
	VALUE(4 > 3 != 0),
	VALUE(1 == 2 || 3 > 2 && 4 > 3),
	VALUE(2 > 1 || 0 > 1 && 0 > 1),
	VALUE(!5 + !0),
	VALUE(-3 + 10),
	VALUE(- -7),
	VALUE(5 - -2),
	VALUE(1 ? 2 :
	      3 ? 4 :
		  5),
	VALUE(0 ? 2 :
	      0 ? 4 :
		  5),
	VALUE(0 ?: 6),
	VALUE(3 ?: 6),
	VALUE(2 * (1 ? 5 : 6)),
	/* Numbers have no sign and 64 bits. */
	{ "-1 > 5", 1 },
	{ "-1 >> 63", 1 },
	{ "(-1 >> 1) + 1 == 1 << 63", 1 },
	{ "5 << 64", 0 },
	{ "5 >> 64", 0 },
	{ "thread", 0x7001 },
	/* The second operand may be what can't be read. */
	{ "0 && u64[0]", 0 },
	{ "1 || u64[0]", 1 },
	{ "1 ? 3 : u64[0]", 3 },
	{ "u64[0] ?: 4", 4 },
	{ "u64[0x7777777777] ?: 4", 4 },
	{ "1 / 0 ?: 4", 4 },
	{ "&missing ?: 9", 9 },
};

START_TEST(operators)
{
	unsigned value = 0;

	ck_assert_int_eq(value_of(expressions[_i].expression, &value), 0);
	ck_assert_msg(value == expressions[_i].value, "%s is %u, not %llu",
		      expressions[_i].expression, value,
		      (unsigned long long)expressions[_i].value);
}
END_TEST

START_TEST(reads)
{
	const uint8_t bytes[] = {
		0x81, 0x82, 0x03, 0x00, 0xfe, 0xff, 0xff, 0xff
	};
	const struct {
		const char *read;
		unsigned value;
	} cases[] = {
		{ "u8[A]", 0x81 },
		{ "u16[A]", 0x8281 },
		{ "u32[A]", 0x38281 },
		{ "u64[A] & 0xffffffff", 0x38281 },
		{ "u64[A] >> 40", 0xffffff },
		{ "-i8[A]", 127 },
		{ "-i16[A]", 0x7d7f },
		{ "-i32[A + 4]", 2 },
		{ "u8[A + 2] + 1", 4 },
		{ "i32[A] == u32[A]", 1 },
	};
	taddr_t at = put(bytes, sizeof(bytes));

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *letter = strchr(cases[i].read, 'A');
		unsigned value = 0;
		char text[200];
		int n = 0;

		for (const char *s = cases[i].read; *s; s++)
			n += *s == 'A' ? sprintf(text + n, "0x%llx",
						 (unsigned long long)at) :
					 sprintf(text + n, "%c", *s);
		ck_assert_ptr_nonnull(letter);
		ck_assert_int_eq(value_of(text, &value), 0);
		ck_assert_msg(value == cases[i].value, "%s is %#x",
			      cases[i].read, value);
	}
}
END_TEST

static const struct {
	const char *expression;
	int error;
} failures[] = {
	{ "u64[0]", -ENOENT }, /* a null pointer */
	{ "u64[4095]", -ENOENT },
	{ "u8[0x7777777777]", -EFAULT },
	{ "u64[0x11ffc]", -EFAULT }, /* half of it is behind the end */
	{ "1 / 0", -EINVAL },
	{ "1 % 0", -EINVAL },
	{ "&missing", -ENOENT },
	{ "1 << 31", -EINVAL }, /* no line has that number */
	{ "-1", -EINVAL },
	{ "find(x = 1, x, 0)", -ELOOP },
	{ "find(x = 1, x, 0) ?: 5", -ELOOP },
	{ "find(x = 1, x + 1, find(y = 1, y + 1, y == 5) == 6)", -ELOOP },
	{ "find(x = 1, u64[8], 0)", -ENOENT },
	{ "python311_line(0x10000, 0x7fffffffffffffff, 0, 1)", -EINVAL },
	{ "python311_line(0x10000, 100, 0, 1)", -EINVAL }, /* zeros */
	{ "python311_line(0x7777777777, 100, 0, 1)", -EFAULT },
	{ "python311_line(0x10000, 0, 0, 1)", -ENOENT },
	{ "ruby31_rank(0x7777777777, 1)", -EFAULT },
	{ "ruby31_rank(0x10000, 0x7fffffff)", -EFAULT },
	{ "ruby31_rank(0x10000, -1)", -EINVAL },
	/* However often it can't be done, it's done soon. */
	{ "find(x = 1, x + 1, (python311_line(0x10000, 0x1000, 9, 1) ?: 0) "
	  "&& 0)",
	  -ELOOP },
};

START_TEST(what_cannot_be_had)
{
	unsigned value = 0;

	ck_assert_int_eq(value_of(failures[_i].expression, &value),
			 failures[_i].error);
}
END_TEST

/* A chain of three: next, number. */
START_TEST(chains)
{
	struct {
		uint64_t next, number;
	} members[] = { { DATA + 16, 10 }, { DATA + 32, 20 }, { 0, 30 } };
	unsigned value = 0;

	ck_assert_uint_eq(put(members, sizeof(members)), DATA);
	ck_assert_int_eq(value_of("u64[find(each = 0x10000, u64[each], "
				  "u64[each + 8] > 15) + 8]",
				  &value),
			 0);
	ck_assert_uint_eq(value, 20);
	ck_assert_int_eq(value_of("find(each = 0x10000, u64[each], "
				  "u64[each + 8] == 7)",
				  &value),
			 0);
	ck_assert_uint_eq(value, 0);
	ck_assert_int_eq(value_of("with(x = 3, x * with(x = x + 1, x) + x)",
				  &value),
			 0);
	ck_assert_uint_eq(value, 15);
	ck_assert_int_eq(value_of("with(x = u64[0], 5)", &value), -ENOENT);
	ck_assert_int_eq(value_of("with(x = find(y = 0x10000, u64[y], "
				  "u64[y + 8] == 30), u64[x + 8])",
				  &value),
			 0);
	ck_assert_uint_eq(value, 30);
	/* The inner one hides the name, and the outer one has it back. */
	ck_assert_int_eq(value_of("u64[find(each = 0x10000, u64[each], "
				  "find(each = 0x10010, u64[each], "
				  "u64[each + 8] == 30) && "
				  "u64[each + 8] == 20) + 8]",
				  &value),
			 0);
	ck_assert_uint_eq(value, 20);
}
END_TEST

/* line, file, caller */
struct frame_record {
	uint64_t line, file, caller;
};

static taddr_t put_frames(void)
{
	struct frame_record record = { 30, put_text("/srv/main.x"), 0 };

	data.used = (data.used + 7) & ~7;
	record.caller = put(&record, sizeof(record));
	record.line = 20;
	record.file = put_text("lib.x");
	record.caller = put(&record, sizeof(record));
	record.line = 10;
	return put(&record, sizeof(record));
}

static const char walk[] = "script frame = u64[&here];\n"
			   "script line = u64[frame];\n"
			   "script outer = u64[frame + 16];\n"
			   "script file = text(u64[frame + 8]);\n";

static void check_frame(const struct script_frame *frame, const char *file,
			unsigned line)
{
	ck_assert_str_eq(frame->file, file);
	ck_assert_uint_eq(frame->line, line);
}

START_TEST(frames_outwards)
{
	uint64_t innermost = put_frames();
	struct script_frames *frames;

	places[0] = put(&innermost, sizeof(innermost));
	read_script(walk);
	ck_assert_str_eq(said, "");
	ck_assert_int_eq(ask(9, &frames), 0);
	ck_assert_uint_eq(frames->count, 3);
	check_frame(&frames->list[0], "lib.x", 10);
	check_frame(&frames->list[1], "lib.x", 20);
	check_frame(&frames->list[2], "/srv/main.x", 30);
	script_frames_free(frames);
	ck_assert_int_eq(ask(2, &frames), 0);
	ck_assert_uint_eq(frames->count, 2);
	script_frames_free(frames);
}
END_TEST

static const struct {
	const char *files[3]; /* outwards */
	unsigned own;         /* line: 10, 20 or 30 */
} libraries[] = {
	{ { "a.py", "b.py", "c.py" }, 10 },
	{ { "/usr/lib/python3/dist-packages/x.py", "b.py", "c.py" }, 20 },
	{ { "/usr/share/x.rb", "/var/lib/gems/3.1.0/y.rb", "c.rb" }, 30 },
	{ { "<frozen os>", "(eval 1)", "c" }, 30 },
	{ { "/srv/vendor/x.php", "/srv/lib/y.php", "/srv/c.php" }, 20 },
	{ { "/usr/lib/x", "/usr/lib/y", "/usr/lib/z" }, 10 },
	{ { "/usr/library/x", "/usr/lib/y", "/usr/lib/z" }, 10 },
};

START_TEST(own_frame)
{
	struct frame_record record = { 0, 0, 0 };
	struct script_frames *frames;
	uint64_t innermost;

	for (unsigned i = 3; i-- > 0;) {
		record.file = put_text(libraries[_i].files[i]);
		record.line = 10 * (i + 1);
		record.caller = put(&record, sizeof(record));
	}
	innermost = record.caller;
	places[0] = put(&innermost, sizeof(innermost));
	read_script(walk);
	ck_assert_int_eq(ask(1, &frames), 0);
	ck_assert_uint_eq(frames->count, 1);
	ck_assert_uint_eq(frames->list[0].line, 10);
	ck_assert_uint_eq(frames->own->line, libraries[_i].own);
	script_frames_free(frames);
}
END_TEST

/* A circle of frames ends where nobody would read on. */
START_TEST(frames_without_end)
{
	struct frame_record record = { 1, put_text("f"), DATA + 8 };
	uint64_t innermost = DATA + 8;
	struct script_frames *frames;

	data.used = 8;
	ck_assert_uint_eq(put(&record, sizeof(record)), DATA + 8);
	places[0] = put(&innermost, sizeof(innermost));
	read_script(walk);
	ck_assert_int_eq(ask(100, &frames), 0);
	ck_assert_uint_eq(frames->count, 100);
	script_frames_free(frames);
	ck_assert_int_eq(ask(SIZE_MAX, &frames), 0);
	ck_assert_uint_lt(frames->count, 1u << 16);
	script_frames_free(frames);
}
END_TEST

START_TEST(not_in_a_frame)
{
	uint64_t nothing = 0;
	struct script_frames *frames;

	places[0] = put(&nothing, sizeof(nothing));
	read_script(walk);
	ck_assert_int_eq(ask(1, &frames), -ENOENT);
}
END_TEST

START_TEST(another_interpreter)
{
	struct script_frames *frames;
	unsigned before;

	put_text("f");
	read_script("script valid = 2 == 3;\n"
		    "script line = 1;\n"
		    "script file = text(0x10000);\n");
	ck_assert_int_eq(ask(1, &frames), -ENOENT);
	read_script("script valid = 3 == 3;\n"
		    "script line = 1;\n"
		    "script file = text(0x10000);\n");
	ck_assert_int_eq(ask(1, &frames), 0);
	script_frames_free(frames);
	before = asked;
	/* What comes behind is not looked at. */
	read_script("script valid = 0;\n"
		    "script line = &far;\n"
		    "script file = text(0x10000);\n");
	ck_assert_int_eq(ask(1, &frames), -ENOENT);
	ck_assert_uint_eq(asked, before);
}
END_TEST

START_TEST(half_a_script)
{
	struct script_frames *frames;

	read_script("script line = 1;\n");
	ck_assert_int_eq(ask(1, &frames), -ENOENT);
	read_script("script file = text(0x10000);\n");
	ck_assert_int_eq(ask(1, &frames), -ENOENT);
}
END_TEST

START_TEST(objects)
{
	size_t count;
	const struct script_object *found;

	read_script("script a = &shared + tls(own) + &shared;\n"
		    "script b = tls(own) + &own;\n");
	found = script_objects(script, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_str_eq(found[0].name, "shared");
	ck_assert(!found[0].per_thread);
	ck_assert_str_eq(found[1].name, "own");
	ck_assert(found[1].per_thread);
	ck_assert_str_eq(found[2].name, "own");
	ck_assert(!found[2].per_thread);
}
END_TEST

/* Text of a file, from bytes at DATA. */
static const struct {
	const char *file;
	const char *bytes;
	size_t size;
	const char *text; /* NULL: none */
} texts[] = {
	{ "text(0x10000)", "a.x\0y", 6, "a.x" },
	{ "text(0x10000, 2)", "a.x", 4, "a." },
	{ "text(0x10000, 3)", "a\0b", 4, "a?b" },
	{ "text(0x10000)", "\0", 2, NULL },
	{ "text(0x10000, 0)", "abc", 4, NULL },
	{ "text(0x10000, 4097)", "abc", 4, NULL },
	{ "text(0x10000, -1)", "abc", 4, NULL },
	{ "text(0)", "abc", 4, NULL },
	{ "text(0x7777777777, 3)", "abc", 4, NULL },
	{ "characters(0x10000, 3, 1)", "a\xe9z", 4, "a\u00e9z" },
	{ "characters(0x10000, 2, 2)", "\xe9\0\x16\x4e", 5, "\u00e9\u4e16" },
	{ "characters(0x10000, 2, 4)", "\x2f\0\0\0\x42\xf6\x01\0", 9,
	  "/\U0001f642" },
	{ "characters(0x10000, 2, 2)", "\x00\xd8\x41\0", 5, "?A" },
	{ "characters(0x10000, 1, 4)", "\0\0\x11\0", 5, "?" },
	{ "characters(0x10000, 1, 0)", "abc", 4, NULL },
	{ "characters(0x10000, 1, 3)", "abc", 4, NULL },
	{ "characters(0x10000, 0, 1)", "abc", 4, NULL },
	{ "characters(0x10000, 1025, 4)", "abc", 4, NULL },
	{ "characters(0x10000, 1 << 62, 4)", "abc", 4, NULL },
};

START_TEST(text_of_a_file)
{
	char *items = xasprintf("script line = 1;\nscript file = %s;\n",
				texts[_i].file);
	struct script_frames *frames;
	int err;

	put(texts[_i].bytes, texts[_i].size);
	read_script(items);
	free(items);
	ck_assert_str_eq(said, "");
	err = ask(1, &frames);
	if (!texts[_i].text) {
		ck_assert_int_lt(err, 0);
		return;
	}
	ck_assert_int_eq(err, 0);
	ck_assert_str_eq(frames->list[0].file, texts[_i].text);
	script_frames_free(frames);
}
END_TEST

/*
 * Entries by the book, CPython's Objects/locations.md: 0x80 | code << 3 |
 * units - 1, and what the code asks for. The first line is 100.
 */
START_TEST(python_lines)
{
	static const uint8_t table[] = {
		0x80 | 0 << 3 | 1,  0x12,              /* 2 units, line + 0 */
		0x80 | 11 << 3 | 0, 3,        4,       /* 1, + 1 */
		0x80 | 12 << 3 | 7, 3,        4,       /* 8, + 2 */
		0x80 | 13 << 3 | 0, 7,                 /* 1, - 3 */
		0x80 | 13 << 3 | 0, 0x40 | 8, 3,       /* 1, + 100 */
		0x80 | 15 << 3 | 2,                    /* 3, no line */
		0x80 | 14 << 3 | 0, 4,        1, 5, 6, /* 1, + 2 */
	};
	static const unsigned lines[] = {
		100, 100, 101, 103, 103, 103, 103, 103, 103,
		103, 103, 100, 200, 0,   0,   0,   202,
	};
	taddr_t at = put(table, sizeof(table));
	unsigned value, i;
	char text[100];

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		sprintf(text, "python311_line(0x%llx, %zu, %u, 100)",
			(unsigned long long)at, sizeof(table), 2 * i);
		value = 1;
		ck_assert_int_eq(value_of(text, &value), 0);
		ck_assert_msg(value == lines[i], "unit %u: %u", i, value);
	}
	sprintf(text, "python311_line(0x%llx, %zu, %u, 100)",
		(unsigned long long)at, sizeof(table), 2 * i);
	ck_assert_int_eq(value_of(text, &value), -ENOENT);
	sprintf(text, "python311_line(0x%llx, %zu, -2, 100)",
		(unsigned long long)at, sizeof(table));
	ck_assert_int_eq(value_of(text, &value), 0);
	ck_assert_uint_eq(value, 100);
}
END_TEST

/* As Ruby's iseq.c builds it, from where entries begin; counted one by one. */
#define POSITIONS (54 + 2 * 512)

static void build_ranks(const bool begins[POSITIONS], uint8_t *out)
{
	unsigned rank = 0, before = 0;
	uint64_t word = 0, ranks = 0;

	for (unsigned i = 0; i < 54; i++) {
		rank += begins[i];
		word |= (uint64_t)rank << i % 9 * 7;
		if (i % 9 == 8) {
			memcpy(out + i / 9 * 8, &word, 8);
			word = 0;
		}
	}
	for (unsigned block = 0; block < 2; block++) {
		uint8_t *at = out + 48 + block * 80;

		memcpy(at, &rank, 4);
		before = 0;
		ranks = 0;
		for (unsigned small = 0; small < 8; small++) {
			if (small)
				ranks |= (uint64_t)before << (small - 1) * 9;
			word = 0;
			for (unsigned i = 0; i < 64; i++)
				if (begins[54 + block * 512 + small * 64 + i])
					word |= 1ull << i;
			before += __builtin_popcountll(word);
			memcpy(at + 16 + small * 8, &word, 8);
		}
		memcpy(at + 8, &ranks, 8);
		rank += before;
	}
}

START_TEST(ruby_ranks)
{
	bool begins[POSITIONS] = { true };
	uint8_t table[48 + 2 * 80] = { 0 };
	unsigned rank = 0, value;
	taddr_t at;

	for (unsigned i = 1; i < POSITIONS; i++)
		begins[i] = i * 2654435761u >> 30 == 0;
	build_ranks(begins, table);
	at = put(table, sizeof(table));
	for (unsigned i = 0; i < POSITIONS; i++) {
		char text[100];

		data.used = sizeof(table);
		rank += begins[i];
		sprintf(text, "ruby31_rank(0x%llx, %u)", (unsigned long long)at,
			i);
		ck_assert_int_eq(value_of(text, &value), 0);
		ck_assert_msg(value == rank, "%u: %u, not %u", i, value, rank);
	}
	ck_assert_uint_gt(rank, 200);
}
END_TEST

/* Each line with what is said of it. */
static const struct {
	const char *line;
	const char *complaint;
} mistakes[] = {
	{ "script", "7: expected a name for the value before the end" },
	{ "script 3 = 4;", "8: expected a name for the value, not '3'" },
	{ "script a 4;", "10: expected '=', not '4'" },
	{ "script a = ;", "12: expected a value, not ';'" },
	{ "script a = 4", NULL },
	{ "script a = 4 4;", "14: expected ';', not '4'" },
	{ "script a = 4 +;", "15: expected a value, not ';'" },
	{ "script a = (4;", "14: expected ')', not ';'" },
	{ "script a = u64(4);", "15: expected '[', not '('" },
	{ "script a = u64[4;", "17: expected ']', not ';'" },
	{ "script a = b;", "12: expected a name that was given to a value "
			   "before, not 'b'" },
	{ "script a = a;", "12: expected a name that was given to a value "
			   "before, not 'a'" },
	{ "script find = 1;", "8: expected a name that is not taken, not "
			      "'find'" },
	{ "script u8 = 1;", "8: expected a name that is not taken, not 'u8'" },
	{ "script a = &3;", "13: expected the name of a variable of the "
			    "interpreter, not '3'" },
	{ "script a = tls(3);", "16: expected the name of a variable of the "
				"interpreter, not '3'" },
	{ "script a = tls b;", "16: expected '(', not 'b'" },
	{ "script a = find(x, 1, 2);", "18: expected '=', not ','" },
	{ "script a = find(tls = 1, 1, 2);", "17: expected a name for the "
					     "value, not 'tls'" },
	{ "script a = find(x = x, 1, 2);", "21: expected a name that was given "
					   "to a value before, not 'x'" },
	{ "script a = with(x = 1);", "22: expected ',', not ')'" },
	{ "script a = with(x = 1, x) + x;", "29: expected a name that was "
					    "given to a value before, not "
					    "'x'" },
	{ "script a = find(x = 1, x);", "25: expected ',', not ')'" },
	{ "script a = find(x = 1, x, 1) + x;", "32: expected a name that was "
					       "given to a value before, not "
					       "'x'" },
	{ "script a = 1 ? 2;", "17: expected ':', not ';'" },
	{ "script a = 1 < = 2;", "16: expected a value, not '='" },
	{ "script a = text(1);", "12: expected a name that was given to a "
				 "value before, not 'text'" },
	{ "script a = ruby31_rank(1);", "25: expected ',', not ')'" },
	{ "script file = 1;", "15: expected text(...) or characters(...), "
			      "not '1'" },
	{ "script file = text(1, 2, 3);", "24: expected ')', not ','" },
	{ "script file = characters(1, 2);", "30: expected ',', not ')'" },
	{ "script a = 99999999999999999999;", "12: expected a number of at "
					      "most 64 bits" },
};

START_TEST(mistake)
{
	read_script(mistakes[_i].line);
	if (mistakes[_i].complaint)
		ck_assert_msg(strstr(said, mistakes[_i].complaint) != NULL,
			      "%s: %s", mistakes[_i].line, said);
	else
		ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(names_are_taken_once)
{
	read_script("script a = 1;\nscript a = 2;\n");
	ck_assert_msg(strstr(said, "a name that is not taken, not 'a'") != NULL,
		      "%s", said);
}
END_TEST

/* What stands in a file of megabytes can't take us too deep. */
static char *repeat(const char *before, const char *middle, unsigned times,
		    const char *after)
{
	struct strbuf text = { 0 };

	strbuf_puts(&text, before);
	for (unsigned i = 0; i < times; i++)
		strbuf_puts(&text, middle);
	strbuf_puts(&text, after);
	return text.text;
}

static void check_said(char *text, const char *wanted)
{
	said[0] = '\0';
	read_script(text);
	ck_assert_msg(strstr(said, wanted) != NULL, "%s", said);
	free(text);
}

START_TEST(too_much)
{
	check_said(repeat("script a = ", "(", 100000, "1;"),
		   "values nested less deeply");
	check_said(repeat("script a = ", "!", 100000, "1;"),
		   "values nested less deeply");
	check_said(repeat("script a = ", "1 ? ", 100000, "1;"),
		   "values nested less deeply");
	check_said(repeat("script a = 1", " + 1", 100000, ";"),
		   "a shorter script");
	check_said(repeat("script a = 1", " ?: 1", 100000, ";"),
		   "values nested less deeply");
	check_said(repeat("script a = ", "find(x = 1, 2, ", 20, "3;"),
		   "names nested less deeply");
}
END_TEST

START_TEST(too_many)
{
	struct strbuf text = { 0 };

	for (int i = 0; i < 70; i++)
		strbuf_printf(&text, "script a%d = 1;\n", i);
	check_said(text.text, "no more script items");
	text = (struct strbuf){ 0 };
	for (int i = 0; i < 40; i++)
		strbuf_printf(&text, "script a%d = &v%d;\n", i, i);
	check_said(text.text, "fewer variables of the interpreter");
}
END_TEST

START_TEST(a_long_one)
{
	char *text = repeat("script line = 1", " + 1", 900,
			    ";\nscript file = text(0x10000);\n");
	struct script_frames *frames;

	put_text("f");
	read_script(text);
	free(text);
	ck_assert_str_eq(said, "");
	ck_assert_int_eq(ask(1, &frames), 0);
	ck_assert_uint_eq(frames->list[0].line, 901);
	script_frames_free(frames);
}
END_TEST

/* The file's own, or else what it imports; and the user's before both. */
START_TEST(which_file)
{
	size_t count;

	write_file("liba.so.conf", "script a = &in_a;\n");
	write_file("libb.so.conf", "import \"liba.so\";\n");
	write_file("libc.so.conf", "script c = &in_c;\nimport \"liba.so\";\n"
				   "script d = c;\n");
	write_file("libd.so.conf", "int f(int);\n");
	prototypes_add_directory(all, directory);
	script = prototypes_script(all, "libb.so.5", 0);
	ck_assert_str_eq(script_objects(script, &count)[0].name, "in_a");
	script = prototypes_script(all, "libc.so.6", 0);
	ck_assert_str_eq(script_objects(script, &count)[0].name, "in_c");
	ck_assert_ptr_null(prototypes_script(all, "libc.so.6", 1));
	ck_assert_ptr_null(prototypes_script(all, "libd.so", 0));
	ck_assert_ptr_null(prototypes_script(all, "nothing", 0));
	add_text("script mine = &in_mine;\n");
	script = prototypes_script(all, "libc.so.6", 0);
	ck_assert_str_eq(script_objects(script, &count)[0].name, "in_mine");
	script = prototypes_script(all, "libc.so.6", 1);
	ck_assert_str_eq(script_objects(script, &count)[0].name, "in_c");
	ck_assert_str_eq(said, "");
}
END_TEST

/* Outside of all functions there is no name; nothing else is told for it. */
START_TEST(functions)
{
	static const struct {
		const char *name;
		const char *wanted;
	} names[] = {
		{ "text(0x%llx, 3)", "abc" },
		{ "text(0x%llx, 0)", NULL },
		{ "text(0x%llx & 1)", NULL },
		{ "characters(0x%llx, 4, 1)", "abcd" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		unsigned long long at = put_text("abcd");
		char *name = xasprintf(names[i].name, at);
		char *text = xasprintf("script line = 7;\n"
				       "script function = %s;\n"
				       "script file = text(0x%llx, 2);\n",
				       name, at);
		struct script_frames *frames;

		read_script(text);
		ck_assert_str_eq(said, "");
		ck_assert_int_eq(ask(1, &frames), 0);
		ck_assert_pstr_eq(frames->list[0].function, names[i].wanted);
		ck_assert_str_eq(frames->list[0].file, "ab");
		script_frames_free(frames);
		free(text);
		free(name);
	}
}
END_TEST

static Suite *script_suite(void)
{
	Suite *suite = suite_create("script");
	TCase *tests = tcase_create("script");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, operators, 0, ARRAY_SIZE(expressions));
	tcase_add_test(tests, reads);
	tcase_add_loop_test(tests, what_cannot_be_had, 0, ARRAY_SIZE(failures));
	tcase_add_test(tests, chains);
	tcase_add_test(tests, frames_outwards);
	tcase_add_loop_test(tests, own_frame, 0, ARRAY_SIZE(libraries));
	tcase_add_test(tests, frames_without_end);
	tcase_add_test(tests, not_in_a_frame);
	tcase_add_test(tests, another_interpreter);
	tcase_add_test(tests, half_a_script);
	tcase_add_test(tests, objects);
	tcase_add_loop_test(tests, text_of_a_file, 0, ARRAY_SIZE(texts));
	tcase_add_test(tests, python_lines);
	tcase_add_test(tests, ruby_ranks);
	tcase_add_loop_test(tests, mistake, 0, ARRAY_SIZE(mistakes));
	tcase_add_test(tests, names_are_taken_once);
	tcase_add_test(tests, too_much);
	tcase_add_test(tests, too_many);
	tcase_add_test(tests, a_long_one);
	tcase_add_test(tests, which_file);
	tcase_add_test(tests, functions);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return unit_run(script_suite());
}
