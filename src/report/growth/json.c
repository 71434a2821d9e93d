/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/growth/json.h"

#include "growth/view.h"
#include "report/format/json_stack.h"
#include "report/format/json_writer.h"
#include "report/growth/export.h"

/* What makes the process grow, as JSON. */

static json_t *site_object(const struct heap_export *export,
			   const struct growth_site *site)
{
	const struct heap_report_config *config = export->config;
	json_t *object = json_object();

	json_set_number(object, "number", site->number);
	json_set_text(object, "function", site->function);
	json_set_number(object, "calls", site->calls);
	json_set_number(object, "bytes", site->bytes);
	json_set_number(object, "there", site->bytes - site->gone);
	json_set_number(object, "back_calls", site->back_calls);
	json_set_number(object, "back", site->back);
	json_set_number(object, "failed", site->failed);
	json_object_set_new(object, "stack",
			    json_stack(config->stacks, config->namer,
				       site->stack, NULL));
	return object;
}

static void set_source(json_t *object, const struct growth *growth)
{
	static const char *const methods[] = {
		[FAULTS_NOT_SEEN] = "none",
		[FAULTS_BY_EVENTS] = "events",
		[FAULTS_BY_LOOKING] = "looks",
	};
	const struct growth_fault_source source = growth_fault_seen(growth);

	json_set_text(object, "seen_by", methods[source.method]);
	if (source.method == FAULTS_BY_LOOKING) {
		json_set_number(object, "looks", source.looks);
		json_set_number(object, "not_looked_at", source.unlooked);
		return;
	}
	json_object_set_new(object, "system_calls_too",
			    json_boolean(source.in_kernel));
	json_set_number(object, "in_system_calls", source.in_system_calls);
	json_set_number(object, "in_bulk", source.in_bulk);
	json_set_number(object, "lost", source.lost);
	json_set_number(object, "throttled", source.throttled);
	json_set_number(object, "threads_refused", source.refused);
}

static json_t *kind_object(const struct heap_export *export,
			   enum growth_kind kind)
{
	const struct growth *growth = export->process->growth;
	const struct growth_total total = growth_total(growth, kind);
	json_t *object = json_object(), *sites = json_array();

	json_set_number(object, "calls", total.calls);
	json_set_number(object, "bytes", total.bytes);
	json_set_number(object, "back_calls", total.back_calls);
	json_set_number(object, "back", total.back);
	json_set_number(object, "back_before", total.back_before);
	json_set_number(object, "replaced", total.replaced);
	json_set_number(object, "failed", total.failed);
	if (kind == GROWTH_FAULTS) {
		json_set_number(object, "again", total.again);
		set_source(object, growth);
	}
	for (size_t i = 1; i <= growth_site_count(growth); i++)
		if (growth_site(growth, i)->kind == kind)
			json_array_append_new(
				sites,
				site_object(export, growth_site(growth, i)));
	json_object_set_new(object, "sites", sites);
	return object;
}

static json_t *view_object(const struct growth_view *view)
{
	json_t *object = json_object(), *unseen = json_array();

	json_set_number(object, "virtual", view->virtual_bytes);
	json_set_number(object, "resident", view->vitals.resident_bytes);
	json_set_number(object, "vanished", view->vanished);
	for (size_t i = 0; i < view->count; i++) {
		json_t *one = json_object();

		json_set_text(one, "name", view->unseen[i].name);
		json_set_number(one, "bytes", view->unseen[i].bytes);
		json_array_append_new(unseen, one);
	}
	json_object_set_new(object, "unseen", unseen);
	return object;
}

void growth_json_set(json_t *root, const struct heap_export *export)
{
	const struct growth *growth = export->process->growth;
	const struct growth_view *first, *last;
	json_t *object;

	if (!growth)
		return;
	object = json_object();
	first = growth_first_view(growth);
	last = growth_last_view(growth);
	for (enum growth_kind kind = 0; kind < GROWTH_KINDS; kind++)
		if (growth_has(growth, kind))
			json_object_set_new(object,
					    growth_kind_text(export, kind).word,
					    kind_object(export, kind));
	json_set_text(object, "seen_at",
		      export->config->options->growth_by ==
				      GROWTH_BY_SYSTEM_CALLS ?
			      "system calls" :
			      "functions");
	json_set_number(object, "lost", growth_lost(growth));
	if (first && last) {
		json_object_set_new(object, "first", view_object(first));
		json_object_set_new(object, "last", view_object(last));
	}
	json_object_set_new(root, "grown", object);
}
