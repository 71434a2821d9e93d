/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "base/xalloc.h"
#include "report/format/frame_text.h"

/* A name in both profiles has one number. */
struct diff_name {
	char *text;
	uint64_t number;
	UT_hash_handle hh;
};

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

const char *heap_diff_group(const struct heap_diff *diff,
			    const struct profile_sample *sample)
{
	if (diff->by == HEAP_DIFF_BY_LIBRARY)
		return *sample->library ? sample->library : "(no library)";
	return *sample->component ? sample->component : "(other)";
}

static uint64_t *group_key(struct heap_diff *diff,
			   const struct profile_sample *sample,
			   size_t *size_ret)
{
	uint64_t *key = xcalloc(1, sizeof(*key));

	*key = name_number(diff, heap_diff_group(diff, sample));
	*size_ret = sizeof(*key);
	return key;
}

static uint64_t *stack_key(struct heap_diff *diff,
			   const struct profile_sample *sample,
			   size_t *size_ret)
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

static uint64_t *key_of(struct heap_diff *diff,
			const struct profile_sample *sample, size_t *size_ret)
{
	return diff->by == HEAP_DIFF_BY_STACK ?
		       stack_key(diff, sample, size_ret) :
		       group_key(diff, sample, size_ret);
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

bool diff_amount_is_nothing(const struct diff_amount *amount)
{
	return !amount->blocks && !amount->bytes;
}

void diff_amount_add(struct diff_amount *sum, const struct diff_amount *amount)
{
	saturate_add(&sum->blocks, amount->blocks);
	saturate_add(&sum->bytes, amount->bytes);
}

/* What the blocks of a value are; those of its bytes follow. */
static enum profile_value objects_of(enum heap_value value)
{
	switch (value) {
	case HEAP_INUSE_BYTES:
	case HEAP_INUSE_BLOCKS:
		return PROFILE_INUSE_OBJECTS;
	case HEAP_PEAK_BYTES:
	case HEAP_PEAK_BLOCKS:
		return PROFILE_PEAK_OBJECTS;
	case HEAP_TEMPORARY_BLOCKS:
		return PROFILE_TEMPORARY_OBJECTS;
	case HEAP_ALLOC_BYTES:
	case HEAP_ALLOC_BLOCKS:
	case HEAP_VALUES:
		break;
	}
	return PROFILE_ALLOC_OBJECTS;
}

bool heap_diff_is_told(const struct profile *profile, enum heap_value value)
{
	return profile_has(profile, objects_of(value)) &&
	       profile_has(profile, objects_of(value) + 1);
}

bool heap_diff_is_in_use(const struct heap_diff *diff)
{
	return diff->value == HEAP_INUSE_BYTES ||
	       diff->value == HEAP_INUSE_BLOCKS;
}

bool heap_diff_is_in_bytes(const struct heap_diff *diff)
{
	return heap_value_is_in_bytes(diff->value);
}

uint64_t heap_diff_weight(const struct heap_diff *diff,
			  const struct diff_amount *amount)
{
	return heap_diff_is_in_bytes(diff) ? amount->bytes : amount->blocks;
}

const char *heap_diff_counted(const struct heap_diff *diff)
{
	if (!diff->growth)
		return "block";
	return strcmp(diff->growth, "faults") ? "call" : "fault";
}

void heap_diff_add_allocator(const struct heap_diff *diff,
			     const struct profile_sample *sample,
			     struct strbuf *out)
{
	if (*sample->allocator)
		frame_text_add_allocator(sample->allocator, out);
	else if (!diff->growth)
		strbuf_puts(out, "allocated");
}

static struct diff_amount amount_of(const struct heap_diff *diff,
				    const struct profile_sample *sample)
{
	const uint64_t *values = &sample->values[objects_of(diff->value)];

	return (struct diff_amount){ values[0], values[1] };
}

static void add_profile(struct heap_diff *diff, struct profile *profile,
			bool is_now)
{
	for (size_t i = 0; i < profile_sample_count(profile); i++) {
		const struct profile_sample sample = profile_sample(profile, i);
		const struct diff_amount amount = amount_of(diff, &sample);
		struct diff_site *site = site_of(diff, &sample);

		/* The lines are those of the side that has something there. */
		if (!site->profile || !diff_amount_is_nothing(&amount)) {
			site->profile = profile;
			site->sample = i;
		}
		diff_amount_add(is_now ? &site->now : &site->before, &amount);
		diff_amount_add(is_now ? &diff->now : &diff->before, &amount);
	}
}

static bool are_alike(const struct profile *before, const struct profile *now)
{
	const char *x = profile_growth(before), *y = profile_growth(now);

	return x && y ? !strcmp(x, y) : x == y;
}

/* Files of one watch begin at the same time, as far as clocks can tell. */
#define SAME_START 100000000 /* ns */

static void set_times(struct heap_diff *diff, const struct profile *before,
		      const struct profile *now)
{
	uint64_t start, start_now, ns, ns_now;

	if (!profile_watch(before, &start, &ns) ||
	    !profile_watch(now, &start_now, &ns_now) ||
	    (start > start_now ? start - start_now : start_now - start) <
		    SAME_START)
		return;
	diff->before_ns = ns;
	diff->now_ns = ns_now;
}

struct heap_diff *heap_diff_new(struct profile *before, struct profile *now,
				enum heap_value value, enum heap_diff_by by)
{
	const char *build_id = profile_build_id(before);
	struct heap_diff *diff;

	if (!are_alike(before, now))
		return NULL;
	diff = xcalloc(1, sizeof(*diff));
	diff->value = value;
	diff->by = by;
	diff->growth = profile_growth(now);
	diff->by_line = *build_id && !strcmp(build_id, profile_build_id(now));
	/* Who watches twice as long sees no peak that is twice as high. */
	if (objects_of(value) != PROFILE_PEAK_OBJECTS)
		set_times(diff, before, now);
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
