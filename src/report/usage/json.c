/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/usage/json.h"

#include <string.h>

#include "report/format/json_writer.h"
#include "report/usage/objects_text.h"

static json_t *total_object(const struct memory_total *total)
{
	json_t *object = json_object();

	json_set_number(object, "mappings", total->mappings);
	json_set_number(object, "virtual", total->virtual_bytes);
	json_set_number(object, "resident", total->resident);
	json_set_number(object, "proportional", total->proportional);
	json_set_number(object, "swapped", total->swapped);
	json_set_number(object, "huge", total->huge);
	return object;
}

static json_t *kinds_object(const struct memory_view *view)
{
	json_t *object = json_object();

	for (unsigned i = 0; i < MAPPING_KINDS; i++)
		if (view->kinds[i].mappings)
			json_object_set_new(object, mapping_kind_name(i),
					    total_object(&view->kinds[i]));
	return object;
}

static json_t *process_object(const struct memory_view *view)
{
	json_t *object = json_object();

	json_set_number(object, "virtual", view->vitals.virtual_bytes);
	json_set_number(object, "resident", view->vitals.resident_bytes);
	json_set_number(object, "swapped", view->vitals.swapped_bytes);
	return object;
}

static json_t *mapping_object(const struct mapping *mapping)
{
	json_t *object = json_object();

	json_object_set_new(object, "start", json_address(mapping->start));
	json_object_set_new(object, "end", json_address(mapping->end));
	json_set_text(object, "kind", mapping_kind_name(mapping->kind));
	json_object_set_new(object, "path",
			    json_text(mapping->path, strlen(mapping->path)));
	json_set_number(object, "resident", mapping->resident);
	json_set_number(object, "proportional", mapping->proportional);
	json_set_number(object, "swapped", mapping->swapped);
	json_set_number(object, "huge", mapping->huge);
	return object;
}

static json_t *mappings_array(const struct memory_view *view)
{
	json_t *array = json_array();

	for (size_t i = 0; i < view->mappings.count; i++)
		json_array_append_new(array,
				      mapping_object(&view->mappings.list[i]));
	return array;
}

static json_t *arena_object(const struct glibc_arena *arena)
{
	static const char *const states[] = {
		[BLOCK_USED] = "used", [BLOCK_TCACHE] = "tcache",
		[BLOCK_FAST] = "fast", [BLOCK_FREE] = "free",
		[BLOCK_TOP] = "top",   [BLOCK_FENCE] = "fence",
	};
	json_t *object = json_object();

	json_object_set_new(object, "address", json_address(arena->address));
	json_object_set_new(object, "main", json_boolean(arena->main));
	json_set_number(object, "system", arena->system_bytes);
	json_set_number(object, "system_most", arena->system_most);
	for (unsigned i = 0; i < BLOCK_STATES; i++) {
		json_t *state = json_object();

		json_set_number(state, "blocks", arena->count[i]);
		json_set_number(state, "bytes", arena->bytes[i]);
		json_object_set_new(object, states[i], state);
	}
	if (!arena->why)
		return object;
	json_set_text(object, "not_understood", arena->why);
	json_object_set_new(object, "not_understood_from",
			    json_address(arena->trouble));
	return object;
}

static json_t *sizes_array(const struct heap_shape *shape)
{
	json_t *array = json_array();

	for (size_t i = 0; i < shape->size_count; i++) {
		const struct heap_size *size = &shape->sizes[i];
		json_t *object = json_object();

		json_set_number(object, "size", size->bytes);
		json_set_number(object, "blocks", size->count);
		json_set_number(object, "pinning", size->pinning);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *heap_object(const struct memory_view *view)
{
	const struct glibc *glibc = &view->glibc;
	json_t *object = json_object(), *arenas = json_array();

	for (size_t i = 0; i < glibc->arena_count; i++)
		json_array_append_new(arenas, arena_object(&glibc->arenas[i]));
	json_set_text(object, "malloc", glibc->musl ? "musl" : "glibc");
	json_object_set_new(object, "arenas", arenas);
	json_object_set_new(object, "understood",
			    json_boolean(glibc_is_understood(glibc)));
	if (glibc->known_totals) {
		json_set_number(object, "map_blocks", glibc->map_count);
		json_set_number(object, "map_bytes", glibc->map_bytes);
	}
	json_set_number(object, "found_map_blocks", glibc->found_maps);
	json_set_number(object, "found_map_bytes", glibc->found_map_bytes);
	json_set_number(object, "map_resident", view->map_resident);
	json_set_number(object, "thread_caches", glibc->caches);
	json_set_number(object, "bad_lists", glibc->bad_lists);
	json_set_number(object, "trim_resident", view->shape.trim_resident);
	json_set_number(object, "trim_virtual", view->shape.trim_virtual);
	json_set_number(object, "top_resident", view->shape.top_resident);
	json_set_number(object, "pinned_pages", view->shape.pinned_pages);
	json_set_number(object, "pinned_used", view->shape.pinned_used);
	json_object_set_new(object, "sizes", sizes_array(&view->shape));
	return object;
}

static json_t *touched_object(const struct memory_view *view)
{
	json_t *object = json_object(), *kinds = json_object();
	struct memory_use uses[MAPPING_KINDS + 1];

	memory_view_sum_touched(view, uses);
	json_set_number(object, "wait_ns", view->touched.wait_ns);
	json_object_set_new(object, "sure", json_boolean(view->touched.sure));
	json_set_number(object, "resident", uses[MAPPING_KINDS].resident);
	json_set_number(object, "touched", uses[MAPPING_KINDS].touched);
	for (unsigned i = 0; i < MAPPING_KINDS; i++) {
		json_t *use = json_object();

		json_set_number(use, "resident", uses[i].resident);
		json_set_number(use, "touched", uses[i].touched);
		json_object_set_new(kinds, mapping_kind_name(i), use);
	}
	json_object_set_new(object, "kinds", kinds);
	return object;
}

json_t *memory_json(const struct memory_view *view)
{
	json_t *root = json_object();

	json_set_number(root, "pid", (uint64_t)view->pid);
	json_object_set_new(root, "name",
			    json_text(view->name, strlen(view->name)));
	json_object_set_new(root, "frozen", json_boolean(view->frozen));
	json_object_set_new(root, "moved", json_boolean(view->moved));
	if (view->frozen)
		json_set_number(root, "pause_ns", view->pause_ns);
	json_object_set_new(root, "process", process_object(view));
	json_object_set_new(root, "all", total_object(&view->all));
	json_object_set_new(root, "kinds", kinds_object(view));
	json_object_set_new(root, "mappings", mappings_array(view));
	if (view->allocator)
		json_set_text(root, "other_allocator", view->allocator);
	if (view->taken)
		json_set_number(root, "other_allocator_taken", view->taken);
	if (view->has_glibc)
		json_object_set_new(root, "heap", heap_object(view));
	if (view->touched.wait_ns)
		json_object_set_new(root, "touched", touched_object(view));
	objects_json(view->objects, root);
	return root;
}
