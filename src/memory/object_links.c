/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/object_links.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "memory/php_heap.h"
#include "memory/php_links.h"
#include "memory/python_garbage.h"
#include "memory/python_heap.h"
#include "memory/ruby_heap.h"
#include "memory/ruby_links.h"

struct object_links {
	struct reach_rule rule;
	struct python_links *python; /* or NULL */
	struct ruby_links ruby;
	struct php_links php;
	bool has_ruby, has_php;
};

static bool passes_over(void *context, uint64_t pointer, taddr_t where)
{
	const struct object_links *links = context;
	const struct reach_rule *python = python_links_rule(links->python);

	return (python &&
		python->passes_over(python->context, pointer, where)) ||
	       (links->has_ruby &&
		ruby_links_pass_over(&links->ruby, pointer, where)) ||
	       (links->has_php &&
		php_links_pass_over(&links->php, pointer, where));
}

struct object_links *object_links_new(const struct picture *picture,
				      const struct mappings *mappings,
				      const struct glibc *glibc)
{
	struct object_links *links = xcalloc(1, sizeof(*links));
	/* It only reads. */
	struct memory *memory = (struct memory *)&picture->memory;

	links->rule = (struct reach_rule){
		.passes_over = passes_over,
		.context = links,
	};
	if (python_is_there(mappings))
		links->python = python_links_new(picture, mappings);
	links->has_ruby = ruby_is_there(mappings);
	if (links->has_ruby)
		ruby_links_init(&links->ruby, memory, mappings, &glibc->blocks);
	links->has_php = php_is_there(mappings);
	if (links->has_php)
		php_links_init(&links->php, picture, mappings, glibc);
	return links;
}

void object_links_free(struct object_links *links)
{
	if (!links)
		return;
	python_links_free(links->python);
	ruby_links_fini(&links->ruby);
	free(links);
}

const struct reach_rule *object_links_rule(const struct object_links *links)
{
	return links ? &links->rule : NULL;
}
