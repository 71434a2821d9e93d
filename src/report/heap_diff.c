/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap_diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "report/amounts.h"
#include "report/names.h"

struct amount {
	uint64_t blocks, bytes;
};

enum change {
	CHANGE_NEW,
	CHANGE_GROWN,
	CHANGE_SHRUNK,
	CHANGE_GONE,
	CHANGE_NONE,
	CHANGES,
};

/* A name in both profiles has one number. */
struct diff_name {
	char *text;
	uint64_t number;
	UT_hash_handle hh;
};

struct diff_site {
	uint64_t *key; /* allocator, then each frame */
	size_t key_size;
	struct amount before, now;
	struct profile *profile; /* where the stack can be had */
	size_t sample;
	UT_hash_handle hh;
};

struct heap_diff {
	enum heap_value value;
	bool by_line;
	struct diff_name *names;
	struct diff_site *sites; /* by key */
	struct amount before, now;
};

/* ---- gathering ---- */

static uint64_t name_number(struct heap_diff *diff, const char *text)
{
	struct diff_name *name;

	HASH_FIND_STR(diff->names, text, name);
	if (name)
		return name->number;
	name = xcalloc(1, sizeof(*name));
	name->text = xstrdup(text);
	name->number = HASH_COUNT(diff->names);
	HASH_ADD_KEYPTR(hh, diff->names, name->text, strlen(text), name);
	return name->number;
}

static uint64_t *key_of(struct heap_diff *diff,
			const struct profile_sample *sample, size_t *size_ret)
{
	uint64_t *key = xcalloc(sample->frame_count + 1, sizeof(*key));

	key[0] = name_number(diff, sample->allocator);
	for (size_t i = 0; i < sample->frame_count; i++) {
		const struct profile_frame *frame = &sample->frames[i];

		key[i + 1] = name_number(diff, frame->function);
		if (diff->by_line)
			key[i + 1] ^= frame->line << 32;
	}
	*size_ret = (sample->frame_count + 1) * sizeof(*key);
	return key;
}

static struct diff_site *site_of(struct heap_diff *diff,
				 const struct profile_sample *sample)
{
	struct diff_site *site;
	size_t size;
	uint64_t *key = key_of(diff, sample, &size);

	HASH_FIND(hh, diff->sites, key, size, site);
	if (site) {
		free(key);
		return site;
	}
	site = xcalloc(1, sizeof(*site));
	site->key = key;
	site->key_size = size;
	HASH_ADD_KEYPTR(hh, diff->sites, site->key, size, site);
	return site;
}

static void add_number(uint64_t *sum, uint64_t number)
{
	*sum = *sum > UINT64_MAX - number ? UINT64_MAX : *sum + number;
}

static void add_amount(struct amount *sum, const struct amount *amount)
{
	add_number(&sum->blocks, amount->blocks);
	add_number(&sum->bytes, amount->bytes);
}

static bool is_in_use(enum heap_value value)
{
	return value == HEAP_INUSE_BYTES || value == HEAP_INUSE_BLOCKS;
}

static bool is_in_bytes(enum heap_value value)
{
	return value == HEAP_INUSE_BYTES || value == HEAP_ALLOC_BYTES;
}

static struct amount amount_of(const struct heap_diff *diff,
			       const struct profile_sample *sample)
{
	const uint64_t *values = sample->values;

	if (is_in_use(diff->value))
		return (struct amount){ values[PROFILE_INUSE_OBJECTS],
					values[PROFILE_INUSE_SPACE] };
	return (struct amount){ values[PROFILE_ALLOC_OBJECTS],
				values[PROFILE_ALLOC_SPACE] };
}

static void add_profile(struct heap_diff *diff, struct profile *profile,
			bool is_now)
{
	for (size_t i = 0; i < profile_sample_count(profile); i++) {
		const struct profile_sample sample =
			profile_sample(profile, i);
		const struct amount amount = amount_of(diff, &sample);
		struct diff_site *site = site_of(diff, &sample);

		site->profile = profile;
		site->sample = i;
		add_amount(is_now ? &site->now : &site->before, &amount);
		add_amount(is_now ? &diff->now : &diff->before, &amount);
	}
}

struct heap_diff *heap_diff_new(struct profile *before, struct profile *now,
				enum heap_value value)
{
	struct heap_diff *diff = xcalloc(1, sizeof(*diff));
	const char *build_id = profile_build_id(before);

	diff->value = value;
	diff->by_line = *build_id && !strcmp(build_id, profile_build_id(now));
	add_profile(diff, before, false);
	add_profile(diff, now, true);
	return diff;
}

void heap_diff_free(struct heap_diff *diff)
{
	struct diff_name *name, *next_name;
	struct diff_site *site, *next_site;

	HASH_ITER(hh, diff->names, name, next_name) {
		HASH_DEL(diff->names, name);
		free(name->text);
		free(name);
	}
	HASH_ITER(hh, diff->sites, site, next_site) {
		HASH_DEL(diff->sites, site);
		free(site->key);
		free(site);
	}
	free(diff);
}

/* ---- the table ---- */

static bool is_nothing(const struct amount *amount)
{
	return !amount->blocks && !amount->bytes;
}

static enum change change_of(const struct diff_site *site)
{
	const struct amount *before = &site->before, *now = &site->now;

	if (before->bytes == now->bytes && before->blocks == now->blocks)
		return CHANGE_NONE;
	if (is_nothing(before))
		return CHANGE_NEW;
	if (is_nothing(now))
		return CHANGE_GONE;
	if (before->bytes != now->bytes)
		return now->bytes > before->bytes ? CHANGE_GROWN :
						    CHANGE_SHRUNK;
	return now->blocks > before->blocks ? CHANGE_GROWN : CHANGE_SHRUNK;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static int compare(const void *a, const void *b, void *context)
{
	const struct diff_site *x = *(struct diff_site *const *)a;
	const struct diff_site *y = *(struct diff_site *const *)b;
	const struct heap_diff *diff = context;
	uint64_t of_x = distance(x->before.bytes, x->now.bytes);
	uint64_t of_y = distance(y->before.bytes, y->now.bytes);

	if (!is_in_bytes(diff->value) || of_x == of_y) {
		of_x = distance(x->before.blocks, x->now.blocks);
		of_y = distance(y->before.blocks, y->now.blocks);
	}
	return (of_x < of_y) - (of_x > of_y);
}

static void add_signed(struct strbuf *out, uint64_t before, uint64_t now,
		       unsigned width)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (before != now)
		strbuf_putc(&text, now > before ? '+' : '-');
	amounts_add_number(&text, distance(before, now));
	strbuf_printf(out, "%*s", (int)width, strbuf_text(&text));
}

static void add_frames(const struct profile_sample *sample, struct strbuf *out)
{
	for (size_t i = 0; i < sample->frame_count; i++) {
		const struct profile_frame *frame = &sample->frames[i];

		strbuf_puts(out, "        ");
		names_escape(out, *frame->function ? frame->function : "?");
		if (*frame->file) {
			strbuf_putc(out, ' ');
			names_escape(out, frame->file);
			if (frame->line)
				strbuf_printf(out, ":%" PRIu64, frame->line);
		}
		strbuf_putc(out, '\n');
	}
}

static void add_site(const struct diff_site *site, struct strbuf *out)
{
	const struct profile_sample sample =
		profile_sample(site->profile, site->sample);

	add_signed(out, site->before.bytes, site->now.bytes, 14);
	add_signed(out, site->before.blocks, site->now.blocks, 11);
	amounts_add_column(out, site->before.bytes, 14);
	amounts_add_column(out, site->now.bytes, 14);
	strbuf_puts(out, "  ");
	names_escape(out, *sample.allocator ? sample.allocator : "allocated");
	if (sample.frame_count && *sample.frames[0].function) {
		strbuf_puts(out, " by ");
		names_escape(out, sample.frames[0].function);
	}
	strbuf_putc(out, '\n');
	add_frames(&sample, out);
}

static const char *const titles[CHANGES] = {
	[CHANGE_NEW] = "new",
	[CHANGE_GROWN] = "grown",
	[CHANGE_SHRUNK] = "shrunk",
	[CHANGE_GONE] = "gone",
	[CHANGE_NONE] = "as before",
};

static void add_sites(const struct heap_diff *diff, enum change change,
		      unsigned top, struct strbuf *out)
{
	size_t count = 0, i;
	struct diff_site **list CLEANUP(xfree_cleanup) =
		xcalloc(HASH_COUNT(diff->sites) + 1, sizeof(*list));
	struct diff_site *site, *next;

	HASH_ITER(hh, diff->sites, site, next)
		if (change_of(site) == change)
			list[count++] = site;
	if (!count)
		return;
	qsort_r(list, count, sizeof(*list), compare, (void *)diff);
	strbuf_printf(out,
		      "---- %s\n         bytes     blocks  bytes before"
		      "     bytes now  what\n",
		      titles[change]);
	for (i = 0; i < count && (!top || i < top); i++)
		add_site(list[i], out);
	if (i < count) {
		amounts_add_count(out, count - i, "more row");
		strbuf_puts(out, " (--top)\n");
	}
}

struct change_sum {
	uint64_t sites;
	struct amount before, now;
};

static void add_sums(const struct heap_diff *diff, struct strbuf *out)
{
	struct change_sum sums[CHANGES] = { 0 };
	struct diff_site *site, *next;

	HASH_ITER(hh, diff->sites, site, next) {
		struct change_sum *sum = &sums[change_of(site)];

		if (is_nothing(&site->before) && is_nothing(&site->now))
			continue;
		sum->sites++;
		add_amount(&sum->before, &site->before);
		add_amount(&sum->now, &site->now);
	}
	for (int change = 0; change < CHANGES; change++) {
		const struct change_sum *sum = &sums[change];

		strbuf_printf(out, "%s: ", titles[change]);
		amounts_add_count(out, sum->sites, "site");
		strbuf_puts(out, ", ");
		add_signed(out, sum->before.bytes, sum->now.bytes, 0);
		strbuf_puts(out, " bytes, ");
		add_signed(out, sum->before.blocks, sum->now.blocks, 0);
		strbuf_puts(out, " blocks\n");
	}
}

void heap_diff_print(struct heap_diff *diff, unsigned top, struct strbuf *out)
{
	strbuf_printf(out, "%s: ",
		      is_in_use(diff->value) ? "in use" : "allocated");
	amounts_add_held(out, diff->before.bytes, diff->before.blocks);
	strbuf_puts(out, " before, ");
	amounts_add_held(out, diff->now.bytes, diff->now.blocks);
	strbuf_puts(out, " now: ");
	add_signed(out, diff->before.bytes, diff->now.bytes, 0);
	strbuf_puts(out, " bytes, ");
	add_signed(out, diff->before.blocks, diff->now.blocks, 0);
	strbuf_puts(out, " blocks\n");
	add_sums(diff, out);
	for (int change = 0; change < CHANGE_NONE; change++)
		add_sites(diff, change, top, out);
}

/* ---- folded stacks ---- */

static void add_folded_name(const char *name, struct strbuf *out)
{
	size_t start = out->length;

	names_escape(out, *name ? name : "?");
	for (size_t i = start; i < out->length; i++)
		if (out->text[i] == ';')
			out->text[i] = ',';
}

void heap_diff_fold(struct heap_diff *diff, struct strbuf *out)
{
	struct diff_site *site, *next;
	bool bytes = is_in_bytes(diff->value);

	HASH_ITER(hh, diff->sites, site, next) {
		struct profile_sample sample;

		if (is_nothing(&site->before) && is_nothing(&site->now))
			continue;
		sample = profile_sample(site->profile, site->sample);
		for (size_t i = sample.frame_count; i--;) {
			add_folded_name(sample.frames[i].function, out);
			strbuf_putc(out, ';');
		}
		add_folded_name(*sample.allocator ? sample.allocator :
						    "allocated",
				out);
		strbuf_printf(out, " %" PRIu64 " %" PRIu64 "\n",
			      bytes ? site->before.bytes : site->before.blocks,
			      bytes ? site->now.bytes : site->now.blocks);
	}
}
