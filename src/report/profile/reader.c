/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/gzip.h"
#include "base/saturate.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "report/profile/check.h"

/* A million sites with stacks of 60 frames take a tenth of this. */
#define BYTES_MAX  (size_t)(512u << 20)
#define MEMORY_MAX (size_t)(2048u << 20)

struct profile {
	ProtobufCAllocator allocator;
	size_t memory_left;
	Pprof__Profile *message;
	struct profile_types types;
	struct profile_frame *frames;
	size_t room;
};

/* ---- memory, up to a bound ---- */

static void *allocate(void *data, size_t size)
{
	struct profile *profile = data;

	if (size > profile->memory_left)
		return NULL;
	profile->memory_left -= size;
	return malloc(size);
}

static void give_back(void *data UNUSED, void *memory)
{
	free(memory);
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	if (profile->message)
		pprof__profile__free_unpacked(profile->message,
					      &profile->allocator);
	free(profile->frames);
	free(profile);
}

/* ---- reading ---- */

static const char *unpack(struct profile *profile, const void *bytes,
			  size_t size)
{
	const char *why;

	profile->allocator = (ProtobufCAllocator){
		.alloc = allocate,
		.free = give_back,
		.allocator_data = profile,
	};
	profile->memory_left = MEMORY_MAX;
	profile->message =
		pprof__profile__unpack(&profile->allocator, size, bytes);
	if (!profile->message)
		return "it is no profile, or too large";
	why = profile_check(profile->message, &profile->types);
	return why ? why :
		     profile_check_signs(profile->message, &profile->types);
}

/*
 * What becomes many times as large as it was compressed is no profile: it was
 * made to take memory.
 */
#define RATIO_MAX  40
#define RATIO_FREE ((size_t)16 << 20)

static size_t limit_of(size_t compressed)
{
	size_t limit = RATIO_FREE + compressed * RATIO_MAX;

	return compressed > BYTES_MAX / RATIO_MAX || limit > BYTES_MAX ?
		       BYTES_MAX :
		       limit;
}

int profile_parse(const void *bytes, size_t size, struct profile **ret,
		  const char **why_ret)
{
	CLEANUP(strbuf_fini) struct strbuf plain = { 0 };
	struct profile *profile;

	*why_ret = NULL;
	if (gzip_is(bytes, size)) {
		int err = gzip_expand(&plain, bytes, size, limit_of(size));

		*why_ret = err == -EFBIG ? "it is too large" :
			   err           ? "it is damaged, or cut off" :
					   NULL;
		bytes = strbuf_text(&plain);
		size = plain.length;
	}
	if (*why_ret)
		return -EINVAL;
	profile = xcalloc(1, sizeof(*profile));
	*why_ret = unpack(profile, bytes, size);
	if (*why_ret) {
		profile_free(profile);
		return -EINVAL;
	}
	*ret = profile;
	return 0;
}

static int read_all(int fd, struct strbuf *out)
{
	char piece[65536];

	for (;;) {
		ssize_t n = read(fd, piece, sizeof(piece));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return 0;
		strbuf_add(out, piece, n);
		if (out->length > BYTES_MAX)
			return -EFBIG;
	}
}

int profile_read(const char *path, struct profile **ret, const char **why_ret)
{
	CLEANUP(strbuf_fini) struct strbuf bytes = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	*why_ret = NULL;
	if (fd < 0)
		return -errno;
	err = read_all(fd, &bytes);
	close(fd);
	return err ? err :
		     profile_parse(strbuf_text(&bytes), bytes.length, ret,
				   why_ret);
}

/* ---- asking ---- */

bool profile_has(const struct profile *profile, enum profile_value value)
{
	return profile->types.columns[value] != PROFILE_NO_COLUMN;
}

size_t profile_sample_count(const struct profile *profile)
{
	return profile->message->n_samples;
}

static void add_frame(struct profile *profile, size_t *count,
		      const Pprof__Line *line)
{
	struct profile_frame frame = { "", "", 0 };

	if (line) {
		const Pprof__Function *function =
			profile_function(profile->message, line->function_id);

		frame.function = profile_text(profile->message, function->name);
		frame.file = profile_text(profile->message, function->file);
		frame.line = line->line > 0 ? line->line : 0;
	}
	profile->frames = xgrow(profile->frames, *count, &profile->room,
				sizeof(*profile->frames));
	profile->frames[(*count)++] = frame;
}

static size_t gather_frames(struct profile *profile,
			    const Pprof__Sample *sample)
{
	size_t count = 0;

	for (size_t i = 0; i < sample->n_location_ids; i++) {
		const Pprof__Location *location =
			profile_location(profile->message,
					 sample->location_ids[i]);

		for (size_t k = 0; k < location->n_lines; k++)
			add_frame(profile, &count, location->lines[k]);
		if (!location->n_lines)
			add_frame(profile, &count, NULL);
	}
	return count;
}

static const char *label_of(const struct profile *profile,
			    const Pprof__Sample *sample, const char *key)
{
	const Pprof__Profile *message = profile->message;
	const char *text = "";

	for (size_t i = 0; i < sample->n_labels; i++)
		if (!strcmp(profile_text(message, sample->labels[i]->key), key))
			text = profile_text(message, sample->labels[i]->text);
	return text;
}

struct profile_sample profile_sample(struct profile *profile, size_t index)
{
	const Pprof__Sample *sample = profile->message->samples[index];
	struct profile_sample result = {
		.allocator = label_of(profile, sample, "allocator"),
		.caller = label_of(profile, sample, "caller"),
		.library = label_of(profile, sample, "library"),
		.component = label_of(profile, sample, "component"),
	};

	for (enum profile_value i = 0; i < PROFILE_VALUES; i++)
		if (profile_has(profile, i))
			result.values[i] =
				sample->values[profile->types.columns[i]];
	result.frame_count = gather_frames(profile, sample);
	result.frames = profile->frames;
	return result;
}

const char *profile_build_id(const struct profile *profile)
{
	const Pprof__Profile *message = profile->message;

	return message->n_mappings ?
		       profile_text(profile->message,
				    message->mappings[0]->build_id) :
		       "";
}

const char *profile_comment(const struct profile *profile)
{
	const Pprof__Profile *message = profile->message;

	return message->n_comments ?
		       profile_text(profile->message, message->comments[0]) :
		       "";
}

static bool is_complete(const struct profile *profile)
{
	const char *comment = profile_comment(profile);
	const size_t length = strlen(comment), end = strlen(PROFILE_COMPLETE);

	return length >= end &&
	       !strcmp(comment + length - end, PROFILE_COMPLETE);
}

static uint64_t positive(int64_t number)
{
	return number > 0 ? number : 0;
}

struct profile_times profile_times(const struct profile *profile)
{
	return (struct profile_times){
		.wall = positive(profile->message->time_nanos),
		.watched = positive(profile->message->duration_nanos),
	};
}

bool profile_watch(const struct profile *profile, uint64_t *start_ret,
		   uint64_t *duration_ret)
{
	const struct profile_times times = profile_times(profile);

	if (profile->types.growth || is_complete(profile) || !times.watched ||
	    times.wall < times.watched)
		return false;
	*start_ret = times.wall - times.watched;
	*duration_ret = times.watched;
	return true;
}

uint64_t profile_total(const struct profile *profile, enum profile_value value)
{
	const Pprof__Profile *message = profile->message;
	uint64_t total = 0;

	if (!profile_has(profile, value))
		return 0;
	for (size_t i = 0; i < message->n_samples; i++)
		saturate_add(&total,
			     message->samples[i]
				     ->values[profile->types.columns[value]]);
	return total;
}

bool profile_has_components(const struct profile *profile)
{
	const Pprof__Profile *message = profile->message;

	for (size_t i = 0; i < message->n_samples; i++)
		if (*label_of(profile, message->samples[i], "component"))
			return true;
	return false;
}

const char *profile_growth(const struct profile *profile)
{
	const Pprof__Profile *message = profile->message;

	return profile->types.growth ?
		       profile_text(message, message->period_type->type) :
		       NULL;
}
