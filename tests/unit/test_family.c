/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "heap/family_pick.h"
#include "heap/operand.h"

static struct strbuf messages;

static void collect(enum diag_level level, enum diag_domain domain,
		    const char *message)
{
	(void)domain;
	ck_assert_int_eq(level, DIAG_WARNING);
	strbuf_printf(&messages, "%s\n", message);
}

static struct families *families_of(const char *text)
{
	struct families *families = families_new();

	strbuf_clear(&messages);
	diag_set_receiver(collect);
	families_parse(families, "x", text, strlen(text));
	return families;
}

static const struct family_function *function_of(struct families *families,
						 const char *name)
{
	const struct family_function *found = families_find(families, name);

	ck_assert_msg(found != NULL, "%s: %s", name, strbuf_text(&messages));
	return found;
}

START_TEST(acquire_and_release)
{
	struct families *families =
		families_of("# memory\n"
			    "family pool counts bytes # of all sizes\n"
			    "acquire pool_alloc(_, count, size) = handle\n"
			    "release pool_free(_, handle)\n");
	const struct family_function *f = function_of(families, "pool_alloc");

	ck_assert_str_eq(strbuf_text(&messages), "");
	ck_assert_uint_eq(families_count(families), 1);
	ck_assert_str_eq(f->family->name, "pool");
	ck_assert_str_eq(f->family->unit, "bytes");
	ck_assert(f->family->has_size && f->family->null_is_nothing);
	ck_assert_int_eq(f->act, FAMILY_ACQUIRE);
	ck_assert_int_eq(f->size.kind, OPERAND_PRODUCT);
	ck_assert_int_eq(f->size.index + f->size.second, 3);
	ck_assert_int_eq(f->handle.kind, OPERAND_RESULT);
	f = function_of(families, "pool_free");
	ck_assert_int_eq(f->act, FAMILY_RELEASE);
	ck_assert_int_eq(f->handle.kind, OPERAND_ARGUMENT);
	ck_assert_int_eq(f->handle.index, 1);
	ck_assert_ptr_null(f->next);
	ck_assert_ptr_null(families_find(families, "pool_fre"));
	families_free(families);
}
END_TEST

START_TEST(one_function_in_two_families)
{
	struct families *families =
		families_of("family fds counts descriptors\n"
			    "release fdopen(int handle) = long != 0\n"
			    "family files counts files\n"
			    "acquire fdopen(int _) = handle\n");
	const struct family_function *f = function_of(families, "fdopen");

	ck_assert_str_eq(f->family->name, "fds");
	ck_assert(!f->family->null_is_nothing);
	ck_assert_str_eq(f->next->family->name, "files");
	ck_assert_int_eq(f->next->act, FAMILY_ACQUIRE);
	ck_assert_ptr_null(f->next->next);
	families_free(families);
}
END_TEST

START_TEST(prefixes_and_forms)
{
	struct families *families = families_of("family m counts bytes\n"
						"form c\n"
						"prefixes je_ \"tc-\"\n"
						"acquire alloc(size) = handle\n"
						"form any\n"
						"prefixes\n"
						"release drop(handle)\n");
	const struct family *family = families_at(families, 0);

	ck_assert_uint_eq(family->function_count, 4);
	ck_assert_str_eq(function_of(families, "alloc")->form, "c");
	ck_assert_ptr_eq(function_of(families, "je_alloc")->form,
			 function_of(families, "alloc")->form);
	ck_assert_str_eq(function_of(families, "tc-alloc")->name, "tc-alloc");
	ck_assert_ptr_null(function_of(families, "drop")->form);
	ck_assert_ptr_null(families_find(families, "je_drop"));
	families_free(families);
}
END_TEST

START_TEST(success_by_result)
{
	struct families *families =
		families_of("family a counts things\n"
			    "acquire opens = int handle >= 0\n"
			    "acquire maps = handle != -1\n"
			    "acquire gives = handle\n"
			    "acquire stores(*handle) = 0\n"
			    "acquire always(*handle) = any\n"
			    "acquire positive(*handle) = > 0\n"
			    "release wide(handle) = long != 0\n");
	static const struct {
		const char *name;
		uint64_t result;
		bool succeeded;
	} examples[] = {
		{ "opens", 0, true },
		{ "opens", 0xdead00000003, true },
		{ "opens", 0xffffffff, false },
		{ "maps", 0, true },
		{ "maps", UINT64_MAX, false },
		{ "maps", 0xffffffff, true },
		{ "gives", 0, false },
		{ "gives", 0x7f0000000000, true },
		{ "stores", 0xdead00000000, true },
		{ "stores", 12, false },
		{ "always", 12, true },
		{ "positive", 1, true },
		{ "positive", 0, false },
		{ "positive", 0xfffffffe, false },
		{ "wide", 0x100000000, true },
		{ "wide", 0, false },
	};

	ck_assert_str_eq(strbuf_text(&messages), "");
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++)
		ck_assert_msg(family_succeeded(function_of(families,
							   examples[i].name),
					       examples[i].result,
					       8) == examples[i].succeeded,
			      "%s %zu", examples[i].name, i);
	ck_assert(!family_succeeded(function_of(families, "maps"), 0xffffffff,
				    4));
	families_free(families);
}
END_TEST

/* The memory of the call below, at address 0x1000; arguments are numbered
   from 0x1000 on, in steps of 4 with garbage above 32 bits. */
static const uint32_t stored[] = { 7, 8, 0xfffffffe };

static size_t read_stored(struct memory *memory, taddr_t address, void *ret,
			  size_t size)
{
	(void)memory;
	if (address < 0x1000 || address >= 0x1000 + sizeof(stored))
		return 0;
	if (size > 0x1000 + sizeof(stored) - address)
		size = 0x1000 + sizeof(stored) - address;
	memcpy(ret, (const char *)stored + (address - 0x1000), size);
	return size;
}

static int argument(const struct regs *entry, struct memory *memory,
		    unsigned index, uint64_t *ret)
{
	(void)entry;
	(void)memory;
	if (index == 9)
		return -EFAULT;
	*ret = index == 0 ? 0x1000u :
	       index == 8 ? UINT64_MAX :
			    0xabcd00000000u + index;
	return 0;
}

static uint64_t result(const struct regs *regs)
{
	(void)regs;
	return 0xabcd80000005;
}

static const struct memory_ops memory_ops = { .read = read_stored };
static const struct arch_ops machine = {
	.word_size = 8,
	.argument = argument,
	.result = result,
};

START_TEST(values_of_operands)
{
	struct memory memory = { &memory_ops };
	struct regs regs = { 0 };
	struct call_values values = { .arch = &machine,
				      .entry_regs = &regs,
				      .memory = &memory };
	struct operand fds = {
		.kind = OPERAND_STORED, .index = 0, .width = 4, .count = 3
	};
	struct operand product = {
		.kind = OPERAND_PRODUCT, .index = 2, .second = 3, .width = 4
	};
	struct operand last = { .kind = OPERAND_RESULT,
				.width = 4,
				.is_signed = true };
	uint64_t n = 99;

	ck_assert_int_eq(operand_value(&fds, &values, 0, &n), -EAGAIN);
	ck_assert_int_eq(operand_value(&last, &values, 0, &n), -EAGAIN);
	ck_assert_int_eq(operand_value(&product, &values, 0, &n), 0);
	ck_assert_uint_eq(n, 6);
	product.width = 0;
	product.second = 8;
	ck_assert_int_eq(operand_value(&product, &values, 0, &n), 0);
	ck_assert_uint_eq(n, UINT64_MAX);
	product.second = 9;
	ck_assert_int_eq(operand_value(&product, &values, 0, &n), -EFAULT);
	values.result_regs = &regs;
	ck_assert_int_eq(operand_value(&fds, &values, 1, &n), 0);
	ck_assert_uint_eq(n, 8);
	fds.is_signed = true;
	ck_assert_int_eq(operand_value(&fds, &values, 2, &n), 0);
	ck_assert_int_eq((int64_t)n, -2);
	ck_assert_int_eq(operand_value(&fds, &values, 3, &n), -EFAULT);
	ck_assert_int_eq(operand_value(&last, &values, 0, &n), 0);
	ck_assert_int_eq((int64_t)n, (int32_t)0x80000005);
	ck_assert_int_eq(operand_value(&(struct operand){ 0 }, &values, 0, &n),
			 -ENOENT);
}
END_TEST

struct mistake {
	const char *text;
	const char *message;
};

#define POOL "family pool counts bytes\n"
#define FDS  "family fds counts descriptors\n"

static const struct mistake mistakes[] = {
	{ "acquire f = handle\n", "x:1:1: expected 'family' first, not "
				  "'acquire'\n" },
	{ "family\n", "x:1:7: expected a name for the family before the end "
		      "of the line\n" },
	{ "family a of b\n", "x:1:10: expected 'counts', not 'of'\n" },
	{ "family a counts bytes in ranges of 12\n",
	  "x:1:36: expected a power of two, not '12'\n" },
	{ "family a counts cats in ranges of 16\n",
	  "x:1:17: expected 'bytes', of which ranges consist, not 'cats'\n" },
	{ "family a counts bytes, shared\n",
	  "x:1:24: expected 'partly' or 'collected': bytes are never shared, not "
	  "'shared'\n" },
	{ "family a counts cats\nacquire f(1|2|3|4|5) = handle\n",
	  "x:2:19: expected fewer numbers, not '5'\n" },
	{ "family a counts cats\nacquire f(1, 2) = handle\n",
	  "x:2:14: expected numbers for one parameter only, not '2'\n" },
	{ "family a counts cats\nacquire f(1|x) = handle\n",
	  "x:2:13: expected a number, not 'x'\n" },
	{ "family a counts cats, spotted\n",
	  "x:1:23: expected 'shared', 'partly' or 'collected', not 'spotted'\n" },
	{ "family a counts\nacquire f = handle\n",
	  "x:1:16: expected what is counted before the end of the line\n" },
	{ POOL "acquire f(size) =\n",
	  "x:2:18: expected what success looks like before the end of the "
	  "line\n" },
	{ POOL "acquire f(siz) = handle\n",
	  "x:2:11: expected handle, size or another role, or _, not "
	  "'siz'\n" },
	{ POOL "acquire f(size, size) = handle\n",
	  "x:2:17: expected each role no more than once, not 'size'\n" },
	{ POOL "acquire f(old, size) = handle\n",
	  "x:2:11: expected a role that fits the act, or _, not 'old'\n" },
	{ POOL "acquire f(size = handle\n",
	  "x:2:16: expected ',' or ')', not '='\n" },
	{ POOL "acquire f(*size) = handle\n",
	  "x:2:12: expected handle, which alone is read from memory, not "
	  "'size'\n" },
	{ POOL "acquire f = handle\n",
	  "x:2:9: f: the size is missing, and the family counts bytes\n" },
	{ POOL "acquire f(size)\n", "x:2:9: f: the handle is missing\n" },
	{ POOL "resize f(size) = handle\n",
	  "x:2:8: f: the parameter 'old' is missing\n" },
	{ POOL "release f(*handle)\n",
	  "x:2:9: f: its handle is no parameter\n" },
	{ POOL "move f(end)\n",
	  "x:2:6: f: only the end of a range can be moved\n" },
	{ POOL "acquire f(size) = int handle\n",
	  "x:2:29: expected when it has succeeded (>= 0) before the end of "
	  "the line\n" },
	{ POOL "acquire f(size) = handle; free\n",
	  "x:2:25: expected the end of the line, not ';'\n" },
	{ FDS "acquire f(size) = handle\n",
	  "x:2:9: f: it has a size, but the family doesn't count bytes\n" },
	{ FDS "acquire p(int handle[17]) = 0\n",
	  "x:2:22: expected 1 to 16, not '17'\n" },
	{ FDS "open f = handle\n",
	  "x:2:1: expected acquire, release, resize, replace, move, prefixes, "
	  "form or family, not 'open'\n" },
	{ FDS "family fds counts cats\n",
	  "x:2:8: expected what was said of this family before, not "
	  "'fds'\n" },
};

START_TEST(mistakes_are_told)
{
	struct families *families = families_of(mistakes[_i].text);

	ck_assert_str_eq(strbuf_text(&messages), mistakes[_i].message);
	ck_assert_ptr_null(families_find(families, "f"));
	families_free(families);
}
END_TEST

START_TEST(a_broken_line_is_left_out)
{
	struct families *families = families_of(POOL
						"acquire g(siz) = handle\n"
						"acquire f(size) = handle\n"
						"family\n"
						"acquire lost(size) = handle\n"
						"family good counts things\n"
						"acquire h = handle\n");

	ck_assert_ptr_nonnull(families_find(families, "f"));
	ck_assert_ptr_null(families_find(families, "g"));
	ck_assert_ptr_null(families_find(families, "lost"));
	ck_assert_str_eq(function_of(families, "h")->family->name, "good");
	families_free(families);
}
END_TEST

static const char *const shipped[] = {
	"curl",    "descriptors", "files", "malloc",  "mappings",
	"openssl", "php",         "ruby",  "sqlite3", "threads",
};

/* All of them at once, without a word. */
START_TEST(shipped_files)
{
	const char *top = getenv("top_srcdir");
	struct families *families = families_of("");
	struct strbuf path = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(shipped); i++) {
		strbuf_clear(&path);
		strbuf_printf(&path, "%s/etc/families/%s.families",
			      top ? top : ".", shipped[i]);
		ck_assert_int_eq(families_read(families, strbuf_text(&path)),
				 0);
	}
	ck_assert_str_eq(strbuf_text(&messages), "");
	ck_assert_str_eq(function_of(families, "malloc")->form, "malloc");
	ck_assert_str_eq(function_of(families, "_Znam")->form, "new[]");
	ck_assert_str_eq(function_of(families, "_ZdlPvj")->form, "new");
	ck_assert_int_eq(function_of(families, "je_reallocarray")->size.kind,
			 OPERAND_PRODUCT);
	ck_assert_int_eq(function_of(families, "pipe2")->handle.count, 2);
	ck_assert_int_eq(function_of(families, "mremap")->old_size.index, 1);
	ck_assert(function_of(families, "sbrk")->size.is_signed);
	ck_assert_int_eq(function_of(families, "fcntl")->choice.count, 2);
	ck_assert_int_eq(function_of(families, "fcntl")->choice.index, 1);
	ck_assert_uint_eq(function_of(families, "fcntl")->choice.numbers[1],
			  1030);
	ck_assert(function_of(families, "SSL_new")->family->shared);
	ck_assert(!function_of(families, "SSL_new")->family->partly);
	ck_assert(function_of(families, "X509_new")->family->shared);
	ck_assert(function_of(families, "X509_new")->family->partly);
	ck_assert(!function_of(families, "BN_new")->family->shared);
	ck_assert(function_of(families, "BN_new")->family->partly);
	strbuf_fini(&path);
	families_free(families);
}
END_TEST

START_TEST(files_that_can_not_be_read)
{
	struct families *families = families_new();

	ck_assert_int_eq(families_read(families, "/nowhere/x"), -ENOENT);
	ck_assert_int_eq(families_read(families, "/"), -EISDIR);
	families_free(families);
}
END_TEST

static void describe(const struct families *families, bool in_order,
		     struct function *function)
{
	struct family_pick *pick = family_pick_new(families, false, in_order,
						   false, GROWTH_NOT_SEEN);
	const struct prober_pick *ops = family_pick_ops(pick);

	ops->describe(ops->context, function);
	family_pick_free(pick);
}

/* What came to others before it returned is told of before that. */
START_TEST(whole_releases_in_the_order_of_time)
{
	struct families *families = families_of("family malloc counts bytes\n"
						"release free(handle)\n"
						"form new\n"
						"release _ZdlPv(handle)\n");
	struct function released = { .name = "_ZdlPv" };
	struct function freed = { .name = "free" };

	ck_assert_str_eq(strbuf_text(&messages), "");
	describe(families, false, &released);
	ck_assert(!released.entry_only);
	ck_assert_int_eq(released.whole, WHOLE_AT_ENTRY);
	describe(families, true, &released);
	ck_assert(!released.entry_only);
	ck_assert_int_eq(released.whole, WHOLE_AT_BOTH);
	describe(families, true, &freed);
	ck_assert(freed.entry_only);
	ck_assert_int_eq(freed.whole, WHOLE_AT_ENTRY);
	families_free(families);
}
END_TEST

/* The last one that anything is read from, and those before it. */
START_TEST(whole_calls_follow_from_so_many_arguments)
{
	static const struct {
		const char *name;
		unsigned arguments;
	} wanted[] = {
		{ "malloc", 1 },     { "calloc", 2 },       { "realloc", 2 },
		{ "free", 1 },       { "reallocarray", 3 }, { "memalign", 2 },
		{ "free_sized", 2 },
	};
	struct families *families =
		families_of("family malloc counts bytes\n"
			    "acquire malloc(size) = handle\n"
			    "acquire calloc(count, size) = handle\n"
			    "acquire memalign(alignment, size) = handle\n"
			    "resize realloc(old, size) = handle\n"
			    "resize reallocarray(old, count, size) = handle\n"
			    "release free(handle)\n"
			    "release free_sized(handle, size)\n");
	size_t i;

	ck_assert_str_eq(strbuf_text(&messages), "");
	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct function function = { .name = (char *)wanted[i].name };

		describe(families, false, &function);
		ck_assert_int_ne(function.whole, WHOLE_NOT);
		ck_assert_uint_eq(function.whole_arguments,
				  wanted[i].arguments);
	}
	families_free(families);
}
END_TEST

static Suite *family_suite(void)
{
	Suite *suite = suite_create("family");
	TCase *tcase = tcase_create("family");

	tcase_add_test(tcase, acquire_and_release);
	tcase_add_test(tcase, one_function_in_two_families);
	tcase_add_test(tcase, prefixes_and_forms);
	tcase_add_test(tcase, success_by_result);
	tcase_add_test(tcase, values_of_operands);
	tcase_add_loop_test(tcase, mistakes_are_told, 0, ARRAY_SIZE(mistakes));
	tcase_add_test(tcase, a_broken_line_is_left_out);
	tcase_add_test(tcase, shipped_files);
	tcase_add_test(tcase, files_that_can_not_be_read);
	tcase_add_test(tcase, whole_releases_in_the_order_of_time);
	tcase_add_test(tcase, whole_calls_follow_from_so_many_arguments);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(family_suite());
}
