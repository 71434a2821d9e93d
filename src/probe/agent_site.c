/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "agent/callable.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "probe/agent_private.h"
#include "sysdeps/linux/procfs.h"

/*
 * -e and -l: calls through the slot of one module. Its stub has a trap until
 * the slot leads to the agent, and none from then on. So that each call is told
 * of once, whoever has hit the trap is sent on to where the slot leads: to the
 * hook, which tells of the call, or to the function (or the dynamic linker,
 * which is to look for it), when the trap has told of it. The slot isn't read
 * again in either case.
 */

bool agent_is_site(const struct agent_point *own)
{
	const struct point *point = own->point;

	return point->function &&
	       point->function->place == FUNCTION_CALL_SITE &&
	       !point->shared_slot && !point->at_jump &&
	       (!point->caller || point->stub_slot);
}

bool agent_is_stub(const struct agent_point *own)
{
	return own->point->shared_slot;
}

bool agent_is_catching(const struct agent_point *own)
{
	const struct agent *agent = &own->space->agent;

	return agent->state == AGENT_INSIDE && !agent->retired;
}

static taddr_t slot_of(const struct agent_point *own)
{
	return own->point->stub_slot ?: own->point->slot;
}

bool agent_point_slot(const struct agent_point *own, taddr_t *ret)
{
	return agent_read_slot(&own->space->agent, slot_of(own), ret);
}

unsigned agent_first_stub(const struct agent_point *own)
{
	return (unsigned)(own->filter >= 0 ? own->filter : own->stub);
}

/* Of all calls of a function (-x). */
static bool is_entry(const struct agent_point *own)
{
	return own->point->function && !own->point->walks &&
	       !agent_is_site(own) && !agent_is_stub(own) &&
	       !agent_is_jump(own) && !agent_is_callers(own);
}

/* Where its slot is to lead. */
static taddr_t hook_of(const struct agent_point *own)
{
	return agent_hook_of(&own->space->agent, agent_first_stub(own));
}

bool agent_leads_to_hook(const struct agent_point *own, taddr_t value)
{
	return own->stub >= 0 && value == hook_of(own);
}

/* What its slot leads to: a hook that tells of all calls stands for the function. */
static bool read_target(const struct agent_point *own, taddr_t *ret)
{
	const struct agent *agent = &own->space->agent;
	const struct agent_point *other;

	if (!agent_point_slot(own, ret))
		return false;
	if (agent_leads_to_hook(own, *ret) || !agent_has_code(agent, *ret))
		return true;
	for (other = own->space->points; other; other = other->next)
		if (other->stub >= 0 && is_entry(other) &&
		    agent_hook_of(agent, (unsigned)other->stub) == *ret) {
			*ret = other->point->address;
			break;
		}
	return true;
}

static bool hook(const struct agent_point *own)
{
	return agent_hook_slot(&own->space->agent, slot_of(own),
			       agent_first_stub(own));
}

/* Before it is bound, a slot leads back into its own module, but to no function that
   has a trap. */
static struct module *definer_of(const struct agent_point *own, taddr_t value)
{
	struct space *space = own->space->space->space;
	struct module *definer = module_find(space, value);

	return definer && (trap_find(space, value) ||
			   !module_holds(definer, own->point->address)) ?
		       definer :
		       NULL;
}

void agent_send_to(struct task *task, taddr_t address)
{
	task->tracee->space->arch->set_ip(&task->regs, address);
	task->ip_changed = true;
}

/* ---- catching ---- */

static bool is_in_vdso(const struct agent_point *own, taddr_t address)
{
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) =
		xmalloc(sizeof(*mapping));

	return procfs_find_mapping(own->space->pid, address, mapping) &&
	       !strcmp(mapping->path, "[vdso]");
}

/* What gettimeofday() and the like lead to is the kernel's, under their names. */
static const char *library_at(const struct agent_point *own, taddr_t value)
{
	const struct module *definer = definer_of(own, value);

	if (definer)
		return definer->name;
	return !module_find(own->space->space->space, value) &&
			       is_in_vdso(own, value) ?
		       CALLABLE_LINKED_IN :
		       NULL;
}

/* How a function is entered where a trap stands on it. */
struct entering {
	const struct insn *insn; /* the one below it; NULL: there is no trap */
	taddr_t leads_to; /* the hook that tells of all its calls (-x); or 0 */
};

/* The one that the trap is there for alone, if that is to tell of all calls. */
static const struct agent_point *entry_at(const struct trap *trap)
{
	const struct trap_owner *owner = trap ? trap->owners : NULL;
	const struct agent_point *own = (const struct agent_point *)owner;

	return owner && owner->ops == &agent_owner_ops && !owner->next &&
			       is_entry(own) ?
		       own :
		       NULL;
}

/*
 * Nothing stands on the function, and it is entered as it is; or a trap for the calls
 * of modules without stubs alone (libc.so.6 has slots for its own malloc and free), and
 * it is entered behind that; or one for all its calls, which a hook tells of as well.
 */
static bool may_enter(const struct agent_point *own, taddr_t value,
		      struct entering *ret)
{
	const struct trap *trap = trap_find(own->space->space->space, value);
	const struct agent_point *entry = entry_at(trap);

	*ret = (struct entering){ trap ? &trap->insn : NULL, 0 };
	if (entry && entry->stub >= 0)
		ret->leads_to = agent_hook_of(&own->space->agent,
					      (unsigned)entry->stub);
	return !trap || ret->leads_to ||
	       (trap->planted && trap->owners && !trap->patch &&
		agent_callers_are_alone(trap));
}

static bool may_catch(struct agent_point *own, taddr_t value,
		      struct entering *entering_ret)
{
	const char *library;

	if (own->given_up || !may_enter(own, value, entering_ret))
		return false;
	library = library_at(own, value);
	if (!library)
		return false;
	agent_choose_way(own->space->engine, own, library);
	return !own->replaced ||
	       !agent_why_not_replaceable(own->space->engine,
					  own->point->function, library);
}

bool agent_stub_target(struct agent_point *own, taddr_t *ret)
{
	struct entering entering;

	if (!agent_read_slot(&own->space->agent, own->point->shared_slot,
			     ret) ||
	    !may_catch(own, *ret, &entering)) {
		*ret = 0;
		return false;
	}
	if (entering.leads_to)
		*ret = entering.leads_to;
	return !entering.insn || entering.leads_to ||
	       agent_callers_way_past(own->space, *ret, ret);
}

/*
 * The slot of a stub that stands for the function leads there first. (Filter and stub
 * come one after the other, so that what an earlier calltrap has left fits again.)
 */
static bool add_filter(struct agent_point *own, int stub)
{
	struct agent *agent = &own->space->agent;
	const struct module *caller = own->point->caller;
	const struct stub_config config = {
		.function = agent->stubs[stub].function,
		.way = STUB_FILTERS,
		.callers = { caller->low, caller->high - caller->low },
		.hook = agent_hook_of(agent, (unsigned)stub),
	};

	own->filter =
		agent_make_stub(agent, &config, &own->space->engine->ticks);
	return own->filter >= 0;
}

static void catch_site(struct agent_point *own, taddr_t value)
{
	struct agent *agent = &own->space->agent;
	struct entering entering;
	struct stub_config config;
	int stub;

	if (!may_catch(own, value, &entering))
		return;
	if (own->replaced || own->tallied) {
		own->reason = agent_why_not_now(own);
		own->given_up = own->reason;
		if (own->reason)
			return;
	}
	if (own->replaced && !agent_may_replace(own)) {
		own->given_up = own->reason && !agent_tally_instead(own);
		return;
	}
	own->given_up = true;
	if (own->binds == 1)
		own->binds_until = 0; /* the one has done it */
	if (agent_point_config(own, value, entering.insn, &config))
		return;
	config.leads_to = entering.leads_to;
	stub = agent_make_stub(agent, &config, &own->space->engine->ticks);
	diag_debug(DIAG_PROBE, "agent: %s of %s: %d",
		   own->point->function->name, own->point->function->caller,
		   stub);
	if (stub < 0)
		return;
	own->has_door = config.has_door &&
			!agent_open_door(agent, (unsigned)stub, &own->door);
	if ((config.has_door && !own->has_door) ||
	    (own->point->stub_slot && !add_filter(own, stub))) {
		if (own->has_door)
			agent_shut_door(agent, (unsigned)stub, &own->door);
		own->has_door = false;
		agent_release(agent, (unsigned)stub);
		return;
	}
	own->given_up = false;
	own->stub = stub;
	own->target = value;
	agent_tally_begin(own);
}

bool agent_site_pass(struct agent_point *own, struct task *task)
{
	taddr_t value;

	if (!agent_is_catching(own) || !read_target(own, &value))
		return false;
	if (own->stub < 0)
		catch_site(own, value);
	if (own->stub < 0 || (!agent_leads_to_hook(own, value) &&
			      (value != own->target || !hook(own))))
		return false;
	agent_send_to(task, hook_of(own));
	return true;
}

/*
 * mold's stubs tell the dynamic linker in r11 which slot it is to fill in:
 * endbr64; mov $index, %r11d; jmp *slot(%rip).
 */
static void tell_linker(const struct agent_point *own, struct task *task)
{
	static const uint8_t begin[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb };
	struct space *space = task->tracee->space;
	uint8_t code[sizeof(begin) + sizeof(uint32_t)];
	uint32_t index;

	if (procmem_read_code(&space->memory, own->point->address, code,
			      sizeof(code)) != sizeof(code))
		return;
	trap_hide(space, own->point->address, code, sizeof(code));
	if (memcmp(code, begin, sizeof(begin)) != 0)
		return;
	memcpy(&index, code + sizeof(begin), sizeof(index));
	task->regs.user.r11 = index;
	task->regs_changed = true;
}

/*
 * Calls that the trap has told of are seen to end, see may_be_bound(). Those of other
 * modules, by a stub that stands for the function, aren't: they may be in the dynamic
 * linker for so long, and in a resolver (IFUNC) that it runs.
 */
#define BINDS_FOR (5 * NS_PER_SECOND)

static bool is_anothers(const struct agent_point *own, const struct task *task)
{
	struct space *space = task->tracee->space;
	uint64_t return_address;

	return memory_read_word(&space->memory.memory,
				space->arch->sp(&task->regs),
				space->arch->word_size, &return_address) ||
	       !module_holds(own->point->caller, return_address);
}

/* Before it is bound, the slot leads back to the stub. */
static void note_binding(struct agent_point *own, const struct task *task,
			 taddr_t value)
{
	if (!own->point->stub_slot || !module_holds(own->point->caller, value))
		return;
	own->binds++;
	if (is_anothers(own, task))
		own->binds_until = clock_now() + BINDS_FOR;
}

void agent_site_told(struct agent_point *own, struct task *task)
{
	taddr_t value;

	if (!own->given_up && own->space->agent.state != AGENT_REFUSED &&
	    agent_point_slot(own, &value) &&
	    (value == own->target || module_find(task->tracee->space, value))) {
		if (value != own->target) {
			tell_linker(own, task);
			note_binding(own, task, value);
		}
		agent_send_to(task, value);
	}
}

/* ---- its trap ---- */

void agent_site_lift(struct agent_point *own)
{
	struct point *point = own->point;

	trap_unplant(point->space->space, point->address, &own->owner);
	own->lifted = true;
}

/*
 * Calls that the trap has told of may have found the slot unbound: the dynamic
 * linker is about to write to it.
 */
static bool may_be_bound(const struct agent_point *own)
{
	struct activation *activation, *next;

	if (own->point->stub_slot && clock_now() < own->binds_until)
		return true;
	HASH_ITER(hh, own->space->space->activations, activation, next)
		if (activation->call.function == own->point->function)
			return true;
	return false;
}

/* A call from before we came may be binding it still. */
void agent_site_look(struct agent_point *own, bool lifted_too)
{
	taddr_t value;

	if (!agent_is_catching(own) || own->stub < 0 ||
	    (own->lifted && !lifted_too) || !read_target(own, &value))
		return;
	if (value == own->target)
		(void)hook(own);
	else if (!own->lifted && agent_leads_to_hook(own, value) &&
		 !may_be_bound(own))
		agent_site_lift(own);
}

void agent_site_retire(struct agent_point *own)
{
	struct point *point = own->point;

	own->given_up = true;
	if (own->lifted &&
	    !trap_plant(point->space->space, point->address, &own->owner))
		own->lifted = false;
}
