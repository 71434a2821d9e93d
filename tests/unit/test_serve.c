/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "base/gzip.h"
#include "report/profile/writer.h"
#include "report/serve/delta.h"
#include "report/serve/host.h"
#include "report/serve/request.h"

/* ---- whom it listens to ---- */

static const char *address_of(const char *text)
{
	static char shown[80];
	struct sockaddr_storage address;
	socklen_t size;

	if (!host_parse(text, &address, &size))
		return "no";
	host_print(&address, shown, sizeof(shown));
	return shown;
}

START_TEST(test_addresses)
{
	ck_assert_str_eq(address_of("8080"), "127.0.0.1:8080");
	ck_assert_str_eq(address_of("0"), "127.0.0.1:0");
	ck_assert_str_eq(address_of("192.168.1.7:80"), "192.168.1.7:80");
	ck_assert_str_eq(address_of("[::1]:65535"), "[::1]:65535");
	ck_assert_str_eq(address_of("0.0.0.0:1"), "0.0.0.0:1");
	ck_assert_str_eq(address_of(""), "no");
	ck_assert_str_eq(address_of("65536"), "no");
	ck_assert_str_eq(address_of("-1"), "no");
	ck_assert_str_eq(address_of("+1"), "no");
	ck_assert_str_eq(address_of(" 1"), "no");
	ck_assert_str_eq(address_of("99999999999999999999"), "no");
	ck_assert_str_eq(address_of("localhost:1"), "no");
	ck_assert_str_eq(address_of("[127.0.0.1]:1"), "no");
	ck_assert_str_eq(address_of("::1:1"), "no");
	ck_assert_str_eq(address_of("[::1]"), "no");
	ck_assert_str_eq(address_of("[::1:1"), "no");
	ck_assert_str_eq(address_of(":1"), "no");
}
END_TEST

START_TEST(test_hosts)
{
	char longest[400];

	ck_assert(host_is_us("localhost", "box"));
	ck_assert(host_is_us("LocalHost:6060", "box"));
	ck_assert(host_is_us("10.1.2.3:6060", "box"));
	ck_assert(host_is_us("[fe80::1]:6060", "box"));
	ck_assert(host_is_us("box:6060", "box"));
	ck_assert(!host_is_us("", "box"));
	ck_assert(!host_is_us("", ""));
	ck_assert(!host_is_us(":6060", ""));
	ck_assert(!host_is_us("evil.example", "box"));
	ck_assert(!host_is_us("10.1.2.3.evil.example", "box"));
	ck_assert(!host_is_us("localhost.evil.example", "box"));
	ck_assert(!host_is_us("localhost:6060@evil.example", "box"));
	ck_assert(!host_is_us("[evil]:1", "evil"));
	ck_assert(!host_is_us("[::1", "box"));
	ck_assert(!host_is_us("[::1]x", "box"));
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	ck_assert(!host_is_us(longest, longest));
}
END_TEST

/* ---- what it is asked ---- */

START_TEST(test_requests)
{
	struct request request = { 0 };

	ck_assert_int_eq(request_resource("/"), RESOURCE_PAGE);
	ck_assert_int_eq(request_resource("/debug/pprof/heap"), RESOURCE_HEAP);
	ck_assert_int_eq(request_resource("/debug/pprof/heap/"), RESOURCE_NONE);
	ck_assert_int_eq(request_resource("/debug/pprof/../.."), RESOURCE_NONE);
	ck_assert_ptr_null(request_option(&request, "seconds", "3600"));
	ck_assert_uint_eq(request.seconds, 3600);
	ck_assert_ptr_nonnull(request_option(&request, "seconds", "3601"));
	ck_assert_ptr_nonnull(request_option(&request, "seconds", "0"));
	ck_assert_ptr_nonnull(request_option(&request, "seconds", "1x"));
	ck_assert_ptr_nonnull(request_option(&request, "seconds", NULL));
	ck_assert_ptr_null(request_option(&request, "gc", "1"));
	ck_assert_ptr_null(request_option(&request, "gc", NULL));
	ck_assert_ptr_null(request_option(&request, "debug", "2"));
	ck_assert(request.text);
	ck_assert_ptr_null(request_option(&request, "debug", "0"));
	ck_assert(!request.text);
	ck_assert_ptr_nonnull(request_option(&request, "pid", "-4"));
	ck_assert_ptr_null(request_option(&request, "pid", "4711"));
	ck_assert_int_eq(request.pid, 4711);
}
END_TEST

/* ---- profiles ---- */

struct given {
	uint64_t address;
	const char *function, *thread;
	int64_t values[4]; /* as net/http/pprof has them: alloc_objects … */
};

static void put_place(struct profile_writer *writer, uint64_t id,
		      const struct given *given)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Function function = PPROF__FUNCTION__INIT, *functions;
	Pprof__Location location = PPROF__LOCATION__INIT, *locations;
	Pprof__Line line = PPROF__LINE__INIT, *lines = &line;

	functions = &function;
	locations = &location;
	function.id = location.id = line.function_id = id;
	function.name = profile_writer_text(writer, given->function);
	function.system_name = function.name;
	location.address = given->address;
	location.lines = &lines;
	location.n_lines = 1;
	piece.functions = &functions;
	piece.locations = &locations;
	piece.n_functions = piece.n_locations = 1;
	profile_writer_put(writer, &piece);
}

static void put_sample(struct profile_writer *writer, uint64_t id,
		       const struct given *given)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples = &sample;
	Pprof__Label label = PPROF__LABEL__INIT, *labels = &label;

	label.key = profile_writer_text(writer, "thread");
	label.text = profile_writer_text(writer, given->thread);
	sample.labels = &labels;
	sample.n_labels = 1;
	sample.location_ids = &id;
	sample.n_location_ids = 1;
	sample.values = (int64_t *)given->values;
	sample.n_values = 4;
	piece.samples = &samples;
	piece.n_samples = 1;
	profile_writer_put(writer, &piece);
}

static void make(const struct given *list, size_t count, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf plain = { 0 };
	struct profile_writer writer;

	profile_writer_init(&writer, &plain);
	profile_writer_put_type(&writer, "alloc_objects", "count");
	profile_writer_put_type(&writer, "alloc_space", "bytes");
	profile_writer_put_type(&writer, "inuse_objects", "count");
	profile_writer_put_type(&writer, "inuse_space", "bytes");
	for (size_t i = 0; i < count; i++)
		put_place(&writer, i + 1, &list[i]);
	for (size_t i = 0; i < count; i++)
		put_sample(&writer, i + 1, &list[i]);
	profile_writer_fini(&writer);
	gzip_add(out, plain.text, plain.length);
}

static const struct given before[] = {
	{ 0x10, "gone", "a", { 9, 90, 3, 30 } },
	{ 0x20, "kept", "a", { 5, 50, 5, 50 } },
	{ 0x30, "more", "a", { 7, 70, 2, 20 } },
	{ 0x40, "moved", "one", { 4, 40, 4, 40 } },
};

/* In another order, under other numbers. */
static const struct given after[] = {
	{ 0x30, "more", "a", { 17, 170, 4, 40 } },
	{ 0x40, "moved", "other", { 4, 40, 4, 40 } },
	{ 0x50, "new", "b", { 1, 10, 1, 10 } },
	{ 0x20, "kept", "a", { 5, 50, 5, 50 } },
	{ 0x10, "gone", "a", { 9, 90, 0, 0 } },
};

START_TEST(test_deltas)
{
	CLEANUP(strbuf_fini) struct strbuf first = { 0 };
	CLEANUP(strbuf_fini) struct strbuf second = { 0 };
	CLEANUP(strbuf_fini) struct strbuf delta = { 0 };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	make(before, ARRAY_SIZE(before), &first);
	make(after, ARRAY_SIZE(after), &second);
	ck_assert_int_eq(profile_delta(&first, &second, "inuse_space", &delta),
			 0);
	ck_assert_int_eq(profile_print(&delta, &text), 0);
	ck_assert_str_eq(strbuf_text(&text),
			 "heap profile: 0: 0 [11: 110] @ heap/1\n"
			 "4: 40 [4: 40] @ 0x40\n#\t0x40\tmoved\n\n"
			 "2: 20 [10: 100] @ 0x30\n#\t0x30\tmore\n\n"
			 "1: 10 [1: 10] @ 0x50\n#\t0x50\tnew\n\n"
			 "-3: -30 [0: 0] @ 0x10\n#\t0x10\tgone\n\n"
			 "-4: -40 [-4: -40] @ 0x40\n#\t0x40\tmoved\n\n");
}
END_TEST

/* What was acquired since, and what is held now. */
START_TEST(test_since)
{
	CLEANUP(strbuf_fini) struct strbuf first = { 0 };
	CLEANUP(strbuf_fini) struct strbuf second = { 0 };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	make(before + 1, 2, &first);
	make(after, 1, &second);
	ck_assert_int_eq(profile_since(&first, &second, &out), 0);
	ck_assert_int_eq(profile_print(&out, &text), 0);
	ck_assert_str_eq(strbuf_text(&text),
			 "heap profile: 4: 40 [10: 100] @ heap/1\n"
			 "4: 40 [10: 100] @ 0x30\n#\t0x30\tmore\n\n");
}
END_TEST

START_TEST(test_symbols)
{
	CLEANUP(strbuf_fini) struct strbuf profile = { 0 };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	make(before, ARRAY_SIZE(before), &profile);
	ck_assert_int_eq(profile_symbols(&profile, "0x10+0x11 0x20", &text), 0);
	ck_assert_str_eq(strbuf_text(&text),
			 "num_symbols: 1\n0x10 gone\n0x20 kept\n");
	strbuf_clear(&text);
	ck_assert_int_eq(profile_symbols(&profile, "x<script>", &text), 0);
	ck_assert_str_eq(strbuf_text(&text), "num_symbols: 1\n");
}
END_TEST

START_TEST(test_nonsense)
{
	CLEANUP(strbuf_fini) struct strbuf bytes = { 0 };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	strbuf_puts(&bytes, "no profile");
	ck_assert_int_eq(profile_print(&bytes, &out), -EINVAL);
	ck_assert_int_eq(profile_symbols(&bytes, "", &out), -EINVAL);
	ck_assert_int_eq(profile_delta(&bytes, &bytes, "inuse_space", &out),
			 -EINVAL);
	ck_assert_int_eq(profile_first_value(&bytes, "inuse_space", &out),
			 -EINVAL);
	ck_assert_uint_eq(out.length, 0);
}
END_TEST

static Suite *serve_suite(void)
{
	Suite *suite = suite_create("serve");
	TCase *tests = tcase_create("serve");

	tcase_add_test(tests, test_addresses);
	tcase_add_test(tests, test_hosts);
	tcase_add_test(tests, test_requests);
	tcase_add_test(tests, test_deltas);
	tcase_add_test(tests, test_since);
	tcase_add_test(tests, test_symbols);
	tcase_add_test(tests, test_nonsense);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return unit_run(serve_suite());
}
