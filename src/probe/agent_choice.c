/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "agent/callable.h"
#include "agent/capture.h"
#include "probe/agent_private.h"
#include "prototype/plain.h"

/* Which functions are caught in the process, and what their stubs are told. */

static unsigned failure_of(const struct plain_prototype *plain)
{
	const unsigned wide = plain->wide ? AGENT_WIDE : 0;

	switch (plain->failure) {
	case FAILURE_ERRNO:
		return wide | (plain->pointer ? AGENT_FAILS_POINTER :
						AGENT_FAILS_MINUS_ONE);
	case FAILURE_ERRNUM:
	case FAILURE_NONZERO:
		return wide | AGENT_FAILS_NONZERO;
	case FAILURE_ZERO:
		return wide | AGENT_FAILS_ZERO;
	case FAILURE_NEGATIVE:
		return wide | AGENT_FAILS_NEGATIVE;
	case FAILURE_KERNEL:
	case FAILURE_UNKNOWN:
		break;
	}
	return AGENT_FAILS_NEVER;
}

static unsigned floats_of(const struct plain_prototype *plain)
{
	return plain->floats << AGENT_FLOATS_SHIFT |
	       (plain->is_float ? AGENT_FLOAT_RESULT : 0);
}

/* Whose acts are numbers, and that do nothing else. */
static bool can_be_watched(const struct agent_engine *engine,
			   const struct function *function)
{
	return function->group && function->subject && !function->within_too &&
	       !function->apart && watchable_by_agent(function->name) &&
	       (function->sampled.act || !(engine->mode & AGENT_SAMPLES));
}

/* What is to be caught is no function, or not all of it. */
static const char *why_no_function(const struct agent_engine *engine,
				   const struct point *point)
{
	const struct function *function = point->function;
	const bool watches = engine->mode & AGENT_WATCHES;

	if (!function ||
	    (function->place != FUNCTION_ENTRY &&
	     function->place != FUNCTION_CALL_SITE) ||
	    (function->entry_only && !watches))
		return "no whole function";
	if (point->caller && !point->slot_is_called && !point->stub_slot)
		return "calls of one library, not by a slot of its own";
	if (function->place == FUNCTION_CALL_SITE && !point->slot &&
	    !point->shared_slot && !point->stub_slot)
		return "no slot for calls alone";
	return function->group && !watches ? "heap" : NULL;
}

const char *agent_library_of(const struct point *point)
{
	const struct module *module =
		module_find(point->space->space, point->address);

	return module && function_is_linked_in(module) ?
		       CALLABLE_LINKED_IN :
		       point->function->library;
}

/* In a log what it may not have read is looked at before the call, which is told of
   twice then. */
static bool is_callable(const struct agent_engine *engine, const char *function,
			const char *library)
{
	return callable_by_agent(function, library) &&
	       !(engine->mode & AGENT_RECORDS && may_not_read(function));
}

static bool point_is_callable(const struct agent_engine *engine,
			      const struct point *point)
{
	return is_callable(engine, point->function->name,
			   agent_library_of(point));
}

/* What memory its records hold: texts, or what it fills. Nothing of other libraries'
   functions that have these names. */
static void plan_captures(const struct point *point, bool callable,
			  uint8_t ret[AGENT_CAPTURES], unsigned *texts_ret,
			  unsigned *filled_ret)
{
	const char *name = point->function->name;

	memset(ret, 0, AGENT_CAPTURES);
	*texts_ret = callable ? capture_plan(name, ret) : 0;
	*filled_ret = !callable && is_c_library(agent_library_of(point)) ?
			      fill_plan(name, ret) :
			      0;
}

/* How much of a text is looked at before the call. */
static uint8_t capture_of(const struct plain_text *text)
{
	const unsigned way = AGENT_CAPTURE_USED | AGENT_CAPTURE_ALL |
			     text->argument;

	if (text->ends)
		return (uint8_t)(way | AGENT_CAPTURE_TEXT);
	if (text->length == 2)
		return (uint8_t)(way | AGENT_CAPTURE_BY_2);
	return (uint8_t)(text->length == 3 ? way | AGENT_CAPTURE_BY_3 : way);
}

/* Of the C library's functions whose texts aren't all that there is to see. */
static bool plan_known_looks(const struct point *point,
			     uint8_t ret[AGENT_CAPTURES])
{
	const struct prototype *prototype = point->function->prototype;
	unsigned which;

	if (!prototype || !is_c_library(agent_library_of(point)))
		return false;
	which = look_plan(point->function->name, ret);
	return which && prototype_is_plain(prototype, which, which);
}

/*
 * Texts that the function is called with, of which nobody knows that it reads them:
 * the agent looks at them before, where it knows that they can be read.
 */
static bool plan_looks(const struct agent_engine *engine,
		       const struct point *point, uint8_t ret[AGENT_CAPTURES])
{
	const struct prototype *prototype = point->function->prototype;
	struct plain_text texts[AGENT_CAPTURES];
	unsigned i, count;

	memset(ret, 0, AGENT_CAPTURES);
	if (!(engine->mode & AGENT_RECORDS) ||
	    engine->string_bytes >= AGENT_CAPTURE_MOST)
		return false;
	if (plan_known_looks(point, ret))
		return true;
	memset(ret, 0, AGENT_CAPTURES);
	count = prototype_texts(prototype, texts, AGENT_CAPTURES);
	for (i = 0; i < count; i++) {
		if (texts[i].argument >= AGENT_ARGUMENTS)
			return false;
		ret[i] = capture_of(&texts[i]);
	}
	return count;
}

/* So much of a text has its place behind what else is in its struct (dirent). */
#define MOST_IN_STRUCT (AGENT_CAPTURE_MOST - 32)

_Static_assert(PLAIN_WHOLE_RESULT == CAPTURE_WHOLE_RESULT &&
		       PLAIN_RESULT == 1u << AGENT_CAPTURE_RESULT,
	       "plans say it as prototypes ask for it");

/* What a record doesn't hold can't be shown. */
static bool can_be_recorded(const struct agent_engine *engine,
			    const struct point *point, bool callable)
{
	uint8_t captures[AGENT_CAPTURES];
	unsigned texts, filled;

	if (!callable && plan_looks(engine, point, captures))
		return true;
	plan_captures(point, callable, captures, &texts, &filled);
	texts |= filled & (PLAIN_RESULT | PLAIN_WHOLE_RESULT);
	if (engine->string_bytes >= MOST_IN_STRUCT)
		texts &= ~PLAIN_WHOLE_RESULT;
	if (engine->string_bytes >= AGENT_CAPTURE_MOST)
		texts = filled = 0;
	if (engine->array_elements >= FILL_ELEMENTS)
		filled = 0;
	return prototype_is_plain(point->function->prototype, texts, filled);
}

/* Who walks over stacks is to find there what he would without us. */
static const char *why_no_walk(const struct point *point)
{
	return point->space->space->arch == &arch_x86_64 ? NULL : "32 bits";
}

const char *agent_why_not_timed(const struct agent_engine *engine,
				const struct point *point, const char *library)
{
	const struct function *function = point->function;
	struct plain_prototype plain;

	if (!prototype_plain_result(function->prototype, &plain))
		return "result is no number";
	return is_callable(engine, function->name, library) ?
		       NULL :
		       agent_why_not_replaceable(engine, function, library);
}

void agent_choose_way(const struct agent_engine *engine,
		      struct agent_point *own, const char *library)
{
	own->tallied = agent_may_tally(engine, own->point) &&
		       (own->irreplaceable ||
			agent_why_not_timed(engine, own->point, library));
	own->replaced =
		!own->tallied && !(engine->mode & AGENT_WATCHES) &&
		!is_callable(engine, own->point->function->name, library);
}

/* In a log or a table. Of what is replaced arguments aren't kept for the latter. */
static const char *why_not_noted(const struct agent_engine *engine,
				 const struct point *point)
{
	const struct function *function = point->function;
	const bool callable = point_is_callable(engine, point);
	const char *reason =
		agent_why_not_timed(engine, point, agent_library_of(point));
	struct plain_prototype plain;

	if (reason && agent_may_tally(engine, point))
		return NULL;
	if (reason || (!callable && engine->mode & AGENT_COUNTS))
		return reason;
	(void)prototype_plain_result(function->prototype, &plain);
	if (plain.arguments > AGENT_ARGUMENTS || plain.floats > AGENT_FLOATS)
		return "too many arguments";
	return engine->mode & AGENT_RECORDS &&
			       !can_be_recorded(engine, point, callable) ?
		       "arguments that lie in memory" :
		       NULL;
}

/* Maybe on a stack that is moved meanwhile, where nothing may be replaced. */
static bool is_called_by_go(const struct agent_engine *engine,
			    const struct point *point)
{
	return point->space->is_go && !point_is_callable(engine, point);
}

/* Why it isn't caught in the process; NULL: it may be. */
const char *agent_why_not(const struct agent_engine *engine,
			  const struct point *point)
{
	const struct function *function = point->function;
	const struct probe_space *space = point->space;
	const char *reason = why_no_function(engine, point);

	if (point->walks)
		return why_no_walk(point);
	if (reason)
		return reason;
	if (space->space->arch != &arch_x86_64)
		return "32 bits";
	if (engine->mode & AGENT_WATCHES && !can_be_watched(engine, function))
		return "of other kinds";
	if (is_called_by_go(engine, point))
		return "Go";
	return engine->mode & AGENT_WATCHES ? NULL :
					      why_not_noted(engine, point);
}

static unsigned ends_when_watched(const struct function *function)
{
	if (replaced_by_agent(function->name))
		return AGENT_REPLACES;
	if (function->entry_only)
		return AGENT_ENTRY_ONLY;
	return !strcmp(function->name, "posix_memalign") ? AGENT_STORES : 0;
}

/* Where some are chosen, whatever lies within another call is passed over. */
static unsigned failure_when_watched(const struct agent_engine *engine,
				     const struct function *function)
{
	const unsigned group = engine->mode & AGENT_SAMPLES ? 0 :
							      function->group;

	return ends_when_watched(function) | agent_sampled_act(function) |
	       group << AGENT_GROUP_SHIFT;
}

/* What nobody asks for needn't be written, nor read. */
static unsigned arguments_when_watched(const struct function *function)
{
	return function->whole == WHOLE_NOT ? AGENT_WATCHED_ARGUMENTS :
					      function->whole_arguments;
}

static enum stub_way way_when_watched(const struct agent_engine *engine,
				      const struct function *function)
{
	if (!(engine->mode & AGENT_SAMPLES))
		return STUB_WATCHES;
	return function->sampled.act == SAMPLED_RELEASE ? STUB_RELEASES :
							  STUB_SAMPLES;
}

int agent_point_config(const struct agent_point *own, taddr_t address,
		       const struct insn *insn, struct stub_config *ret)
{
	const struct function *function = own->point->function;
	struct plain_prototype plain;
	unsigned texts, filled;

	*ret = (struct stub_config){
		.function = address,
		.insn = insn,
		.has_door = agent_is_site(own) && agent_wants_door(own),
	};
	if (own->point->walks) {
		ret->failure = AGENT_WALKS;
		ret->way = STUB_WALKS;
		return 0;
	}
	if (own->space->engine->mode & AGENT_WATCHES) {
		ret->arguments = arguments_when_watched(function);
		ret->failure =
			failure_when_watched(own->space->engine, function);
		ret->way = way_when_watched(own->space->engine, function);
		return 0;
	}
	if (own->tallied) {
		ret->way = STUB_TALLIES;
		return 0;
	}
	if (!prototype_plain_result(function->prototype, &plain))
		return -EINVAL;
	ret->failure = failure_of(&plain) |
		       (own->replaced ? AGENT_REPLACES : 0);
	if (!own->replaced || agent_tells_ends(own)) {
		ret->arguments = plain.arguments;
		ret->failure |= floats_of(&plain);
	}
	if (own->space->agent.mode & AGENT_STACKS)
		ret->way = STUB_WATCHES;
	else if (own->space->agent.mode & AGENT_RECORDS)
		ret->way = STUB_RECORDS;
	/* What a site's slot leads to is known by now. */
	if (own->space->agent.mode & AGENT_RECORDS &&
	    !can_be_recorded(own->space->engine, own->point, !own->replaced))
		return -ENOTSUP;
	if (own->replaced &&
	    plan_looks(own->space->engine, own->point, ret->captures))
		ret->failure |= AGENT_LOOKS_FIRST;
	else if (own->space->agent.mode & AGENT_RECORDS)
		plan_captures(own->point, !own->replaced, ret->captures, &texts,
			      &filled);
	return 0;
}
