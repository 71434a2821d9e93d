/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/sizes.h"

#include "heap/family.h"
#include "heap/site.h"

size_t size_rows(const struct log_histogram *sizes,
		 struct size_row ret[SIZE_CLASSES])
{
	uint64_t classes[SIZE_CLASSES];
	uint64_t below = 0;
	size_t count = 0;

	log_histogram_classes(sizes, classes);
	/* The last one's power of two is none of 64 bits. */
	for (unsigned i = 0; i < SIZE_CLASSES - 1; i++) {
		if (!classes[i])
			continue;
		below += classes[i];
		ret[count++] = (struct size_row){
			.up_to = UINT64_C(1) << i,
			.blocks = classes[i],
			.percent = 100.0 * below / sizes->count,
		};
	}
	return count;
}

struct log_histogram sizes_of_all(const struct heap *heap)
{
	struct log_histogram sizes = { 0 };

	for (size_t i = 1; i <= heap_site_count(heap); i++) {
		const struct site *site = heap_site(heap, i);

		if (site->function->family->has_size)
			log_histogram_merge(&sizes, &site->sizes);
	}
	return sizes;
}
