/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A family file, and behind its first NUL the acts of a process that calls its
 * functions: small handles, so that they meet.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/diag.h"
#include "heap/forecast.h"
#include "heap/verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void ignore(enum diag_level level, enum diag_domain domain,
		   const char *message)
{
	(void)level;
	(void)domain;
	(void)message;
}

static const struct family_function *
any_function(const struct families *families, unsigned n)
{
	const struct family *family;

	if (!families_count(families))
		return NULL;
	family = families_at(families, n % families_count(families));
	if (!family->function_count)
		return NULL;
	return family->functions[n / 7 % family->function_count];
}

/* One act from a few bytes: begun, ended, or given up. */
static void act(struct heap *heap, const struct families *families,
		struct cursor *c, uint64_t *time)
{
	unsigned n = cursor_u8(c), how = cursor_u8(c);
	struct heap_act act = {
		.function = any_function(families, n),
		.call = how % 4,
		.tid = how / 4 % 3,
		.stack = how / 16,
		.handle = cursor_u8(c) * 2048ull,
		.old = cursor_u8(c) * 2048ull,
		.size = cursor_u8(c) * 1000ull,
		.old_size = cursor_u8(c) * 1000ull,
		.failed = n % 5 == 0,
		.library = n % 2 ? "a" : "b",
	};

	*time += cursor_u8(c) * 10000000ull;
	act.begin = *time;
	act.end = *time + n;
	if (!act.function)
		return;
	if (n % 3 == 0)
		heap_begin(heap, &act);
	else if (n % 17 == 0)
		heap_abandon(heap, &act);
	else
		heap_act(heap, &act);
}

static void check_sums(const struct heap *heap, const struct family *family)
{
	const struct heap_total *total = heap_total(heap, family);
	uint64_t blocks = 0, held = 0;

	for (size_t i = 1; i <= heap_site_count(heap); i++) {
		const struct site *site = heap_site(heap, i);

		if (site->function->family != family)
			continue;
		blocks += site->blocks;
		held += site->bytes;
		if (site->blocks > site->alloc_blocks)
			abort();
	}
	if (blocks != total->blocks || held != total->bytes ||
	    total->alloc_bytes - total->freed_bytes != total->bytes)
		abort();
}

static void judge(const struct heap *heap, uint64_t time)
{
	struct survey *survey = survey_new(heap, time, 0);
	struct strbuf text = { 0 };

	for (size_t i = 1; i <= heap_site_count(heap); i++) {
		const struct site *site = heap_site(heap, i);
		struct verdict verdict = verdict_of(heap, site, survey);

		verdict_explain(&verdict, site, &text);
	}
	for (size_t i = 0; i < heap_family_count(heap); i++) {
		const struct family *family = heap_family(heap, i);
		struct rise rise =
			rise_of(heap_total_history(heap, family), time);
		struct forecast forecast = forecast_of(&rise, 1 << 20);

		forecast_print(&forecast, &text);
		check_sums(heap, family);
	}
	strbuf_fini(&text);
	survey_free(survey);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const uint8_t *end = size ? memchr(bytes, '\0', size) : NULL;
	size_t length = end ? (size_t)(end - bytes) : size;
	struct families *families = families_new();
	struct heap_options options = { .families = families,
					.limits = { 200, 20, 10 } };
	struct cursor c = cursor_of(bytes + length, size - length);
	struct heap *heap;
	uint64_t time = 0;

	diag_set_receiver(ignore);
	families_parse(families, "fuzz", (const char *)bytes, length);
	heap = heap_new(&options);
	cursor_skip(&c, 1);
	while (!c.bad && !cursor_at_end(&c))
		act(heap, families, &c, &time);
	judge(heap, time);
	heap_free(heap);
	families_free(families);
	return 0;
}
