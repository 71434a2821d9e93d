/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype_fixture.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "prototype/value_writer.h"

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
	result[0] = arguments[0];
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
	result[0] = 2;
	ck_assert_str_eq(print("read", ENTRY), "3");
	ck_assert_str_eq(print("read", LATER), "\"da\", 100");
	ck_assert_str_eq(print("read", RESULT), "2");
	result[0] = -1;
	ck_assert_str_eq(print("read", LATER), "0x10000, 100");
	result[0] = 0;
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
	result[0] = put_text("yes");
	ck_assert_str_eq(print("nothing", RESULT), "<void>");
	ck_assert_str_eq(print("text", RESULT), "\"yes\"");
	ck_assert_str_eq(print("hidden", RESULT), "");
	ck_assert_str_eq(print("address", RESULT), "0x10000");
	result[0] = 0x12345678ffffff41ull;
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
	result[0] = -1;
	ck_assert_str_eq(print(NULL, ENTRY),
			 "10000, 0x2711, -10000, 0xffffffff");
	ck_assert_str_eq(print(NULL, LATER), "");
	ck_assert_str_eq(print(NULL, RESULT), "-1");
	result[0] = 0x7fff00000000ul;
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
	result[0] = 0x100000002ull;
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

START_TEST(lengths_are_multiplied)
{
	add_text("ulong fread(+bytes[arg2*retval], ulong, ulong);\n"
		 "void six(array(int, 2*3));\n"
		 "void much(bytes[arg2*arg3*4], ulong, ulong);\n");
	ck_assert_str_eq(said, "");
	arguments[0] = put("abcdefghi", 10);
	arguments[1] = 3;
	arguments[2] = 100;
	result[0] = 2;
	ck_assert_str_eq(print("fread", LATER), "\"abcdef\", 3, 100");
	result[0] = 0;
	ck_assert_str_eq(print("fread", LATER), "\"\", 3, 100");
	limits.array_elements = 10;
	ck_assert_ptr_nonnull(strstr(print("six", ENTRY), ", 105, 0, 0, 0]"));
	limits.array_elements = 4;
	arguments[1] = arguments[2] = -1;
	ck_assert_ptr_nonnull(strstr(print("much", ENTRY), "\"..., 1844674"));
}
END_TEST

START_TEST(conditions)
{
	add_text("int open(string, int, when(arg2 & 0102, oct(uint)));\n"
		 "int fcntl(int, int, when(arg2 == 0|4|-3, long), "
		 "when(arg2==4, int));\n"
		 "int many(when(arg1 & 1, int) name, +when(arg1 == 2, int));"
		 "\n");
	ck_assert_str_eq(said, "");
	arguments[0] = put_text("f");
	arguments[1] = 2;
	arguments[2] = 0644;
	ck_assert_str_eq(print("open", ENTRY), "\"f\", 2, 0644");
	arguments[1] = 4;
	ck_assert_str_eq(print("open", ENTRY), "\"f\", 4");
	arguments[0] = 3;
	arguments[3] = 5;
	ck_assert_str_eq(print("fcntl", ENTRY), "3, 4, 420, 5");
	arguments[1] = 0xfffffffd;
	ck_assert_str_eq(print("fcntl", ENTRY), "3, -3, 420");
	arguments[1] = 1;
	ck_assert_str_eq(print("fcntl", ENTRY), "3, 1");
	ck_assert_str_eq(print("many", ENTRY), "name=3");
	ck_assert_str_eq(print("many", LATER), "");
	arguments[0] = 2;
	ck_assert_str_eq(print("many", ENTRY), "");
	ck_assert_str_eq(print("many", LATER), "1");
}
END_TEST

START_TEST(alternatives)
{
	add_text("int option(int, when(arg1 == 1, enum(A=7, B=8)) | "
		 "when(arg1 == 2|3, string) | hex(int) other, int);\n"
		 "int perhaps(int, when(arg1 & 4, int) | "
		 "when(arg1 & 2, +int));\n"
		 "int perhaps(int, when(arg1 & 4, int) | "
		 "when(arg1 & 2, char(int)));\n"
		 "errno(int) filled(int, +when(arg1 == 1, int*) | string);\n");
	ck_assert_ptr_nonnull(strstr(said, "expected a type, not '+'"));
	arguments[0] = 1;
	arguments[1] = 8;
	arguments[2] = 5;
	ck_assert_str_eq(print("option", ENTRY), "1, other=B, 5");
	arguments[0] = 4;
	arguments[1] = 0xffffffff00000010;
	ck_assert_str_eq(print("option", ENTRY), "4, other=0x10, 5");
	ck_assert_str_eq(print("perhaps", ENTRY), "4, 16");
	arguments[0] = 3;
	arguments[1] = put_text("text");
	ck_assert_str_eq(print("option", ENTRY), "3, other=\"text\", 5");
	ck_assert_str_eq(print("filled", ENTRY), "3");
	ck_assert_str_eq(print("filled", LATER), "\"text\"");
	arguments[1] = 'x';
	ck_assert_str_eq(print("perhaps", ENTRY), "3, 'x'");
	arguments[0] = 1;
	arguments[1] = DATA;
	ck_assert_str_eq(print("filled", LATER), "1954047348");
	ck_assert_str_eq(print("perhaps", ENTRY), "1");
}
END_TEST

START_TEST(further_arguments_are_dots)
{
	add_text("int execl(string, ...);\n"
		 "int nothing(...);\n"
		 "int later(int, +int*, ...);\n");
	ck_assert_str_eq(said, "");
	arguments[0] = put_text("ls");
	ck_assert_str_eq(print("execl", ENTRY), "\"ls\", ...");
	ck_assert_str_eq(print("nothing", ENTRY), "...");
	ck_assert_str_eq(print("later", ENTRY), "65536");
	ck_assert_str_eq(print("later", LATER), "nil, ...");
}
END_TEST

START_TEST(parameters_have_names)
{
	add_text("int price(string name, int count, +int* back);\n");
	arguments[0] = put_text("pen");
	arguments[1] = 3;
	arguments[2] = DATA;
	ck_assert_str_eq(print("price", ENTRY), "name=\"pen\", count=3");
	ck_assert_str_eq(print("price", LATER), "back=7234928");
}
END_TEST

START_TEST(structs_by_value)
{
	const uint64_t large[] = { 1, 2, 3, 4, 5 };
	const double half = 0.5;

	add_text("typedef pair = struct(int x, double y);\n"
		 "typedef large = struct(array(long, 5));\n"
		 "pair make(pair, int, large, pair*);\n"
		 "large grow();\n");
	ck_assert_str_eq(said, "");
	arguments[0] = 7;
	memcpy(&arguments[1], &half, sizeof(half));
	arguments[2] = 8;
	arguments[3] = put(large, sizeof(large));
	arguments[4] = DATA;
	ck_assert_str_eq(print("make", ENTRY),
			 "{x=7, y=0.5}, 8, {[1, 2, 3, 4...]}, "
			 "{x=1, y=9.88131291682493e-324}");
	memcpy(result, arguments, sizeof(result));
	ck_assert_str_eq(print("make", RESULT), "{x=7, y=0.5}");
	result[0] = DATA;
	ck_assert_str_eq(print("grow", RESULT), "{[1, 2, 3, 4...]}");
}
END_TEST

static bool has_failed(const char *function)
{
	struct call_values values = values_on(&machine64, RESULT);

	return prototype_has_failed(prototypes_find(all, NULL, function),
				    &values);
}

START_TEST(failures_have_names)
{
	add_text("errno(int) open();\n"
		 "errno(hex(addr)) map();\n"
		 "errno(string) text();\n"
		 "errnum(int) lock();\n"
		 "typedef handle = fails_zero(addr);\n"
		 "handle fails();\n"
		 "fails_nonzero(int) code();\n"
		 "fails_negative(int) below();\n"
		 "int none();\n");
	ck_assert_str_eq(said, "");
	error = 2;
	result[0] = 0xffffffff;
	ck_assert_str_eq(print("open", RESULT), "-1 ENOENT");
	ck_assert(has_failed("open"));
	ck_assert_str_eq(print("none", RESULT), "-1");
	ck_assert(!has_failed("none"));
	ck_assert_str_eq(print("below", RESULT), "-1");
	ck_assert(has_failed("below"));
	ck_assert_str_eq(print("map", RESULT), "0xffffffff");
	error = 0;
	ck_assert_str_eq(print("open", RESULT), "-1");
	error = 4000;
	ck_assert_str_eq(print("open", RESULT), "-1 4000");
	error = 12;
	result[0] = -1;
	ck_assert_str_eq(print("map", RESULT), "-1 ENOMEM");
	result[0] = 0;
	ck_assert_str_eq(print("map", RESULT), "nil ENOMEM");
	ck_assert_str_eq(print("text", RESULT), "nil ENOMEM");
	ck_assert_str_eq(print("open", RESULT), "0");
	ck_assert_str_eq(print("lock", RESULT), "0");
	ck_assert(!has_failed("lock"));
	ck_assert_str_eq(print("fails", RESULT), "nil");
	ck_assert(has_failed("fails"));
	ck_assert(!has_failed("code"));
	result[0] = 22;
	ck_assert_str_eq(print("lock", RESULT), "22 EINVAL");
	ck_assert(has_failed("lock"));
	ck_assert(has_failed("code"));
	ck_assert(!has_failed("below"));
}
END_TEST

START_TEST(what_fails_fills_nothing_in)
{
	add_text("errno(int) look(string, +struct(int, int)*, int);\n"
		 "errno(int) make(++string);\n"
		 "errno(int) scan(+format);\n"
		 "fails_nonzero(int) code(+string, +int);\n");
	ck_assert_str_eq(said, "");
	arguments[0] = put_text("abc");
	arguments[1] = put((const int[]){ 7, 8 }, 8);
	arguments[2] = 3;
	ck_assert_str_eq(print("look", LATER), "{7, 8}, 3");
	result[0] = -1;
	ck_assert_str_eq(print("look", LATER), "0x10004, 3");
	ck_assert_str_eq(print("make", LATER), "\"abc\"");
	ck_assert_str_eq(print("scan", LATER), "\"abc\"");
	ck_assert_str_eq(print("code", LATER), "0x10000, 65540");
	arguments[1] = 0;
	ck_assert_str_eq(print("look", LATER), "nil, 3");
}
END_TEST

/* Of so many of its bytes. */
static const char *print_address(const void *bytes, size_t size)
{
	data.used = 0;
	arguments[0] = put(bytes, size);
	arguments[1] = size;
	return print("name", ENTRY);
}

START_TEST(socket_addresses)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons(443) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
				    .sin6_port = htons(53) };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct sockaddr_nl nl = { .nl_family = AF_NETLINK, .nl_pid = 7 };

	add_text("void name(sockaddr[arg2], hide(int));\n");
	ck_assert_str_eq(said, "");
	in.sin_addr.s_addr = htonl(0xc0000201);
	ck_assert_str_eq(print_address(&in, sizeof(in)),
			 "{sa_family=AF_INET, sin_port=443, "
			 "sin_addr=\"192.0.2.1\"}");
	ck_assert_str_eq(print_address(&in, 7), "\"\\002\\0\\001\\273"
						"\\300\\0\\002\"");
	in6.sin6_addr = in6addr_loopback;
	ck_assert_str_eq(print_address(&in6, sizeof(in6)),
			 "{sa_family=AF_INET6, sin6_port=53, "
			 "sin6_addr=\"::1\"}");
	in6.sin6_scope_id = 2;
	ck_assert_str_eq(print_address(&in6, sizeof(in6)),
			 "{sa_family=AF_INET6, sin6_port=53, "
			 "sin6_addr=\"::1\", sin6_scope_id=2}");
	ck_assert_str_eq(print_address(&un, 2), "{sa_family=AF_UNIX}");
	memcpy(un.sun_path, "\0one\0x", 6);
	ck_assert_str_eq(print_address(&un, 8),
			 "{sa_family=AF_UNIX, sun_path=\"\\0one\\0x\"}");
	strcpy(un.sun_path, "/tmp/s");
	ck_assert_str_eq(print_address(&un, sizeof(un)),
			 "{sa_family=AF_UNIX, sun_path=\"/tmp/s\"}");
	ck_assert_str_eq(print_address(&nl, sizeof(nl)),
			 "{sa_family=AF_NETLINK, nl_pid=7, nl_groups=0}");
	ck_assert_str_eq(print_address("\377", 1), "\"\\377\"");
	ck_assert_str_eq(print_address("", 0), "\"\"");
	arguments[0] = 0;
	ck_assert_str_eq(print("name", ENTRY), "nil");
	arguments[0] = 16;
	arguments[1] = 16;
	ck_assert_str_eq(print("name", ENTRY), "0x10?");
	arguments[0] = DATA + sizeof(data.bytes) - 2;
	ck_assert_str_eq(print("name", ENTRY), "\"\\0\\0\"...");
}
END_TEST

START_TEST(system_calls_return_their_errors)
{
	add_text("int open(string);\n"
		 "addr mmap();\n"
		 "ulong lseek();\n");
	system_call = true;
	result[0] = -2;
	ck_assert_str_eq(print("open", RESULT), "-1 ENOENT");
	ck_assert_str_eq(print("mmap", RESULT), "-1 ENOENT");
	ck_assert_str_eq(print("lseek", RESULT), "-1 ENOENT");
	ck_assert_str_eq(print(NULL, RESULT), "-1 ENOENT");
	ck_assert(has_failed("open"));
	result[0] = -512;
	ck_assert_str_eq(print("open", RESULT), "? ERESTARTSYS");
	ck_assert(!has_failed("open"));
	result[0] = -517;
	ck_assert_str_eq(print("open", RESULT), "-1 517");
	result[0] = -4095;
	ck_assert_str_eq(print("open", RESULT), "-1 4095");
	result[0] = -4096;
	ck_assert_str_eq(print("open", RESULT), "-4096");
	ck_assert_str_eq(print("mmap", RESULT), "0xfffffffffffff000");
	ck_assert(!has_failed("mmap"));
	result[0] = 3;
	ck_assert_str_eq(print("open", RESULT), "3");
	result[0] = 0xfffffffe;
	ck_assert_str_eq(print_on(&machine32, "mmap", RESULT), "-1 ENOENT");
	ck_assert_str_eq(print_on(&machine32, "lseek", RESULT), "-1 ENOENT");
}
END_TEST

START_TEST(floating_point_registers_are_asked_for)
{
	static const char *const with[] = { "a", "b", "d" };
	static const char *const without[] = { "c", "e", "f" };
	struct regs entry = { 0 };

	add_text("void a(int, double);\n"
		 "void b(struct(int, float));\n"
		 "double c(int, ldouble, double*);\n"
		 "void d(struct(union(char, double)));\n"
		 "void e(struct(array(double, 9)));\n"
		 "int f(format);\n"
		 "cfloat g();\n");
	for (size_t i = 0; i < 3; i++) {
		ck_assert(
			prototype_needs_fp_arguments(prototypes_find(all, NULL,
								     with[i]),
						     &machine64, &entry));
		ck_assert(!prototype_needs_fp_arguments(
			prototypes_find(all, NULL, without[i]), &machine64,
			&entry));
	}
	arch_native->syscall_set_result(&entry, 1);
	ck_assert(prototype_needs_fp_arguments(prototypes_find(all, NULL, "f"),
					       &machine64, &entry));
	ck_assert(prototype_needs_fp_result(prototypes_find(all, NULL, "c"),
					    &machine64));
	ck_assert(prototype_needs_fp_result(prototypes_find(all, NULL, "g"),
					    &machine64));
	ck_assert(!prototype_needs_fp_result(prototypes_find(all, NULL, "a"),
					     &machine64));
	ck_assert(!prototype_needs_fp_arguments(NULL, &machine64, &entry));
	ck_assert(!prototype_needs_fp_result(NULL, &machine64));
}
END_TEST

/* A writer that says what was asked of it. */

struct recorder {
	struct value_writer writer;
	struct strbuf text;
};

static struct strbuf *heard(struct value_writer *writer)
{
	return &((struct recorder *)writer)->text;
}

static void record_name(struct value_writer *writer, const char *name)
{
	strbuf_printf(heard(writer), "%s:", name);
}

static void record_number(struct value_writer *writer,
			  const struct value_number *number)
{
	strbuf_printf(heard(writer), "n%d,%lld,%s ", number->style,
		      (long long)number->value, number->text);
}

static void record_real(struct value_writer *writer, long double value,
			const char *text)
{
	strbuf_printf(heard(writer), "r%.1Lf,%s ", value, text);
}

static void record_text(struct value_writer *writer,
			const struct value_text *text)
{
	strbuf_printf(heard(writer), "t%.*s,%d,%d ", (int)text->length,
		      text->bytes, text->wide, text->cut);
}

static void record_address(struct value_writer *writer, taddr_t address)
{
	strbuf_printf(heard(writer), "a%llx ", (unsigned long long)address);
}

static void record_null(struct value_writer *writer)
{
	strbuf_puts(heard(writer), "a0 ");
}

static void record_word(struct value_writer *writer, const char *text)
{
	strbuf_printf(heard(writer), "w%s ", text);
}

static void record_unreadable(struct value_writer *writer, taddr_t address)
{
	strbuf_printf(heard(writer), "u%llx ", (unsigned long long)address);
}

static void record_unknown(struct value_writer *writer)
{
	strbuf_puts(heard(writer), "? ");
}

static void record_omitted(struct value_writer *writer)
{
	strbuf_puts(heard(writer), "omitted ");
}

static void record_cut(struct value_writer *writer)
{
	strbuf_puts(heard(writer), "cut ");
}

static void record_begin(struct value_writer *writer, enum value_group group)
{
	strbuf_puts(heard(writer), group == GROUP_ARRAY ? "[ " : "{ ");
}

static void record_end(struct value_writer *writer, enum value_group group)
{
	strbuf_puts(heard(writer), group == GROUP_ARRAY ? "] " : "} ");
}

static const struct value_writer_ops recorder_ops = {
	.name = record_name,
	.number = record_number,
	.real = record_real,
	.text = record_text,
	.address = record_address,
	.null = record_null,
	.word = record_word,
	.unreadable = record_unreadable,
	.unknown = record_unknown,
	.omitted = record_omitted,
	.cut = record_cut,
	.begin = record_begin,
	.end = record_end,
};

START_TEST(writers_get_values)
{
	struct recorder recorder = { { &recorder_ops }, { 0 } };
	struct call_values values = values_on(&machine64, RESULT);
	const double half = 0.5;

	add_text("errno(int) f(int x, double, string[2], addr, "
		 "array(enum(A, B), 5), struct(hex(int) h)*, int*, "
		 "+string(int*), int128, ...);\n");
	arguments[0] = -3;
	memcpy(&arguments[1], &half, sizeof(half));
	arguments[2] = put_text("abc");
	arguments[3] = 16;
	arguments[4] = put((const int[5]){ 0, 1 }, 20);
	arguments[5] = arguments[4] + 4;
	arguments[6] = 17;
	arguments[7] = put((const uint32_t[]){ 0xe9, 0 }, 8);
	arguments[9] = 1;
	prototype_write_entry(prototypes_find(all, NULL, "f"), &values, &limits,
			      &recorder.writer);
	ck_assert_str_eq(strbuf_text(&recorder.text),
			 "x:n0,-3,-3 r0.5,0.5 tab,0,0 a10 [ n4,0,A n4,1,B "
			 "n4,0,A n4,0,A cut ] { h:n1,1,0x1 } u11 ");
	strbuf_clear(&recorder.text);
	prototype_write_later(prototypes_find(all, NULL, "f"), &values, &limits,
			      &recorder.writer);
	ck_assert_str_eq(strbuf_text(&recorder.text),
			 "t\303\251,1,0 w18446744073709551616 omitted ");
	strbuf_clear(&recorder.text);
	result[0] = -1;
	prototype_write_result(prototypes_find(all, NULL, "f"), &values,
			       &limits, &recorder.writer);
	ck_assert_str_eq(strbuf_text(&recorder.text), "n0,-1,-1 ");
	strbuf_fini(&recorder.text);
}
END_TEST

static Suite *calls_suite(void)
{
	Suite *suite = suite_create("calls");
	TCase *all_tests = tcase_create("calls");

	tcase_add_checked_fixture(all_tests, setup, teardown);
	tcase_add_test(all_tests, lengths_come_from_numbers_and_arguments);
	tcase_add_test(all_tests, out_arguments_are_printed_later);
	tcase_add_test(all_tests, results_are_printed);
	tcase_add_test(all_tests, without_prototype_four_longs_are_guessed);
	tcase_add_test(all_tests, words_of_32_bits);
	tcase_add_test(all_tests, missing_arguments_are_question_marks);
	tcase_add_test(all_tests, lengths_are_multiplied);
	tcase_add_test(all_tests, conditions);
	tcase_add_test(all_tests, alternatives);
	tcase_add_test(all_tests, further_arguments_are_dots);
	tcase_add_test(all_tests, parameters_have_names);
	tcase_add_test(all_tests, structs_by_value);
	tcase_add_test(all_tests, failures_have_names);
	tcase_add_test(all_tests, socket_addresses);
	tcase_add_test(all_tests, what_fails_fills_nothing_in);
	tcase_add_test(all_tests, system_calls_return_their_errors);
	tcase_add_test(all_tests, floating_point_registers_are_asked_for);
	tcase_add_test(all_tests, writers_get_values);
	suite_add_tcase(suite, all_tests);
	return suite;
}

int main(void)
{
	return unit_run(calls_suite());
}
