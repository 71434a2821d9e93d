/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile that nobody vouches for, compared with itself and shown.
 */
#include <string.h>

#include "report/heap/diff.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void compare(struct profile *profile, enum heap_value value,
		    enum heap_diff_by by)
{
	struct heap_diff *diff = heap_diff_new(profile, profile, value, by);
	struct strbuf out = { 0 };

	heap_diff_print(diff, 0, &out);
	heap_diff_fold(diff, &out);
	heap_diff_draw(diff, "old", "new", &out);
	if (strlen(strbuf_text(&out)) != out.length ||
	    strchr(strbuf_text(&out), '\033'))
		__builtin_trap();
	strbuf_fini(&out);
	heap_diff_free(diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct profile *profile;
	const char *why;

	if (profile_parse(bytes, size, &profile, &why)) {
		if (!why)
			__builtin_trap();
		return 0;
	}
	compare(profile, HEAP_INUSE_BYTES, HEAP_DIFF_BY_STACK);
	compare(profile, HEAP_ALLOC_BLOCKS, HEAP_DIFF_BY_LIBRARY);
	compare(profile, HEAP_INUSE_BLOCKS, HEAP_DIFF_BY_COMPONENT);
	profile_free(profile);
	return 0;
}
