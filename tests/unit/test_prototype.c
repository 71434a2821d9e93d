/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "prototype/format.h"
#include "prototype/lexer.h"
#include "prototype/prototype.h"

/* A process whose memory is one buffer and whose arguments are a list. */

#define DATA 0x10000u
#define ARGUMENTS 40

static uint64_t arguments[ARGUMENTS];
static uint64_t result;

struct data {
	struct memory memory;
	char bytes[8192];
	size_t used;
};

static size_t data_read(struct memory *memory, taddr_t address, void *ret,
			size_t size)
{
	struct data *data = (struct data *)memory;
	size_t room;

	if (address < DATA || address >= DATA + sizeof(data->bytes))
		return 0;
	room = DATA + sizeof(data->bytes) - address;
	if (size > room)
		size = room;
	memcpy(ret, data->bytes + (address - DATA), size);
	return size;
}

static const struct memory_ops data_ops = { .read = data_read };
static struct data data = { .memory = { &data_ops } };

static taddr_t put(const void *bytes, size_t n)
{
	taddr_t address = DATA + data.used;

	ck_assert(data.used + n <= sizeof(data.bytes));
	memcpy(data.bytes + data.used, bytes, n);
	data.used += n;
	return address;
}

static taddr_t put_text(const char *text)
{
	return put(text, strlen(text) + 1);
}

static int fake_argument(const struct regs *entry, struct memory *memory,
			 unsigned index, uint64_t *ret)
{
	(void)entry;
	(void)memory;
	if (index >= ARGUMENTS)
		return -EFAULT;
	*ret = arguments[index];
	return 0;
}

static uint64_t fake_result(const struct regs *regs)
{
	(void)regs;
	return result;
}

static const struct arch_ops machine64 = {
	.word_size = 8, .argument = fake_argument, .result = fake_result,
};
static const struct arch_ops machine32 = {
	.word_size = 4, .argument = fake_argument, .result = fake_result,
};

/* What was said. */

static char said[8192];
static unsigned warnings;

static void hear(enum diag_level level, enum diag_domain domain,
		 const char *message)
{
	size_t length = strlen(said);

	ck_assert_int_eq(domain, DIAG_PROTOTYPE);
	if (level == DIAG_WARNING)
		warnings++;
	snprintf(said + length, sizeof(said) - length, "%s\n", message);
}

/* Prototype files. */

static char directory[] = "/tmp/test_prototype.XXXXXX";
static struct prototypes *all;

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", directory, name);
}

static void write_bytes(const char *name, const char *text, size_t size)
{
	char *path = path_of(name);
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fwrite(text, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
	free(path);
}

static void write_file(const char *name, const char *text)
{
	write_bytes(name, text, strlen(text));
}

static void setup(void)
{
	strcpy(directory + sizeof(directory) - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	all = prototypes_new();
	data.used = 0;
	memset(data.bytes, 0, sizeof(data.bytes));
	memset(arguments, 0, sizeof(arguments));
	result = 0;
	said[0] = '\0';
	warnings = 0;
	diag_set_receiver(hear);
	diag_set_debug(0);
}

static void teardown(void)
{
	char *command = xasprintf("rm -r %s", directory);

	prototypes_free(all);
	diag_set_receiver(NULL);
	ck_assert_int_eq(system(command), 0);
	free(command);
}

static int add(const char *name)
{
	char *path = path_of(name);
	int err = prototypes_add(all, path);

	free(path);
	return err;
}

static void add_text(const char *text)
{
	write_file("test.conf", text);
	ck_assert_int_eq(add("test.conf"), 0);
}

/* Printing. */

static struct print_limits limits = { .string_bytes = 32,
				      .array_elements = 4 };
static const struct regs regs;

enum part { ENTRY, LATER, RESULT };

static const char *print_on(const struct arch_ops *arch, const char *function,
			    enum part part)
{
	static struct strbuf out;
	struct call_values values = {
		.arch = arch,
		.entry_regs = &regs,
		.result_regs = part == ENTRY ? NULL : &regs,
		.memory = &data.memory,
	};
	const struct prototype *prototype = NULL;

	if (function) {
		prototype = prototypes_find(all, NULL, function);
		ck_assert_msg(prototype != NULL, "no %s: %s", function, said);
	}
	strbuf_clear(&out);
	if (part == ENTRY)
		prototype_print_entry(prototype, &values, &limits, &out);
	else if (part == LATER)
		prototype_print_later(prototype, &values, &limits, &out);
	else
		prototype_print_result(prototype, &values, &limits, &out);
	return strbuf_text(&out);
}

static const char *print(const char *function, enum part part)
{
	return print_on(&machine64, function, part);
}

/* The one argument of a function with this parameter type. */
static const char *shown(const char *type, uint64_t value)
{
	char *text = xasprintf("void f(%s);\n", type);
	const char *printed;

	prototypes_free(all);
	all = prototypes_new();
	add_text(text);
	free(text);
	arguments[0] = value;
	printed = print("f", ENTRY);
	ck_assert_str_eq(said, "");
	return printed;
}

static const char *shown_text(const char *text)
{
	return shown("string", put_text(text));
}

START_TEST(integers_are_cut_to_their_size)
{
	uint64_t word = 0xfedcba98fffefdfcull;

	ck_assert_str_eq(shown("int", word), "-66052");
	ck_assert_str_eq(shown("uint", word), "4294901244");
	ck_assert_str_eq(shown("short", word), "-516");
	ck_assert_str_eq(shown("ushort", word), "65020");
	ck_assert_str_eq(shown("uchar", word), "252");
	ck_assert_str_eq(shown("int8", word), "-4");
	ck_assert_str_eq(shown("long", word), "-81985526906814980");
	ck_assert_str_eq(shown("ulong", -1), "18446744073709551615");
	ck_assert_str_eq(shown("ullong", -1), "18446744073709551615");
	ck_assert_str_eq(shown("int64", -1), "-1");
	ck_assert_str_eq(shown("uint16", -1), "65535");
}
END_TEST

START_TEST(lenses_change_how_integers_are_shown)
{
	ck_assert_str_eq(shown("hex(int)", -1), "0xffffffff");
	ck_assert_str_eq(shown("hex(ulong)", 0x1234567890ull),
			 "0x1234567890");
	ck_assert_str_eq(shown("hex(char)", -1), "0xff");
	ck_assert_str_eq(shown("hex(uint)", 0), "0");
	ck_assert_str_eq(shown("oct(uint)", 0644), "0644");
	ck_assert_str_eq(shown("octal", 0), "0");
	ck_assert_str_eq(shown("bool(int)", 0), "false");
	ck_assert_str_eq(shown("bool(int)", 0x100), "true");
	ck_assert_str_eq(shown("bool", 0x100), "false");
	ck_assert_str_eq(shown("hide(int)", 3), "");
	ck_assert_str_eq(shown("hide(string)", 3), "");
	ck_assert_str_eq(shown("guess(int)", 0xffffffff), "-1");
}
END_TEST

START_TEST(characters_are_quoted)
{
	ck_assert_str_eq(shown("char", 'A'), "'A'");
	ck_assert_str_eq(shown("char", '\n'), "'\\n'");
	ck_assert_str_eq(shown("char", '\''), "'\\''");
	ck_assert_str_eq(shown("char", '"'), "'\"'");
	ck_assert_str_eq(shown("char", 0), "'\\0'");
	ck_assert_str_eq(shown("char", 0x80), "'\\200'");
	ck_assert_str_eq(shown("char", -1), "EOF");
	ck_assert_str_eq(shown("char(int)", 'x'), "'x'");
	ck_assert_str_eq(shown("char(int)", 0xff), "'\\377'");
	ck_assert_str_eq(shown("char(int)", 1000), "1000");
	ck_assert_str_eq(shown("char(int)", 0xffffffff), "EOF");
}
END_TEST

START_TEST(enums_show_names)
{
	const char *colours = "enum(RED, GREEN=5, BLUE, LAST=-2)";

	ck_assert_str_eq(shown(colours, 0), "RED");
	ck_assert_str_eq(shown(colours, 6), "BLUE");
	ck_assert_str_eq(shown(colours, 0xfffffffe), "LAST");
	ck_assert_str_eq(shown(colours, 7), "7");
	ck_assert_str_eq(shown("enum[uchar](ALL=0xff)", -1), "ALL");
	ck_assert_str_eq(shown("enum[ulong](ALL=0xffffffffffffffff)", -1),
			 "ALL");
}
END_TEST

START_TEST(bit_vectors_show_bits)
{
	ck_assert_str_eq(shown("bitvec(uint)", 0xb8), "<3-5,7>");
	ck_assert_str_eq(shown("bitvec(uint)", 0), "<>");
	ck_assert_str_eq(shown("bitvec(uint)", 0xfffffffe), "~<0>");
	ck_assert_str_eq(shown("bitvec(ushort)", 0xffff), "~<>");
	ck_assert_str_eq(shown("bitvec(ulong)", 1ull << 63), "<63>");
}
END_TEST

START_TEST(pointers_show_what_is_behind_them)
{
	int number = -7;
	taddr_t inner = put(&number, sizeof(number));
	taddr_t outer = put(&inner, sizeof(inner));
	taddr_t text = put_text("text");
	taddr_t to_text = put(&text, sizeof(text));

	ck_assert_str_eq(shown("addr", 0x1234), "0x1234");
	ck_assert_str_eq(shown("file", 0x1234), "0x1234");
	ck_assert_str_eq(shown("void*", 0x1234), "0x1234");
	ck_assert_str_eq(shown("addr", 0), "nil");
	ck_assert_str_eq(shown("int*", 0), "nil");
	ck_assert_str_eq(shown("int*", inner), "-7");
	ck_assert_str_eq(shown("hex(int*)", inner), "0xfffffff9");
	ck_assert_str_eq(shown("int * *", outer), "-7");
	ck_assert_str_eq(shown("int*", 0x42), "0x42?");
	ck_assert_str_eq(shown("char*", text), "'t'");
	ck_assert_str_eq(shown("string*", to_text), "\"text\"");
	ck_assert_str_eq(shown("void**", to_text), "0x1000c");
	ck_assert_str_eq(shown("double*", inner), "0x10000");
}
END_TEST

START_TEST(arrays_show_their_elements)
{
	int numbers[] = { 1, 2, 3, 4, 5, 0 };
	taddr_t at = put(numbers, sizeof(numbers));

	ck_assert_str_eq(shown("array(int, 2)", at), "[ 1, 2 ]");
	ck_assert_str_eq(shown("array(int, 5)*", at), "[ 1, 2, 3, 4... ]");
	ck_assert_str_eq(shown("array(int, zero)", at), "[ 1, 2, 3, 4... ]");
	ck_assert_str_eq(shown("array(int, zero)", at + 8), "[ 3, 4, 5 ]");
	ck_assert_str_eq(shown("array(int, zero(1))", at), "[ 1 ]");
	ck_assert_str_eq(shown("array(int, 2)", 0x42), "0x42?");
	ck_assert_str_eq(shown("hex(array(int, 1))", at), "[ 0x1 ]");
}
END_TEST

START_TEST(nested_arrays_come_to_an_end)
{
	struct strbuf type = { 0 };
	taddr_t self[4] = { DATA, DATA, DATA, DATA };

	put(self, sizeof(self));
	for (int i = 0; i < 14; i++)
		strbuf_puts(&type, "array(");
	strbuf_puts(&type, "int");
	for (int i = 0; i < 14; i++)
		strbuf_puts(&type, ", 4)*");
	ck_assert_uint_lt(strlen(shown(strbuf_text(&type), DATA)), 1000000);
	strbuf_fini(&type);
}
END_TEST

START_TEST(strings_are_escaped)
{
	ck_assert_str_eq(shown_text("plain"), "\"plain\"");
	ck_assert_str_eq(shown_text(""), "\"\"");
	ck_assert_str_eq(shown_text("say \"no\" \\"),
			 "\"say \\\"no\\\" \\\\\"");
	ck_assert_str_eq(shown_text("\t\n\r\a\b\v\f'"),
			 "\"\\t\\n\\r\\a\\b\\v\\f'\"");
	ck_assert_str_eq(shown_text("\001x\0017\377"),
			 "\"\\001x\\0017\\377\"");
}
END_TEST

START_TEST(strings_are_limited)
{
	limits.string_bytes = 3;
	ck_assert_str_eq(shown_text("abc"), "\"abc\"");
	ck_assert_str_eq(shown_text("abcd"), "\"abc\"...");
	limits.string_bytes = 0;
	ck_assert_str_eq(shown_text("abcd"), "\"\"...");
	ck_assert_str_eq(shown_text(""), "\"\"");
	limits.string_bytes = 32;
}
END_TEST

START_TEST(bad_strings_show_addresses)
{
	taddr_t last = DATA + sizeof(data.bytes) - 3;

	memcpy(data.bytes + sizeof(data.bytes) - 3, "end", 3);
	ck_assert_str_eq(shown("string", 0), "nil");
	ck_assert_str_eq(shown("string", 0xdead), "0xdead?");
	ck_assert_str_eq(shown("string", -1), "0xffffffffffffffff?");
	ck_assert_str_eq(shown("string", last), "\"end\"...");
	ck_assert_str_eq(shown("string[3]", last), "\"end\"");
	ck_assert_str_eq(shown("string[4]", last), "\"end\"...");
}
END_TEST

START_TEST(long_strings_come_in_pieces)
{
	char text[6000];
	const char *printed;

	memset(text, 'x', sizeof(text));
	text[5000] = '\0';
	limits.string_bytes = -1;
	printed = shown("string", put(text, sizeof(text)));
	ck_assert_uint_eq(strlen(printed), 5002);
	printed = shown("bytes[6000]", DATA);
	ck_assert_uint_eq(strlen(printed), 5002 + 2 + 999);
	limits.string_bytes = 32;
}
END_TEST

START_TEST(lengths_come_from_numbers_and_arguments)
{
	add_text("int number(string[2]);\n"
		 "int by_argument(int, string1);\n"
		 "int bracket(string[arg2], ulong);\n"
		 "int by_pointer(string[arg2], uint*);\n"
		 "int canonical(string(array(char, arg2)*), int);\n"
		 "int whole(bytes[arg2], int);\n"
		 "int capped(string[zero(arg2)], int);\n"
		 "int star(string(char*));\n"
		 "string2 back(addr, int);\n"
		 "int early(+string[retval], int);\n"
		 "int implied(string0, int);\n");
	ck_assert_str_eq(said, "");
	arguments[0] = put("ab\0cd", 6);
	arguments[1] = 2;
	ck_assert_str_eq(print("number", ENTRY), "\"ab\"");
	ck_assert_str_eq(print("bracket", ENTRY), "\"ab\", 2");
	arguments[1] = 1;
	ck_assert_str_eq(print("canonical", ENTRY), "\"a\", 1");
	arguments[1] = 5;
	ck_assert_str_eq(print("whole", ENTRY), "\"ab\\0cd\", 5");
	ck_assert_str_eq(print("capped", ENTRY), "\"ab\", 5");
	ck_assert_str_eq(print("star", ENTRY), "\"ab\"");
	result = arguments[0];
	arguments[1] = 1;
	ck_assert_str_eq(print("back", RESULT), "\"a\"");
	arguments[1] = arguments[0];
	arguments[0] = 1;
	ck_assert_str_eq(print("by_argument", ENTRY), "1, \"a\"");
	arguments[0] = arguments[1];
	arguments[1] = put("\002\0\0", 4);
	ck_assert_str_eq(print("by_pointer", ENTRY), "\"ab\", 2");
	arguments[1] = 7;
	ck_assert_str_eq(print("by_pointer", ENTRY), "0x10000, 0x7?");
}
END_TEST

START_TEST(out_arguments_are_printed_later)
{
	add_text("long read(int, +bytes[retval], ulong);\n"
		 "int implied(string0, int);\n"
		 "void none(int);\n");
	arguments[0] = 3;
	arguments[1] = put_text("data");
	arguments[2] = 100;
	result = 2;
	ck_assert_str_eq(print("read", ENTRY), "3");
	ck_assert_str_eq(print("read", LATER), "\"da\", 100");
	ck_assert_str_eq(print("read", RESULT), "2");
	result = -1;
	ck_assert_str_eq(print("read", LATER), "0x10000, 100");
	result = 0;
	ck_assert_str_eq(print("read", LATER), "\"\", 100");
	ck_assert_str_eq(print("implied", ENTRY), "");
	ck_assert_str_eq(print("none", ENTRY), "3");
	ck_assert_str_eq(print("none", LATER), "");
}
END_TEST

START_TEST(results_are_printed)
{
	add_text("void nothing();\n"
		 "string text();\n"
		 "hide(int) hidden();\n"
		 "char character();\n"
		 "addr address();\n"
		 "function int number(void);\n");
	result = put_text("yes");
	ck_assert_str_eq(print("nothing", RESULT), "<void>");
	ck_assert_str_eq(print("text", RESULT), "\"yes\"");
	ck_assert_str_eq(print("hidden", RESULT), "");
	ck_assert_str_eq(print("address", RESULT), "0x10000");
	result = 0x12345678ffffff41ull;
	ck_assert_str_eq(print("character", RESULT), "'A'");
	ck_assert_str_eq(print("number", RESULT), "-191");
	ck_assert_str_eq(print("number", ENTRY), "");
}
END_TEST

START_TEST(without_prototype_four_longs_are_guessed)
{
	arguments[0] = 10000;
	arguments[1] = 10001;
	arguments[2] = -10000;
	arguments[3] = 0xfffffffful;
	result = -1;
	ck_assert_str_eq(print(NULL, ENTRY), "10000, 0x2711, -10000, 0xffffffff");
	ck_assert_str_eq(print(NULL, LATER), "");
	ck_assert_str_eq(print(NULL, RESULT), "-1");
	result = 0x7fff00000000ul;
	ck_assert_str_eq(print(NULL, RESULT), "0x7fff00000000");
	arguments[2] = 0xffff0000ul;
	ck_assert_str_eq(print_on(&machine32, NULL, ENTRY),
			 "10000, 0x2711, 0xffff0000, -1");
}
END_TEST

START_TEST(words_of_32_bits)
{
	uint64_t two_pointers = DATA + 8;

	add_text("llong f(long, llong, string, ulong, uint**);\n"
		 "int printf(format);\n");
	put(&two_pointers, 8);
	put("\005\0\0\0\377\377\377\377", 8);
	arguments[0] = 0xfffffffe;
	arguments[1] = 0x89abcdef;
	arguments[2] = 0x01234567;
	arguments[3] = put_text("text");
	arguments[4] = 0xffffffff;
	arguments[5] = DATA;
	result = 0x100000002ull;
	ck_assert_str_eq(print_on(&machine32, "f", ENTRY),
			 "-2, 81985529216486895, \"text\", 4294967295, 5");
	ck_assert_str_eq(print_on(&machine32, "f", RESULT), "4294967298");
	arguments[0] = put_text("%lld %d %ld %p");
	arguments[3] = 0xfffffff0;
	arguments[4] = 0xfffffff1;
	arguments[5] = 0xfffffff2;
	ck_assert_str_eq(print_on(&machine32, "printf", ENTRY),
			 "\"%lld %d %ld %p\", 81985529216486895, -16, -15, "
			 "0xfffffff2");
}
END_TEST

static const char *printf_shows(const char *format)
{
	static char expected[256];

	data.used = 256;
	arguments[0] = put_text(format);
	snprintf(expected, sizeof(expected), "%s", print("printf", ENTRY));
	/* Less the format itself. */
	return strchr(expected, '|') ? strchr(expected, '|') + 2 : expected;
}

START_TEST(formats_call_for_arguments)
{
	add_text("int printf(format);\n");
	data.used = 0;
	arguments[1] = put_text("text");
	ck_assert_str_eq(printf_shows("%s|"), ", \"text\"");
	ck_assert_str_eq(printf_shows("%.2s|"), ", \"te\"");
	ck_assert_str_eq(printf_shows("%p|"), ", 0x10000");
	ck_assert_str_eq(printf_shows("%ls|"), ", 0x10000");
	ck_assert_str_eq(printf_shows("%n|"), ", 0x10000");
	arguments[1] = -1;
	arguments[2] = 'A';
	arguments[3] = 0x1ffffffff;
	ck_assert_str_eq(printf_shows("none|"), "");
	ck_assert_str_eq(printf_shows("100%% %m|"), "");
	ck_assert_str_eq(printf_shows("%d %c %x|"), ", -1, 'A', 0xffffffff");
	ck_assert_str_eq(printf_shows("%-+ #0'8.3i|"), ", -1");
	ck_assert_str_eq(printf_shows("%u %o|"), ", 4294967295, 0101");
	ck_assert_str_eq(printf_shows("%ld %hhd %hu|"), ", -1, 65, 65535");
	ck_assert_str_eq(printf_shows("%zu|"), ", 18446744073709551615");
	ck_assert_str_eq(printf_shows("%jd %lld %td|"),
			 ", -1, 65, 8589934591");
	ck_assert_str_eq(printf_shows("%*d|"), ", -1, 65");
	arguments[4] = DATA;
	arguments[1] = 10;
	arguments[3] = DATA;
	ck_assert_str_eq(printf_shows("%*.*s|"), ", 10, 65, \"text\"");
	arguments[2] = 1;
	ck_assert_str_eq(printf_shows("%*.*s|"), ", 10, 1, \"t\"");
	arguments[2] = 0xffffffff;
	ck_assert_str_eq(printf_shows("%*.*s|"), ", 10, -1, \"text\"");
	arguments[1] = 0;
	ck_assert_str_eq(printf_shows("%s|"), ", nil");
	arguments[1] = 1;
	ck_assert_str_eq(printf_shows("%s|"), ", 0x1?");
}
END_TEST

START_TEST(formats_stop_where_they_cannot_go_on)
{
	struct strbuf many = { 0 };

	add_text("int printf(format);\n");
	ck_assert_str_eq(printf_shows("%d %f %d|"), ", 0, ...");
	ck_assert_str_eq(printf_shows("%Lf|"), ", ...");
	ck_assert_str_eq(printf_shows("%1$d|"), ", ...");
	ck_assert_str_eq(printf_shows("%d|%"), "\", 0, ...");
	ck_assert_str_eq(printf_shows("%y %d|"), ", ...");
	for (int i = 0; i < 40; i++)
		strbuf_puts(&many, "%c");
	data.used = 256;
	arguments[0] = put_text(strbuf_text(&many));
	ck_assert_ptr_nonnull(strstr(print("printf", ENTRY), "'\\0', ..."));
	strbuf_fini(&many);
	arguments[0] = 5;
	ck_assert_str_eq(print("printf", ENTRY), "0x5?");
	arguments[0] = 0;
	ck_assert_str_eq(print("printf", ENTRY), "nil");
}
END_TEST

START_TEST(later_formats)
{
	add_text("int sprintf(+string, format);\n");
	arguments[0] = put_text("5");
	arguments[1] = put_text("%d");
	arguments[2] = 5;
	ck_assert_str_eq(print("sprintf", ENTRY), "");
	ck_assert_str_eq(print("sprintf", LATER), "\"5\", \"%d\", 5");
}
END_TEST

START_TEST(missing_arguments_are_question_marks)
{
	struct strbuf text = { 0 };

	strbuf_puts(&text, "void f(int");
	for (int i = 0; i < ARGUMENTS; i++)
		strbuf_puts(&text, ", hide(int)");
	strbuf_puts(&text, ", string);\n");
	add_text(strbuf_text(&text));
	strbuf_fini(&text);
	ck_assert_str_eq(print("f", ENTRY), "0, ?");
}
END_TEST

START_TEST(typedefs_and_comments)
{
	add_text("; a comment, with \"quotes and (\n"
		 "# another\n"
		 "\n"
		 "  \t\r\n"
		 "typedef mode = oct(uint);\n"
		 "typedef text = string;   ; comment\n"
		 "typedef link = struct;\n"
		 "typedef link = struct(int, link*);\n"
		 "int open(text, int, mode); # comment\n"
		 "link *next(link*);\r\n"
		 "int last(mode*)  ;");
	ck_assert_str_eq(said, "");
	arguments[0] = put_text("f");
	arguments[2] = 0600;
	ck_assert_str_eq(print("open", ENTRY), "\"f\", 0, 0600");
	ck_assert_str_eq(print("next", ENTRY), "0x10000");
	ck_assert_str_eq(print("last", ENTRY), "0146");
}
END_TEST

/* Each line with what is said of it. */
static const struct {
	const char *line;
	const char *complaint;
} mistakes[] = {
	{ "int f(int", "10: expected ',' or ')' before the end of the line" },
	{ "int f(int)", "11: expected ';' before the end of the line" },
	{ "int f(int) x;", "12: expected ';', not 'x'" },
	{ "int f(int); int g();", "13: expected one item a line, not 'int'" },
	{ "int f(,);", "7: expected a type, not ','" },
	{ "int f(int,);", "11: expected a type, not ')'" },
	{ "int f(wint);", "7: expected a type, not 'wint'" },
	{ "int f(string3);", "7: expected the number of a parameter, not "
			     "'string3'" },
	{ "int f(string[arg2]);", "14: expected the number of a parameter, "
				  "not 'arg2'" },
	{ "int f(string[x]);", "14: expected a length (a number, argN, eltN, "
			       "retval or zero), not 'x'" },
	{ "int f(string[3);", "15: expected ']', not ')'" },
	{ "int f(string(int));", "14: expected char* or array(char, "
				 "LENGTH)*, not 'int'" },
	{ "int f(hex(void));", "11: expected an integer type, not 'void'" },
	{ "int f(enum(A=x));", "14: expected a number, not 'x'" },
	{ "int f(enum(A B));", "14: expected ',' or ')', not 'B'" },
	{ "int f(enum());", "12: expected a name, not ')'" },
	{ "int f(struct(int int));", "18: expected ',' or ')', not 'int'" },
	{ "int f(struct(void));", "14: expected a type of known size, not "
				  "'void'" },
	{ "int f(format, int);", "15: expected no parameter behind the "
				 "format, not 'int'" },
	{ "int 3(int);", "5: expected a function's name, not '3'" },
	{ "int;", "4: expected a function's name, not ';'" },
	{ "f(int);", "1: expected a type, not 'f'" },
	{ "typedef = int;", "9: expected a name for the type, not '='" },
	{ "typedef x int;", "11: expected '=', not 'int'" },
	{ "typedef x = struct(x);", "20: expected a type, not 'x'" },
	{ "import libc;", "8: expected the name of a prototype file in "
			  "quotes, not 'libc'" },
	{ "import \"libc", "8: expected a closing quote, not '\"libc'" },
	{ "import \"nowhere\";", "8: expected a prototype file that can be "
				 "read, not 'nowhere'" },
	{ "import \"../x\";", "8: expected a prototype file that can be "
			      "read, not '../x'" },
	{ "int f(array(int, 0x));", "18: expected a number of at most 64 "
				    "bits, not '0x'" },
	{ "int f(array(int, 99999999999999999999));",
	  "18: expected a number of at most 64 bits, not "
	  "'99999999999999999999'" },
	{ "int f(int, void);", "5: a void parameter among others is taken "
			       "as hide(int)" },
};

START_TEST(mistakes_are_pointed_at)
{
	char *text = xasprintf("\nint before();\n%s\nint after(int);\n",
			       mistakes[_i].line);
	char *expected = xasprintf("%s/test.conf:3:%s\n", directory,
				   mistakes[_i].complaint);

	add_text(text);
	ck_assert_str_eq(said, expected);
	arguments[0] = 7;
	ck_assert_str_eq(print("after", ENTRY), "7");
	ck_assert_str_eq(print("before", ENTRY), "");
	free(text);
	free(expected);
}
END_TEST

START_TEST(nesting_has_an_end)
{
	struct strbuf text = { 0 };

	strbuf_puts(&text, "int f(");
	for (int i = 0; i < 100000; i++)
		strbuf_puts(&text, "hex(");
	strbuf_puts(&text, "\nint g(int");
	for (int i = 0; i < 100000; i++)
		strbuf_putc(&text, '*');
	strbuf_puts(&text, ");\nint h(array(int, ");
	for (int i = 0; i < 100000; i++)
		strbuf_puts(&text, "zero(");
	strbuf_puts(&text, "\ntypedef t = int*;\n");
	for (int i = 0; i < 1000; i++)
		strbuf_puts(&text, "typedef t = t*;\n");
	add_text(strbuf_text(&text));
	strbuf_fini(&text);
	ck_assert_ptr_nonnull(strstr(said, ":1:135: expected types nested"));
	ck_assert_ptr_nonnull(strstr(said, ":2:43: expected types nested"));
	ck_assert_ptr_nonnull(strstr(said, ":3:173: expected lengths nested"));
	ck_assert_ptr_nonnull(strstr(said, "further errors are not shown"));
	ck_assert_uint_le(warnings, 22);
}
END_TEST

START_TEST(binary_files_are_no_trouble)
{
	static const char bytes[] = "int f(int);\n\0\0\377int\0 g();\nint h();";

	write_bytes("binary.conf", bytes, sizeof(bytes));
	ck_assert_int_eq(add("binary.conf"), 0);
	ck_assert_uint_eq(warnings, 2);
	ck_assert_str_eq(print("f", ENTRY), "0");
}
END_TEST

START_TEST(unsupported_types_leave_the_line_out)
{
	diag_set_debug(DIAG_PROTOTYPE);
	add_text("double sin(double);\n"
		 "typedef pair = struct(int, float);\n"
		 "pair make();\n"
		 "int take(pair*, int);\n");
	ck_assert_uint_eq(warnings, 0);
	ck_assert_ptr_nonnull(strstr(said, "test.conf: 2 prototypes"));
	ck_assert_ptr_null(prototypes_find(all, NULL, "sin"));
	ck_assert_ptr_null(prototypes_find(all, NULL, "make"));
	arguments[0] = DATA;
	ck_assert_str_eq(print("take", ENTRY), "0x10000, 0");
}
END_TEST

START_TEST(files_that_cannot_be_read)
{
	ck_assert_int_eq(add("nowhere.conf"), -ENOENT);
	ck_assert_int_eq(prototypes_add(all, "/dev/zero"), -EFBIG);
	ck_assert_str_eq(said, "");
}
END_TEST

/* The result's type tells which file a prototype is from. */
static const char *from(const char *library, const char *function)
{
	static struct strbuf out;
	struct call_values values = {
		.arch = &machine64,
		.entry_regs = &regs,
		.result_regs = &regs,
		.memory = &data.memory,
	};
	const struct prototype *found = prototypes_find(all, library,
							function);

	result = 65;
	strbuf_clear(&out);
	if (found)
		prototype_print_result(found, &values, &limits, &out);
	return found ? strbuf_text(&out) : "none";
}

START_TEST(libraries_have_files_of_their_own)
{
	write_file("libfoo.so.conf", "int f();\nint g();\nint h();\n");
	write_file("libfoo.so.1.conf", "hex(int) g();\nhex(int) h();\n");
	write_file("libfoo.so.1.2.conf", "oct(int) h();\n");
	write_file("prog.conf", "char f();\n");
	write_file("all.conf", "void f();\nvoid every();\n");
	prototypes_add_directory(all, "/nonexistent");
	prototypes_add_directory(all, directory);
	ck_assert_str_eq(from("libfoo.so.1.2", "f"), "65");
	ck_assert_str_eq(from("libfoo.so.1.2", "g"), "0x41");
	ck_assert_str_eq(from("libfoo.so.1.2", "h"), "0101");
	ck_assert_str_eq(from("libfoo.so.1", "h"), "0x41");
	ck_assert_str_eq(from("libfoo.so", "h"), "65");
	ck_assert_str_eq(from("/usr/lib/libfoo.so.9", "h"), "65");
	ck_assert_str_eq(from("prog", "f"), "'A'");
	/* What the user names applies to all, and wins. */
	ck_assert_int_eq(add("all.conf"), 0);
	ck_assert_str_eq(from("libfoo.so.1.2", "f"), "<void>");
	ck_assert_str_eq(from("libfoo.so.1.2", "g"), "0x41");
	ck_assert_str_eq(from("libbar.so.1", "f"), "<void>");
	ck_assert_str_eq(from("libfoo.so.1", "every"), "<void>");
	ck_assert_str_eq(from("libbar.so.1", "g"), "none");
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(unknown_libraries_ask_those_that_were_loaded)
{
	write_file("libfoo.so.conf", "hex(int) f();\n");
	write_file("libc.so.conf", "int f();\nint puts();\n");
	prototypes_add_directory(all, directory);
	ck_assert_str_eq(from(NULL, "f"), "65");
	ck_assert_str_eq(from("libother.so", "puts"), "none");
	ck_assert_str_eq(from("libfoo.so.1", "f"), "0x41");
	ck_assert_str_eq(from(NULL, "puts"), "65");
	ck_assert_str_eq(from(NULL, "nothing"), "none");
}
END_TEST

START_TEST(directories_can_be_read_at_once)
{
	write_file("libfoo.so.conf", "hex(int) f();\n");
	write_file("libbad.so.conf", "int f(;\n");
	write_file("notes.txt", "nothing to do with it\n");
	ck_assert_int_eq(prototypes_add(all, directory), 0);
	ck_assert_uint_eq(warnings, 1);
	ck_assert_ptr_nonnull(strstr(said, "libbad.so.conf:1:7: expected"));
	ck_assert_str_eq(from("libfoo.so.1", "f"), "0x41");
	ck_assert_str_eq(from("libbad.so.1", "f"), "none");
	ck_assert_uint_eq(warnings, 1);
}
END_TEST

START_TEST(earlier_directories_win)
{
	char *user = path_of("user");

	ck_assert_int_eq(mkdir(user, 0700), 0);
	write_file("user/libfoo.so.conf",
		   "import \"libfoo.so\";\nhex(int) f();\n"
		   "typedef t = char;\nt h();\n");
	write_file("libfoo.so.conf",
		   "typedef t = oct(int);\nint f();\nint g();\nt i();\n");
	prototypes_add_directory(all, user);
	prototypes_add_directory(all, directory);
	ck_assert_str_eq(from("libfoo.so.1", "f"), "0x41");
	ck_assert_str_eq(from("libfoo.so.1", "g"), "65");
	ck_assert_str_eq(from("libfoo.so.1", "h"), "'A'");
	ck_assert_str_eq(from("libfoo.so.1", "i"), "0101");
	ck_assert_str_eq(said, "");
	free(user);
}
END_TEST

START_TEST(imports_in_a_circle)
{
	struct strbuf chain = { 0 };

	write_file("a.conf", "import \"b\";\ntypedef ta = int;\nint fa();\n");
	write_file("b.conf", "import \"a\";\nint fb();\n");
	prototypes_add_directory(all, directory);
	ck_assert_str_eq(from("a", "fb"), "65");
	ck_assert_uint_eq(warnings, 1);
	ck_assert_ptr_nonnull(strstr(said, "b.conf:1:8: expected"));
	for (int i = 0; i < 100; i++) {
		char *name = xasprintf("n%d.conf", i);

		strbuf_clear(&chain);
		strbuf_printf(&chain, "import \"n%d\";\nint f%d();\n", i + 1,
			      i);
		write_file(name, strbuf_text(&chain));
		free(name);
	}
	ck_assert_str_eq(from("n0", "f10"), "65");
	ck_assert_str_eq(from("n0", "f50"), "none");
	ck_assert_uint_eq(warnings, 2);
	strbuf_fini(&chain);
}
END_TEST

START_TEST(hostile_library_names)
{
	char name[5000];

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	prototypes_add_directory(all, directory);
	ck_assert_str_eq(from(name, "f"), "none");
	ck_assert_str_eq(from("", "f"), "none");
	ck_assert_str_eq(from("../", "f"), "none");
	ck_assert_str_eq(from(".1.2.3", "f"), "none");
	ck_assert_str_eq(from("12", "f"), "none");
	ck_assert_str_eq(from("libfoo.so.1", ""), "none");
}
END_TEST

START_TEST(later_definitions_replace_earlier_ones)
{
	add_text("int f();\nhex(int) f();\n");
	ck_assert_str_eq(from(NULL, "f"), "0x41");
}
END_TEST

static Suite *prototype_suite(void)
{
	Suite *suite = suite_create("prototype");
	TCase *printing = tcase_create("printing");
	TCase *reading = tcase_create("reading");

	tcase_add_checked_fixture(printing, setup, teardown);
	tcase_add_test(printing, integers_are_cut_to_their_size);
	tcase_add_test(printing, lenses_change_how_integers_are_shown);
	tcase_add_test(printing, characters_are_quoted);
	tcase_add_test(printing, enums_show_names);
	tcase_add_test(printing, bit_vectors_show_bits);
	tcase_add_test(printing, pointers_show_what_is_behind_them);
	tcase_add_test(printing, arrays_show_their_elements);
	tcase_add_test(printing, nested_arrays_come_to_an_end);
	tcase_add_test(printing, strings_are_escaped);
	tcase_add_test(printing, strings_are_limited);
	tcase_add_test(printing, bad_strings_show_addresses);
	tcase_add_test(printing, long_strings_come_in_pieces);
	tcase_add_test(printing, lengths_come_from_numbers_and_arguments);
	tcase_add_test(printing, out_arguments_are_printed_later);
	tcase_add_test(printing, results_are_printed);
	tcase_add_test(printing, without_prototype_four_longs_are_guessed);
	tcase_add_test(printing, words_of_32_bits);
	tcase_add_test(printing, formats_call_for_arguments);
	tcase_add_test(printing, formats_stop_where_they_cannot_go_on);
	tcase_add_test(printing, later_formats);
	tcase_add_test(printing, missing_arguments_are_question_marks);
	suite_add_tcase(suite, printing);

	tcase_add_checked_fixture(reading, setup, teardown);
	tcase_add_test(reading, typedefs_and_comments);
	tcase_add_loop_test(reading, mistakes_are_pointed_at, 0,
			    ARRAY_SIZE(mistakes));
	tcase_add_test(reading, nesting_has_an_end);
	tcase_add_test(reading, binary_files_are_no_trouble);
	tcase_add_test(reading, unsupported_types_leave_the_line_out);
	tcase_add_test(reading, files_that_cannot_be_read);
	tcase_add_test(reading, libraries_have_files_of_their_own);
	tcase_add_test(reading, unknown_libraries_ask_those_that_were_loaded);
	tcase_add_test(reading, directories_can_be_read_at_once);
	tcase_add_test(reading, earlier_directories_win);
	tcase_add_test(reading, imports_in_a_circle);
	tcase_add_test(reading, hostile_library_names);
	tcase_add_test(reading, later_definitions_replace_earlier_ones);
	suite_add_tcase(suite, reading);
	return suite;
}

int main(void)
{
	return unit_run(prototype_suite());
}
