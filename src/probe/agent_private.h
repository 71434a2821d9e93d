/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROBE_AGENT_PRIVATE_H
#define CALLTRAP_PROBE_AGENT_PRIVATE_H

#include "agent/agent.h"
#include "probe/agent_engine.h"
#include "probe/private.h"

/* What the files of the engine share. */

/* Calls of a function that are told of by traps, where the others are but counted. */
struct tallying {
	unsigned rate;   /* one of so many, as a power of two */
	uint64_t told;   /* so many were */
	uint64_t looked; /* there were so many others at the last look, … */
	uint64_t recent; /* … so many of them since the one before */
};

/* … and what that may cost, of all functions of a space. */
struct tally_budget {
	uint64_t cost;   /* of one, in nanoseconds */
	uint64_t saved;  /* so much of them wasn't used … */
	uint64_t since;  /* … by then */
	uint64_t looked; /* at how often each is called, when */
};

/*
 * A point that is caught: by its trap, and by slots once .stub is set. That of
 * a call site is caught by one or the other.
 */
struct agent_point {
	struct trap_owner owner;
	struct trap_owner door; /* of the trap in its trampoline, or stub */
	struct point *point;
	struct agent_space *space;
	taddr_t target;       /* of a call site: where its slot led */
	bool lifted;          /* … its trap is gone */
	unsigned binds;       /* … so many calls found it unbound … */
	uint64_t binds_until; /* … and others may be binding it (monotonic) */
	bool called;          /* its trap has been hit */
	bool replaced;        /* a stub is to replace return addresses */
	bool tallied;         /* … or to count calls when they begin, … */
	bool irreplaceable; /* … as nothing may be replaced in its process */
	struct tallying tally; /* … of which some are told of */
	int stub;              /* -1: none yet */
	int filter;            /* the stub before it, of one module; or -1 */
	uint64_t hits;         /* of its trap, since there is a stub */
	uint64_t hits_looked;  /* … when slots were looked for last */
	uint64_t patch_at;     /* so many hits: a jump is tried; … */
	uint64_t retry_at;     /* … who walks over stacks: not before, … */
	unsigned doublings;    /* … and ever later */
	bool has_door;         /* in its stub */
	bool patched;          /* its first bytes are a jump to the agent … */
	bool refused;          /* … and never will be */
	bool given_up;         /* there will be none */
	bool told;             /* its counter has been */
	bool noted;            /* in the report, or among the refusals */
	const char *reason;    /* why it isn't caught in the process; or NULL */
	struct agent_point *next;
};

/*
 * What the agent remembers, by where: a walk and the one before, as a handler may
 * come between that one's being found and told of.
 */
struct known_walk {
	uint64_t name[2]; /* agent_walk_name(); 0: none */
	struct unwind_seen seen[2];
};

/* Where what is read of a space goes. */
struct agent_reading {
	struct agent_space *space;
	struct agent_point *points[AGENT_STUBS]; /* by stub */
};

/* What was read of a ring and hasn't been told, in the order of time. */
struct watched_list {
	struct watched_call *calls;
	size_t next; /* those before it are told */
	size_t count, room;
	struct watched_call *spare; /* to put them in order with */
	size_t spare_room;
	size_t most;      /* that there were at a time, … */
	uint64_t trimmed; /* … since then */
	struct agent_space *space;
	unsigned block; /* whose ring it is */
	bool more;      /* and that holds what is to be told by now */
};

/* A thread that runs: what it had used when it was seen first, when that was looked at
   anew, and last. */
struct agent_runner {
	pid_t tid;
	struct procfs_times first, times, last;
	uint64_t waits, stops;
	bool seldom; /* is it in system calls, by its times */
	bool sleeps; /* it was seen to, and not for a lock */
	bool unfit;  /* it can't be sent */
};

#define AGENT_RUNNERS 32

/* How the agent gets in before there are traps, see agent_begin.c. */
struct agent_beginning {
	uint64_t since;  /* 0: it hasn't been tried */
	uint64_t met;    /* when it was tried last, … */
	uint64_t passed; /* … and how much of the time until then counts */
	uint64_t looked; /* at threads, when */
	/* By what had passed: one of them might be had; one waited for a processor. */
	uint64_t hope, queued;
	size_t place; /* of the next to be looked at */
	struct agent_runner runners[AGENT_RUNNERS];
	size_t runner_count;
	bool blocked;            /* a thread blocks SIGTRAP, … */
	bool any_new;            /* … or does so as it has only begun */
	bool locks;              /* a thread was seen to wait for one */
	unsigned asked, refused; /* threads: to stop; as they stood there */
	bool over;
};

/* Of a block: what waits for a call that it is within, see agent_nests.c. */
struct agent_nest {
	uint64_t last;   /* ticks: when the call began that was recorded last */
	uint64_t latest; /* … of all that is known of its thread */
	uint64_t since;  /* ns: the first of them */
	size_t held;
};

/* A module in whose code rules are missed. */
struct agent_wish {
	taddr_t low, high;
	size_t missed;
	bool over; /* it has all, or never will */
	bool kept; /* all have been made for another process */
};

struct agent_space {
	struct agent_engine *engine;
	struct probe_space *space;
	pid_t pid;
	struct agent agent;
	struct agent_beginning beginning;
	struct agent_point *points;
	uint64_t looked;        /* for slots, when; … */
	uint64_t looked_lifted; /* … at those of sites that are caught */
	uint64_t lost;          /* that it was told of as missed */
	uint64_t untold;       /* were read, but can't be told whose they are */
	uint64_t rows_cleared; /* to make room, when */
	uint64_t rows_wait;    /* until that may be done again, ns */
	uint64_t strays;       /* hits on a stack that the agent doesn't know */
	uint64_t others_missed; /* … off what it knows of goroutines' */
	uint64_t looks,
		looked_up; /* mappings asked for texts: how often; when last */
	/* Whether some module throws exceptions by code that isn't found. */
	bool hides_walkers, knows_walkers;
	bool cuts_stacks; /* … or takes pieces of stacks away */
	bool replaces;    /* a function was called whose return is to be
			      replaced */
	bool tallies;     /* … or that is but counted when it begins */
	struct tally_budget budget;
	bool marks;        /* what was kept by then is marked */
	uint64_t unmarked; /* … and for this there was no place */
	struct known_walk
		*walks[SHARED_BLOCKS]; /* AGENT_KEPT_WALKS each, or NULL */
	struct agent_wish wishes[AGENT_TABLES];
	unsigned wish_count;
	struct unwind_tabler
		*tabler; /* all rules of a module are being made; … */
	struct agent_wish making; /* … of that one */
	struct agent_reading reading;
	struct agent_nest nests[SHARED_BLOCKS];
	struct watched_list lists[SHARED_BLOCKS];
	bool takes_wholes; /* who is told of its calls; … */
	bool may_lag;      /* … and needn't know when each was made */
	struct agent_space *next;
};

/* Pieces of memory that need none of their own: most strings are short. */
#define RECORDED_FEW 6

/* Whole calls; or, where a return address is replaced, as others may be told of
   in between, one end of them. */
enum recorded_kind { RECORDED_CALL, RECORDED_ENTRY, RECORDED_RETURN };

/*
 * A record that is still to be told of. Small: there are many at once. One end of
 * a call has begun and ended then.
 */
struct recorded {
	struct agent_point *point;
	enum recorded_kind kind;
	bool tail_call; /* ENTRY: its caller will return with it */
	pid_t tid;
	bool live; /* ENTRY: the call runs, and its memory is the process's */
	unsigned block;
	uint64_t due; /* ticks: it may be told by then; or RECORDED_HELD */
	stack_id stack;
	uint64_t order; /* in which they were read: what has one time has that */
	struct agent_record record; /* its pieces: NULL where they are few */
	uint64_t few[RECORDED_FEW];
};

/* Until that is known within which it is, see agent_nests.c. */
#define RECORDED_HELD UINT64_MAX

/* Places of records, and room to merge them in. */
struct recorded_order {
	struct recorded **lists[2];
	size_t room; /* of each */
};

/* A call that has begun, and isn't recorded yet: its stack, or that it is told of. */
struct entered {
	const struct agent_space *space;
	pid_t tid;
	uint64_t began; /* ticks */
	taddr_t slot;
	stack_id stack;
	bool told; /* of: its record is its return */
};

/* In the order in which they were read. */
struct entered_list {
	struct entered *list;
	size_t count, room;
};

/* Allocators' functions have no more. */
#define AGENT_WATCHED_ARGUMENTS 3

/* The entry or the return of a watched call that is still to be told of. */
struct watched_call {
	struct agent_point *point;
	enum agent_watch_kind kind;
	pid_t tid;
	uint64_t time; /* ticks: of what it does, if it is .whole */
	uint64_t began, ended;
	taddr_t slot, return_address;
	uint64_t result;
	taddr_t stored_at; /* 0: nothing was looked at there */
	uint64_t stored;
	uint64_t arguments[AGENT_WATCHED_ARGUMENTS];
	stack_id stack;
	struct call_chosen chosen;
	bool tail_call;
	bool whole; /* an entry that has its return in it, see agent_wholes.c */
};

/* How often rings are read. */
struct agent_pace {
	uint64_t read;  /* when, the last time */
	uint64_t pause; /* since then */
};

/* Modes in which stacks are walked over in the process. */
#define AGENT_WITH_ROWS (AGENT_WATCHES | AGENT_STACKS)

/* Rules of modules, finished: children that are forked have the same. */
#define AGENT_KEPT_TABLERS      32
#define AGENT_KEPT_TABLER_BYTES (16u << 20)

struct agent_kept_tabler {
	struct unwind_tabler *tabler; /* or NULL */
	size_t bytes;
};

struct agent_engine {
	struct engine engine;
	struct event_source source;
	uint64_t mode; /* AGENT_COUNTS | … */
	unsigned string_bytes, array_elements;
	bool without_pointed_to, without_stacks;
	bool holds; /* threads that wait, while it tells */
	bool replaces_all;
	struct ticks ticks;
	uint64_t look; /* ticks_of_look() */
	struct agent_space *spaces;
	struct recorded *recorded;
	size_t recorded_count;
	size_t recorded_room;
	struct recorded_order order;
	uint64_t recorded_ever;
	uint64_t records_read;  /* ns: all of before that */
	uint64_t records_first; /* in ticks: what is kept ended then, or later */
	struct entered_list entered;
	struct agent_kept_tabler kept_tablers[AGENT_KEPT_TABLERS];
	unsigned next_kept; /* the oldest one, or a place */
	uint64_t latest;    /* of a few moments ago: no record ends after now */
	struct watched_list **lists; /* those that are being told, … */
	size_t list_count, list_room;
	uint64_t reading; /* … which began then */
	/* Stands for all returns of watched calls, and where return addresses
	   are replaced. */
	struct return_watch watch;
	unsigned depth;        /* of stacks */
	unsigned least_hits;   /* before the agent gets in */
	uint64_t sample;       /* AGENT_SAMPLES: one in so many bytes … */
	unsigned rate;         /* … doubled so often */
	uint64_t chosen_stops; /* … told of at traps */
	unsigned group;        /* … of these functions */
	agent_engine_held *held;
	void (*missed)(void *context, pid_t pid, uint64_t calls, uint64_t since,
		       uint64_t now);
	void *context;
	uint64_t drained;    /* when all was looked after */
	bool look_is_wanted; /* … which doesn't wait for its time */
	struct agent_pace pace;
	bool telling; /* what is told leads to nothing else being told */
	struct shared_cost cost; /* of spaces that are over */
	struct agent_engine_report report;
};

/* It may take longer than hooks are patient: so many are told without a sign. */
#define AGENT_MANY_TOLD 4096

/* ---- agent_pace.c ---- */

/* Rings of a busy thread hold some 15,000 calls. */
#define AGENT_PAUSE_MOST (2 * 1000 * 1000)

/* Until rings are read again: by how many calls have come since the last time. */
uint64_t agent_pace(struct agent_pace *pace, uint64_t now, size_t told);

/* ---- agent_reading.c ---- */

/* False when there is nothing to be read: the agent isn't inside. */
bool agent_reading_begin(struct agent_space *space, struct agent_reading *ret);

/* What the program has written itself may be of any time (in ticks). */
bool agent_reading_is_past(const struct agent_reading *reading, uint64_t time);

/*
 * The point that something belongs to which was over at that time (in ticks).
 * NULL when there is none: the program can write what it likes there.
 */
static inline struct agent_point *
agent_reading_point(const struct agent_reading *reading, unsigned stub,
		    uint64_t time)
{
	struct agent_point *point = stub < AGENT_STUBS ? reading->points[stub] :
							 NULL;

	return point && (time <= reading->space->engine->latest ||
			 agent_reading_is_past(reading, time)) ?
		       point :
		       NULL;
}

/*
 * Has threads stopped that wait for room: they would keep processors busy that we
 * need in order to tell of what was read. They go on when the loop hears of their
 * stops, which is after that. Returns how many more those are.
 */
size_t agent_hold_waiting(struct agent_engine *engine);

/* … those that there are no processors for besides us. */
size_t agent_hold_crowd(struct agent_engine *engine);

/* ---- agent_begin.c ---- */

/* Its first trap would take the handler away. */
bool agent_blocks_traps(const struct task *task);

/* As in struct event_source_ops. */
bool agent_keeps_traps_out(struct event_source *source, struct space *space,
			   uint64_t now);
bool agent_task_stands(struct event_source *source, struct task *task);
bool agent_task_traps(struct event_source *source, struct task *task);
bool agent_task_calls(struct event_source *source, struct task *task,
		      const struct syscall_stop *stop);

/* ---- agent_hits.c ---- */

/* It has come further on its way in; it may be there. */
void agent_note_way(struct agent_space *space);

/* INSIDE: where threads have errno, if that isn't known. */
void agent_find_errno(struct agent *agent, const struct moment *moment);

/* ---- agent_choice.c ---- */

/* The library that it lies in, as its name is known to lists. */
const char *agent_library_of(const struct point *point);

/* Sets .replaced and .tallied; nothing of a function that is called. */
void agent_choose_way(const struct agent_engine *engine,
		      struct agent_point *own, const char *library);

/* Why it isn't known when calls of the point return, and whether they fail; or NULL. */
const char *agent_why_not_timed(const struct agent_engine *engine,
				const struct point *point, const char *library);

/* Why a point isn't caught in the process; NULL: it may be. */
const char *agent_why_not(const struct agent_engine *engine,
			  const struct point *point);

/* What the point's stub is told, but for where it leads; or a negative errno. */
int agent_point_config(const struct agent_point *own, taddr_t function,
		       const struct insn *insn, struct stub_config *ret);

/* ---- agent_report.c ---- */

/* One more function is caught by traps. */
void agent_note_trap(struct agent_engine *engine, const char *reason);

/* How the point was caught, as long as that is known. */
void agent_note_caught(struct agent_point *own);

/* What the hooks of a space have measured is kept. */
void agent_note_cost(struct agent_space *space);

/* Code and addresses are left in a process that lives. */
void agent_note_what_stays(const struct agent_space *own);

/* ---- agent_tallies.c ---- */

/* Whether the calls of a point that the agent can't see the end of may be counted when
   they begin; and that they are to be. */
bool agent_may_tally(const struct agent_engine *engine,
		     const struct point *point);

/* What no return may be replaced of is counted so from now on, if it may. */
bool agent_tally_instead(struct agent_point *own);

/* It has got its stub. */
void agent_tally_begin(struct agent_point *own);

/* Whether that is done already of any function. */
bool agent_tallies_some(const struct agent_space *space);

/* A call has come to the point's trap. Returns whether it was chosen for that. */
bool agent_tally_hit(struct agent_point *own, struct moment *moment);

/* Now and then: whether others of its calls are to be told of, more or less often. */
void agent_tallies_look(struct agent_space *space, uint64_t now);

/* Who is sent to a trap is so within a moment after a sign of life alone. */
uint64_t agent_pause_for_tallies(const struct agent_space *space,
				 uint64_t pause);

/* ---- agent_replaced.c ---- */

/* Why a function that can't be called by the agent isn't jumped to either. */
const char *agent_why_not_replaceable(const struct agent_engine *engine,
				      const struct function *function,
				      const char *library);

/*
 * Whether it may be replaced from now on where the point's function returns to.
 * If not, it may be later, unless the point has a reason now.
 */
bool agent_may_replace(struct agent_point *own);

/* Why none may be any more, now that there are other modules; or NULL. */
const char *agent_why_replace_no_more(struct agent_space *space);

/*
 * Who walks over stacks: is to come by the agent; some do. They stop there for us,
 * and wait for a sign of life before that: no longer than the pause.
 */
bool agent_walkers_are_wanted(const struct agent_space *space);
uint64_t agent_pause_for_walkers(const struct agent_space *space,
				 uint64_t pause);
bool agent_any_walker_is_met(const struct agent_space *space);

/* In a log or a table: where the stacks of new threads lie. */
void agent_learn_stacks(struct agent_space *space);

/* Whether there are replaced returns, so that who walks must come by us now. */
bool agent_walks_over_some(struct agent_space *space);

/* Calls that haven't returned by now (in ticks) have taken that long. */
void agent_count_running(const struct agent_point *own, uint64_t now,
			 struct agent_counter *counter);

/* ---- agent_site.c ---- */

bool agent_is_site(const struct agent_point *own);

/*
 * One whose slot others read as well: it can't lead to the agent, but a jump over
 * its stub does.
 */
bool agent_is_stub(const struct agent_point *own);

/* Where calls are to go on: to what that leads to now, or behind a trap on it; 0, and
   whether there may be something later. */
bool agent_stub_target(struct agent_point *own, taddr_t *ret);

/*
 * A task has hit the trap of a call site. Returns whether the agent will tell
 * of the call: the task is on its way there.
 */
bool agent_site_pass(struct agent_point *own, struct task *task);

/* … or the trap has told of it: the task goes to the function itself. */
void agent_site_told(struct agent_point *own, struct task *task);

/* Now and then: whether it still needs its trap. */
void agent_site_look(struct agent_point *own, bool lifted_too);

/* Nothing is caught by the agent any more. */
void agent_site_retire(struct agent_point *own);

/* It needs its trap no more. */
void agent_site_lift(struct agent_point *own);

/* Whether slots may lead to the agent; what that of the point holds, whether this
   leads to its stub, and where a task goes that stands at its trap. */
bool agent_is_catching(const struct agent_point *own);
bool agent_point_slot(const struct agent_point *own, taddr_t *ret);
bool agent_leads_to_hook(const struct agent_point *own, taddr_t value);
void agent_send_to(struct task *task, taddr_t address);

/* The one that its slots lead to. */
unsigned agent_first_stub(const struct agent_point *own);

/* ---- agent_caller.c ---- */

/* The entry of a function, of calls through one module's slot; and a jump through
   such a slot. */
bool agent_is_callers(const struct agent_point *own);
bool agent_is_jump(const struct agent_point *own);

/* Whether all that a trap is to tell of are calls through slots that have no stub:
   other slots' calls may go past it. */
bool agent_callers_are_alone(const struct trap *trap);

/*
 * Where code begins that a stub of theirs has for what goes past the trap on the
 * function; 0, and whether there may be one later.
 */
bool agent_callers_way_past(const struct agent_space *space, taddr_t function,
			    taddr_t *ret);

/* Of such an entry: has the calls of its slot caught, if that leads to it. */
void agent_callers_hook(struct agent_point *own);

/* Of a jump: as those of sites. */
bool agent_jump_pass(struct agent_point *jump, struct task *task);
void agent_jump_told(struct agent_point *jump, struct task *task);
void agent_jump_look(struct agent_point *jump);

/* Whether calls of the point are told of in two ends, see RECORDED_ENTRY. */
static inline bool agent_tells_ends(const struct agent_point *own)
{
	return own->replaced && own->space->engine->mode & AGENT_RECORDS;
}

/* ---- agent_ends.c ---- */

/* One that is an end of a call is told of. */
void agent_end_tell(struct agent_engine *engine, const struct recorded *one,
		    struct task *task);

/*
 * Return addresses were put back, or nobody will tell of returns any more: of the
 * thread's calls, and of others near its stack pointer that look so; or all (0). Traps
 * do it from now on.
 */
void agent_ends_go_by_traps(struct agent_space *space, pid_t tid, taddr_t sp);

/*
 * Of whom all is told that there is, whenever that was: a thread that is stopped, a
 * point that goes. What others have done later waits: more may come that was before.
 */
struct agent_all_of {
	pid_t tid;                       /* or 0 */
	const struct agent_point *point; /* or NULL */
};

#define AGENT_ALL_OF_NOBODY ((struct agent_all_of){ 0 })

/* Whose thread isn't known, or whose point, is none of them for that. */
static inline bool agent_is_of(struct agent_all_of them, pid_t tid,
			       const struct agent_point *point)
{
	return (them.tid && tid == them.tid) ||
	       (them.point && point == them.point);
}

/* ---- agent_records.c ---- */

/*
 * Reads all that is there; what ended by that time (in ticks) is told, and all of
 * them. Returns how many calls those were.
 */
size_t agent_records_tell(struct agent_engine *engine, uint64_t until,
			  struct agent_all_of them);

/* The same of all that happened by now, a part after the other. */
size_t agent_records_tell_now(struct agent_engine *engine);

/* Whether all that was there at a time (in ns) is read already: then that will do. */
bool agent_records_are_read(const struct agent_engine *engine, uint64_t time);
size_t agent_records_tell_read(struct agent_engine *engine, uint64_t until,
			       struct agent_all_of them);

/* One more that is to be told of; all of its members but .record, .few and .stack are
   filled in. */
struct recorded *agent_record_add(struct agent_space *space,
				  struct agent_point *point,
				  enum recorded_kind kind, pid_t tid,
				  unsigned block, uint64_t due);

/* ---- agent_nests.c ---- */

/* It is within a call that isn't recorded yet: it waits for that. */
void agent_nest_hold(struct agent_space *space, struct recorded *one);

/* What waits of the block is told by then, with the call that it was within. */
void agent_nest_release(struct agent_space *space, unsigned block,
			uint64_t due);

/* One of them is told, whatever it is within. */
void agent_nest_let_go(struct recorded *one);

/* Whether ends of calls wait there that were made within the recorded one. */
bool agent_nest_has_ends(const struct agent_space *space,
			 const struct agent_record *record);

/*
 * A thread is stopped: calls that it is within are to be told of first, whatever else
 * will be told of it.
 */
void agent_nests_of_thread(struct agent_engine *engine, pid_t tid,
			   uint64_t stopped);

/* … so are those that something has waited for too long; at the end, for any time. */
void agent_nests_look(struct agent_engine *engine, uint64_t now);
void agent_nests_end(struct agent_space *space);

/* ---- agent_merge.c ---- */

/*
 * Those of the list that are due by then, by their begins; what began at one time
 * and ended later comes first, as the other lies within it. Good until the next
 * time.
 */
struct recorded **agent_records_order(struct recorded_order *order,
				      struct recorded *list, size_t count,
				      uint64_t until, size_t *count_ret);
void agent_records_order_fini(struct recorded_order *order);

/* What the record of a call has of its memory; it must stay where it is. */
struct captured {
	struct memory memory;
	const struct agent_record *record;
};

struct captured agent_captured(const struct agent_record *record);

/* The registers at its begin, as far as they are known: no others are set. */
void agent_record_regs(const struct agent_point *point,
		       const struct agent_record *record, struct regs *ret);

/* Those for floating-point numbers, as far as it has them; and with its result. NULL:
   there is none. */
const struct fp_regs *agent_record_fp(const struct agent_record *record,
				      struct fp_regs *space);
const struct fp_regs *agent_record_fp_result(const struct agent_record *record,
					     struct fp_regs *space);

/* What wasn't told is forgotten. */
void agent_records_forget(struct agent_engine *engine);

/* The point's counter: once, at the end. */
void agent_count_tell(struct agent_point *point);

/* ---- agent_entries.c ---- */

/* The frames of an entry as a stack; STACK_NONE when nobody asked for it. */
stack_id agent_entry_stack(struct agent_space *space,
			   const struct agent_watched *entry);

/* It will be asked for when the call is recorded: once. Then it is said, too, whether
   the call has been told of. */
void agent_entry_keep(struct agent_space *space,
		      const struct agent_watched *entry);
stack_id agent_entry_take(struct agent_space *space,
			  const struct agent_record *record, bool *told_ret);

/* The call is to be told of before it is recorded. False when it has been. */
bool agent_entry_tell(struct agent_space *space, pid_t tid, taddr_t slot,
		      uint64_t began, stack_id *stack_ret);

/* Those of a task, of a space, or all (NULL), will never be asked for. */
void agent_entries_forget_task(struct agent_engine *engine, pid_t tid);
void agent_entries_forget(struct agent_engine *engine,
			  const struct agent_space *space);

/* ---- agent_order.c ---- */

/* All of the list, by time. */
void agent_watch_order(struct watched_list *list);

/* Now and then: gives back the memory that nobody has needed for a second. */
void agent_watch_trim(struct watched_list *list, uint64_t now);

/* ---- agent_lists.c ---- */

/* Puts what may be read of a list's ring next, or all, behind what is there. */
typedef void agent_list_reader(struct watched_list *list, bool all);

/* What there is by now is to be told. */
void agent_lists_begin(struct agent_engine *engine, agent_list_reader *read);

/*
 * The list whose next call is the earliest of all; NULL: there is none. In it are
 * those up to limit_ret next.
 */
struct watched_list *agent_lists_earliest(const struct agent_engine *engine,
					  agent_list_reader *read,
					  uint64_t *limit_ret);

/* The time, or later: until they had done all that there is of them. */
uint64_t agent_lists_last(const struct agent_engine *engine,
			  agent_list_reader *read, struct agent_all_of them,
			  uint64_t until);

/* Now and then, when all is told. */
void agent_lists_trim(struct agent_engine *engine, uint64_t now);
void agent_lists_free(struct agent_space *space);

/* ---- agent_wholes.c ---- */

/*
 * The last so many of the list are entries, each within the one before, whose
 * returns haven't been read yet.
 */
struct open_calls {
	size_t count;
	bool disabled; /* somebody wants to know of each end */
};

/*
 * Where to put what was read next of a thread; and then, that it is there: it
 * stays, or goes where it belongs.
 */
struct watched_call *agent_wholes_next(struct watched_list *list);
void agent_wholes_add(struct watched_list *list, struct open_calls *open);

/* The same of an entry whose end has come right behind it; false: nothing is done, as
   they have to be told one by one. */
bool agent_wholes_add_ended(struct watched_list *list, struct open_calls *open,
			    uint64_t ended, uint64_t result);

/* The end of a call, which nearly always is all that is told of it. */
struct watched_end {
	const struct agent_point *point;
	pid_t tid;
	uint64_t time;
	taddr_t slot, return_address;
	uint64_t result;
};

/*
 * Instead, of an end: false where it isn't that of the last one of the list, or
 * something is told of it. Then that is to be put there.
 */
bool agent_wholes_end(struct watched_list *list, struct open_calls *open,
		      const struct watched_end *end);

/*
 * What is told next has effect at both its ends, and these are neighbours: one
 * call, if that was over by then.
 */
bool agent_wholes_join(const struct watched_list *list, size_t at,
		       uint64_t until, struct watched_call *ret);

/* ---- agent_looks.c ---- */

/* A call has come by the point's trap: maybe as its texts lay where nobody knew that
   they can be read. */
void agent_looks_learn(struct agent_point *own, const struct task *task);

/* ---- agent_samples.c ---- */

/* How its calls are chosen, for its stub: agent_act(). */
unsigned agent_sampled_act(const struct function *function);

/*
 * Before the first call goes by unseen. Returns false when there is no memory
 * for it; all calls go by traps then.
 */
bool agent_samples_begin(struct agent_space *space);

struct call_chosen agent_call_chosen(enum agent_choice choice, unsigned rate);

/* What was chosen of a call that has come to its trap. */
struct call_chosen agent_chosen_at(struct agent_space *space,
				   const struct moment *moment);

/* As engine_ops' passed_over. */
bool agent_passes_over(const struct agent_space *space,
		       const struct moment *moment);

/* Blocks whose releases won't be seen. */
uint64_t agent_unmarked(const struct agent_space *space);

/* ---- agent_watch.c ---- */

/* Of moments that the agent has recorded: of registers it has but a few. */
extern const struct moment_ops agent_past_ops;

/*
 * Reads all that is there of watched calls; what happened by that time (in
 * ticks) is told, and all of them. Returns how much that was.
 */
size_t agent_watch_tell(struct agent_engine *engine, uint64_t until,
			struct agent_all_of them);

/* The same; but where threads are held, no more than gives them room to go on. */
size_t agent_watch_tell_some(struct agent_engine *engine, uint64_t until);

/*
 * A thread has stopped for what others tell of: it may be about to jump out of what it
 * is within, or to do what is no part of that. So the process tells of its next calls.
 */
void agent_watch_forget_outer(struct agent_engine *engine, pid_t tid);

/* One has hit the point's trap: told of, and what was missing is learned. */
void agent_watch_reached(struct agent_point *own, struct task *task,
			 const struct moment *moment);

/*
 * The hook has sent it to the trap, as a rule was missing. Now that it is there, the
 * task goes back, and the process tells of the call itself: so its return needs no
 * stop. Only where something was learned, or it would go round in circles.
 */
bool agent_watch_sends_back(struct agent_point *own, struct task *task,
			    const struct moment *moment);

/* As the process has it. */
uint64_t agent_row_of(const struct unwind_rule *rule);

/* Addresses mean something else now. */
void agent_watch_forget_rows(struct agent_space *space);

/* ---- agent_tables.c ---- */

/* A call has stopped, as this address had no rule. */
void agent_tables_missed(struct agent_space *space, taddr_t address);

/* A part of what is wanted; whether there may be more. */
bool agent_tables_make(struct agent_space *space);

/* Code is gone. */
void agent_tables_forget(struct agent_space *space, taddr_t low, taddr_t high);
void agent_tables_free(struct agent_space *space);
void agent_tables_free_kept(struct agent_engine *engine);

/* ---- agent_engine.c ---- */

struct agent_engine *agent_engine_of(struct engine *base);
struct agent_engine *agent_engine_of_source(struct event_source *source);

/* Something is to be caught, or seen to: at the next turn. */
void agent_look_soon(struct agent_engine *engine);

/* NULL: none of its points is caught by the agent, nor does it handle traps there. */
struct agent_space *agent_find_space(const struct agent_engine *engine,
				     const struct probe_space *space);
struct agent_space *agent_get_space(struct agent_engine *engine,
				    struct probe_space *space);

/* ---- agent_hits.c ---- */

/* Of the trap at a point, and of the one behind a jump, see agent_door_of(). */
extern const struct trap_owner_ops agent_owner_ops, agent_door_ops;

/* ---- agent_catching.c ---- */

/* As agent_why_not(), when the function has been called. */
const char *agent_why_not_now(const struct agent_point *own);

/* Gets a stub, as far as it may have one by now. */
void agent_catch_point(struct agent_point *own);

/* What can be done now for all of a space, which is little at a time. */
void agent_catch_all(struct agent_space *space, uint64_t now);
void agent_unpatch_point(struct agent_point *own);

/*
 * Where nobody wants to be told of anything there is no trap to stop at. In a log
 * returns that are put back are told by traps.
 */
struct trap_owner *agent_door_of(struct agent_point *own);
bool agent_wants_door(const struct agent_point *own);

/* ---- agent_leaving.c ---- */

/* What happened by now. */
size_t agent_tell(struct agent_engine *engine);
/* … or less, where there is so much that threads wait: more is to be told at once. */
size_t agent_tell_some(struct agent_engine *engine);
/* What happened by then, and all of them. Returns how much that was. */
size_t agent_tell_with(struct agent_engine *engine, uint64_t until,
		       struct agent_all_of them);

/* Calls that were not told of, and won't be. */
uint64_t agent_lost(const struct agent_space *space);
void agent_note_missed(struct agent_space *space, bool blind, uint64_t now);
/* Later nobody knows the process any more, or another program that it runs. */
void agent_note_last_missed(struct agent_space *space);

/* What is told of it before it goes. */
void agent_settle(struct agent_point *own);

/* What the report has of a space that is over. */
void agent_note_last(struct agent_space *space);

/* As engine_ops' close, is_awaited and leave. */
void agent_close_space(struct engine *base, struct probe_space *space);
bool agent_is_awaited(const struct engine *base);
void agent_leave_space(struct engine *base, struct probe_space *space);

#endif
