/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "report/format/json_writer.h"
#include "report/usage/leaks_text.h"

/* More of them are in no list. */
#define BLOCKS_MAX 100000

static json_t *totals_object(const struct reach_result *reach)
{
	json_t *object = json_object();

	for (unsigned kind = REACH_DEFINITE; kind < REACH_KINDS; kind++) {
		json_t *total = json_object();

		json_set_number(total, "blocks", reach->totals[kind].blocks);
		json_set_number(total, "bytes", reach->totals[kind].bytes);
		json_object_set_new(object, leaks_kind_name(kind), total);
	}
	return object;
}

static json_t *groups_array(const struct leaks *leaks)
{
	json_t *array = json_array();

	for (size_t i = 0; i < leaks->group_count; i++) {
		const struct leak_group *group = &leaks->groups[i];
		json_t *object = json_object();

		json_set_text(object, "verdict", leaks_kind_name(group->kind));
		json_set_number(object, "size", group->size);
		json_set_number(object, "blocks", group->blocks);
		json_object_set_new(object, "first",
				    json_address(group->first));
		json_set_text(object, "class", group->name);
		if (group->text)
			json_object_set_new(object, "text",
					    json_text(group->text,
						      strlen(group->text)));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *rings_array(const struct reach_result *reach)
{
	json_t *array = json_array();

	for (size_t i = 0; i < reach->ring_count; i++) {
		json_t *object = json_object();

		json_set_number(object, "blocks", reach->rings[i].blocks);
		json_set_number(object, "bytes", reach->rings[i].bytes);
		json_object_set_new(object, "first",
				    json_address(reach->rings[i].first));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *blocks_array(const struct blocks *blocks)
{
	json_t *array = json_array();

	for (size_t i = 0; i < blocks->count; i++) {
		const struct block *block = &blocks->list[i];
		json_t *object;

		if (block->state != BLOCK_USED || block->own ||
		    block->mark == REACH_REACHED)
			continue;
		if (json_array_size(array) == BLOCKS_MAX)
			break;
		object = json_object();
		json_object_set_new(object, "address",
				    json_address(block->address));
		json_set_number(object, "size", block_usable(block));
		json_set_text(object, "verdict", leaks_kind_name(block->mark));
		json_array_append_new(array, object);
	}
	return array;
}

json_t *leaks_json(const struct leaks *leaks)
{
	json_t *root = json_object();

	json_set_number(root, "pid", (uint64_t)leaks->pid);
	json_object_set_new(root, "name",
			    json_text(leaks->name, strlen(leaks->name)));
	json_set_number(root, "pause_ns", leaks->pause_ns);
	json_object_set_new(root, "copied", json_boolean(leaks->copied));
	json_set_number(root, "scan_ns", leaks->reach.scan_ns);
	json_set_number(root, "scanned", leaks->picture.bytes);
	json_set_number(root, "unread", leaks->picture.unread);
	json_object_set_new(root, "understood",
			    json_boolean(glibc_is_understood(&leaks->glibc)));
	json_object_set_new(root, "leaks", totals_object(&leaks->reach));
	json_object_set_new(root, "rings", rings_array(&leaks->reach));
	json_object_set_new(root, "groups", groups_array(leaks));
	json_object_set_new(root, "blocks", blocks_array(&leaks->glibc.blocks));
	return root;
}
