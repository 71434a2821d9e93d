/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/doctor.h"

#include <string.h>

#include "doctor/check.h"
#include "doctor/gather.h"
#include "report/format/json_put.h"
#include "report/format/json_writer.h"

struct consultation {
	struct machine_facts machine;
	bool works;
	bool as_json;
	json_t *processes;
	struct strbuf *out;
};

static json_t *process_json(const struct process_facts *facts,
			    const struct findings *findings, bool works)
{
	json_t *object = json_object();

	json_set_number(object, "pid", (uint64_t)facts->pid);
	json_object_set_new(object, "name",
			    json_text(facts->name, strlen(facts->name)));
	json_object_set_new(object, "works", json_boolean(works));
	json_object_set_new(object, "checks", findings_json(findings));
	return object;
}

static void see_process(struct consultation *c, pid_t pid, bool machine_works)
{
	struct findings findings = { 0 };
	struct process_facts facts;
	bool works;

	process_facts_gather(pid, &facts);
	check_process(&c->machine, &facts, &findings);
	works = machine_works && findings_allow_tracing(&findings);
	c->works = c->works && works;
	if (c->as_json)
		json_array_append_new(c->processes,
				      process_json(&facts, &findings, works));
	else
		findings_text(&findings, c->out);
	findings_fini(&findings);
	process_facts_fini(&facts);
}

static void put_json(const struct consultation *c,
		     const struct findings *findings)
{
	json_t *root = json_object();

	json_object_set_new(root, "works", json_boolean(c->works));
	json_object_set_new(root, "machine", findings_json(findings));
	json_object_set(root, "processes", c->processes);
	json_put(root, JSON_INDENT(1), c->out);
	json_decref(root);
}

bool doctor(const pid_t *pids, size_t count, bool as_json, struct strbuf *out)
{
	struct consultation c = { .as_json = as_json,
				  .processes = json_array(),
				  .out = out };
	struct findings findings = { 0 };
	bool machine_works;

	machine_facts_gather(&c.machine);
	check_machine(&c.machine, &findings);
	c.works = machine_works = findings_allow_tracing(&findings);
	if (!as_json)
		findings_text(&findings, out);
	for (size_t i = 0; i < count; i++)
		see_process(&c, pids[i], machine_works);
	if (as_json)
		put_json(&c, &findings);
	findings_fini(&findings);
	json_decref(c.processes);
	return c.works;
}
