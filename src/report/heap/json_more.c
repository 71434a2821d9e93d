/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/forecast.h"
#include "report/format/json_stack.h"
#include "report/format/json_writer.h"
#include "report/heap/json.h"

static json_t *calls_of(const struct heap_export *export)
{
	const struct heap *heap = export->process->heap;
	json_t *array = json_array();

	for (size_t i = 0; i < heap_use_count(heap); i++) {
		const struct heap_use *use = heap_use_at(heap, i);
		json_t *object = json_object();

		json_set_text(object, "function", use->function->name);
		json_set_text(object, "library", use->library);
		json_set_text(object, "component",
			      heap_report_component(export->config,
						    use->component));
		json_set_number(object, "calls", use->calls);
		json_set_number(object, "failed", use->failed);
		json_set_number(object, "bytes", use->bytes);
		json_set_number(object, "timed", use->timed);
		json_set_number(
			object, "total_time",
			heap_mean_time(heap_total_time(heap, use->total_ns,
						       use->timed, use->calls),
				       1));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *holder_object(const struct heap_report_config *config,
			     const struct heap_holder *holder)
{
	json_t *object = json_object();

	json_set_text(object, "family", holder->family->name);
	json_set_text(object, "library", holder->library);
	json_set_text(object, "component",
		      heap_report_component(config, holder->component));
	json_set_number(object, "blocks", holder->blocks);
	json_set_number(object, "bytes", holder->bytes);
	json_set_number(object, "alloc_blocks", holder->alloc_blocks);
	json_set_number(object, "alloc_bytes", holder->alloc_bytes);
	json_set_number(object, "peak_blocks", holder->peak_blocks);
	json_set_number(object, "peak_bytes", holder->peak_bytes);
	return object;
}

static json_t *holders_of(const struct heap_export *export)
{
	const struct heap *heap = export->process->heap;
	json_t *array = json_array();

	for (size_t i = 0; i < heap_holder_count(heap); i++)
		json_array_append_new(array,
				      holder_object(export->config,
						    heap_holder_at(heap, i)));
	return array;
}

/* ---- incidents ---- */

static json_t *half_object(const struct heap_report_config *config,
			   const struct family_function *function,
			   const char *library, unsigned component,
			   stack_id stack)
{
	json_t *object = json_object();

	if (function)
		json_set_text(object, "function", function->name);
	json_set_text(object, "library", library);
	json_set_text(object, "component",
		      heap_report_component(config, component));
	json_object_set_new(object, "stack",
			    json_stack(config->stacks, config->namer, stack,
				       function ? function->name : NULL));
	return object;
}

static json_t *incident_object(const struct heap_report_config *config,
			       const struct incident *incident)
{
	static const char *const kinds[INCIDENT_KINDS] = {
		[INCIDENT_CROSS] = "other library",
		[INCIDENT_MISMATCH] = "mismatch",
		[INCIDENT_SIZE_MISMATCH] = "size mismatch",
		[INCIDENT_DOUBLE_FREE] = "double free",
		[INCIDENT_INVALID_FREE] = "invalid free",
	};
	json_t *object = json_object();

	json_set_text(object, "kind", kinds[incident->kind]);
	json_set_number(object, "count", incident->count);
	json_set_number(object, "bytes", incident->bytes);
	json_object_set_new(object, "handle", json_address(incident->handle));
	if (incident->kind != INCIDENT_INVALID_FREE)
		json_object_set_new(object, "first",
				    half_object(config,
						incident->first_function,
						incident->first_library,
						incident->first_component,
						incident->first));
	json_object_set_new(object, "second",
			    half_object(config, incident->second_function,
					incident->second_library,
					incident->second_component,
					incident->second));
	return object;
}

static json_t *incidents_of(const struct heap_export *export)
{
	const struct heap *heap = export->process->heap;
	json_t *array = json_array();

	for (int kind = 0; kind < INCIDENT_KINDS; kind++)
		for (size_t i = 0; i < heap_incident_count(heap, kind); i++)
			json_array_append_new(
				array,
				incident_object(export->config,
						heap_incident_at(heap, kind,
								 i)));
	return array;
}

/* ---- growth ---- */

static json_t *vitals_object(const struct vitals *vitals)
{
	json_t *object = json_object();

	json_set_number(object, "virtual_bytes", vitals->virtual_bytes);
	json_set_number(object, "resident_bytes", vitals->resident_bytes);
	json_set_number(object, "swapped_bytes", vitals->swapped_bytes);
	json_set_number(object, "anonymous_bytes", vitals->anonymous_bytes);
	json_set_number(object, "file_bytes", vitals->file_bytes);
	json_set_number(object, "own_bytes", vitals->own_bytes);
	if (vitals->age_ns) {
		json_set_number(object, "age", vitals->age_ns);
		json_set_number(object, "processor_time", vitals->processor_ns);
	}
	json_set_number(object, "descriptors", vitals->descriptors);
	json_set_number(object, "threads", vitals->threads);
	json_set_number(object, "mappings", vitals->mappings);
	json_set_number(object, "minor_faults", vitals->minor_faults);
	json_set_number(object, "major_faults", vitals->major_faults);
	if (!vitals->cgroup_version)
		return object;
	json_set_number(object, "cgroup_bytes", vitals->cgroup_bytes);
	json_set_number(object, "cgroup_limit", vitals->limit_bytes);
	json_set_number(object, "oom_kills", vitals->oom_kills);
	return object;
}

static void add_trend(json_t *array, const char *what,
		      const struct history *history, uint64_t watched)
{
	const struct rise rise = rise_of(history, watched);
	json_t *object;

	if (!rise.certain)
		return;
	object = json_object();
	json_set_text(object, "of", what);
	json_object_set_new(object, "bytes_per_second",
			    json_real(rise.trend.slope));
	json_object_set_new(object, "steadiness", json_real(rise.steadiness));
	json_array_append_new(array, object);
}

static json_t *growth_object(const struct heap_export *export)
{
	const struct watched *process = export->process;
	const struct heap *heap = process->heap;
	uint64_t watched = export->now - process->start;
	json_t *object = json_object(), *trends = json_array();

	json_object_set_new(object, "first",
			    vitals_object(&process->first_vitals));
	json_object_set_new(object, "last", vitals_object(&process->vitals));
	add_trend(trends, "resident", &process->resident, watched);
	for (size_t i = 0; i < heap_family_count(heap); i++) {
		const struct family *family = heap_family(heap, i);

		if (family->has_size)
			add_trend(trends, family->name,
				  heap_total_history(heap, family), watched);
	}
	json_object_set_new(object, "trends", trends);
	return object;
}

/* ---- what it is worth, and what it cost ---- */

static json_t *lost_object(const struct heap_export *export)
{
	const struct watched *process = export->process;
	const struct unwind_counts *stacks = &export->cost->stacks;
	json_t *object = json_object();

	json_set_number(object, "calls", watched_lost(process));
	json_set_number(object, "unreadable", process->unreadable);
	json_set_number(object, "unseen", process->unseen);
	json_set_number(object, "no_room", process->roomless);
	json_set_number(object, "traps", process->lost_traps);
	json_set_number(object, "blind", process->blind_ns);
	if (export->cost->refused)
		json_set_text(object, "not_trapped", export->cost->refused);
	json_set_number(object, "not_kept", heap_unkept(process->heap));
	json_set_number(object, "stacks_broken", stacks->broken);
	json_set_number(object, "stacks_cut", stacks->cut);
	return object;
}

static json_t *cost_threads(const struct cost *cost)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < cost->thread_count; i++) {
		const struct thread_cost *thread = &cost->threads[i];
		json_t *object = json_object();

		json_set_number(object, "tid", thread->tid);
		json_set_text(object, "name", thread->name);
		json_set_number(object, "stops", thread->stops);
		json_set_number(object, "still", thread->still_ns);
		json_set_number(object, "seen", thread->seen_ns);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *cost_object(const struct heap_export *export)
{
	const struct heap_memory memory = heap_memory(export->process->heap);
	const struct cost *cost = &export->cost->cost;
	json_t *object = json_object();

	json_set_number(object, "stops", cost->stops);
	json_set_number(object, "stopped", export->cost->stopped_ns);
	json_set_number(object, "stop", cost->price.mean);
	json_set_number(object, "resolution", cost->price.resolution);
	json_object_set_new(object, "threads", cost_threads(cost));
	json_set_number(object, "memory",
			memory.block_bytes + memory.site_bytes +
				memory.other_bytes +
				stacks_bytes(export->config->stacks));
	return object;
}

void heap_json_set_more(json_t *root, const struct heap_export *export)
{
	json_object_set_new(root, "calls", calls_of(export));
	json_object_set_new(root, "holders", holders_of(export));
	json_object_set_new(root, "incidents", incidents_of(export));
	json_object_set_new(root, "growth", growth_object(export));
	json_object_set_new(root, "lost", lost_object(export));
	json_object_set_new(root, "cost", cost_object(export));
}
