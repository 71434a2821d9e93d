/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROBE_PRIVATE_H
#define CALLTRAP_PROBE_PRIVATE_H

#include "base/hash.h"
#include "probe/engine.h"
#include "probe/moment.h"
#include "probe/prober.h"

/* What the files of this room share. */

struct functions;
struct wanted;

/* See refusals.c. */
#define REFUSALS 3
struct refusal {
	const struct function *function;
	int err;
};

struct prober {
	struct tracer_client client;
	struct prober_config config;
	struct engine traps;
	struct engine *engines; /* to be asked in turn; the last is .traps */
	struct functions *functions;
	struct wanted *wanted;
	struct picked *picked; /* or NULL: no sink does */
	char *interpreter;     /* the first one's module, or NULL: --script */
	bool has_places;       /* some call had one in a script */
	char *elsewhere;       /* the library with most of the code, or NULL */
	struct system_functions *system_functions;
	struct prober_counts counts;
	struct { /* engines: up to the stop of that task */
		uint64_t time;
		pid_t tid;
	} caught_up;
	struct refusal refusals[REFUSALS]; /* the first; the rest is 0 */
	uint64_t last_call_id;
	struct activation *spare; /* see pairing.c; or NULL */
	bool go_seen;
	int error;
	bool paused;
};

/*
 * Which stack a frame is on, and where: what pairs an entry with its return.
 * The slot is the address of the return address. Stacks that the program
 * moves (Go) are told by their owner, and the slot is counted from the end
 * that moves with it.
 */
struct frame_key {
	uint64_t stack;
	uint64_t slot;
};

/* What a running activation is watched for. */
enum activation_kind {
	ACTIVATION_CALL,     /* a call that the user wants to see */
	ACTIVATION_RESOLVER, /* an IFUNC resolver: its result is a function */
};

struct ifunc;

/* Arguments on the stack are remembered up to so many bytes. */
#define STACKED_MAX 64

/* One running call. */
struct activation {
	struct frame_key key;
	enum activation_kind kind;
	struct call call;
	struct fp_regs *fp;   /* what call.entry_fp is, or NULL */
	uint8_t stacked_size; /* see stacked.c */
	uint8_t stacked[STACKED_MAX];
	bool jumped;                /* CALL: seen at a jump */
	bool left;                  /* CALL: stands for none, see is_left() */
	bool inherited;             /* CALL: begun by a child's parent */
	struct ifunc *ifunc;        /* RESOLVER */
	struct engine *engine;      /* that has caught its entry */
	struct return_watch *watch; /* NULL: its return isn't told of */
	struct call_stack *stack;   /* whose list it is in */
	struct activation *outer;   /* in that list */
	struct activation *inner;
	struct activation *same_frame; /* tail callers: they return with it */
	UT_hash_handle hh;             /* by key; the newest of a frame */
};

/* Running activations in the order of their entry. */
struct call_stack {
	struct activation *top;
	unsigned depth;
};

/* What a task is doing in the kernel. */
struct system_call {
	bool running;
	struct call call;
	/*
	 * A stop of ours has ended it, and it will be entered again, without
	 * a word. If something else comes in between it did end, like this.
	 */
	bool again;
	struct regs regs;
	uint64_t time;
	int error;
	struct event_cost cost; /* as of struct event, when it ended */
};

/* A call that nobody waits for, by what its tail calls are known. */
struct unwatched_call {
	const struct function *function; /* NULL: there is none */
	taddr_t slot, return_address;
	uint64_t argument; /* the first */
};

/* What the kernel's books tell of a task where they are read: see clocked.c. */
struct kernel_books {
	struct kernel_clock first, last;
	uint64_t stops,
		waited_ns; /* where nothing else cost it the processor, and we */
	double longest_ns; /* between two looks: a wait, in the mean */
};

/* Of a task: struct task's client member. */
struct task_calls {
	struct call_stack stack;
	struct system_call system_call;
	/*
	 * Frames are being thrown away, from unwind_sp upwards: what remains is
	 * seen at the next hit above it.
	 */
	enum call_end unwinding; /* CALL_RETURNED = not */
	taddr_t unwind_sp;
	/* The last call, if nobody waits for its return and nothing was hit
	   since. */
	struct unwatched_call unwatched;
	struct kernel_books books;
};

/* Calls that sinks are told of at once: what each of them needs for that is done once. */
#define WHOLE_RUN 32

struct whole_run {
	size_t count;
	struct whole_call calls[WHOLE_RUN];
};

/* A function caught at one address of a space. */
struct probe {
	struct point point;
	/*
	 * Where several imports of the point's caller lead to one function
	 * (memcpy and memmove do) the slot tells them apart.
	 */
	bool is_second;     /* … of those that are probed here */
	bool sharing_known; /* the next is: since the first hit */
	bool shares_target;
	struct probe *next;
};

/* Functions of the process that are asked something. */
enum asked {
	ASKED_ERRNO,       /* where errno is */
	ASKED_USABLE_SIZE, /* how large a block really is */
	ASKED_MALLOC,      /* nothing: whose it is tells whose blocks are */
	ASKED_FUNCTIONS,
};

struct asked_function {
	const struct module *module; /* that defines it; NULL: none, or … */
	taddr_t address;
	bool searched; /* … nobody has looked yet */
};

/* Of a space: struct space's client member. */
struct probe_space {
	struct prober *prober;
	struct space *space;
	struct probe *probes;
	struct point *points;           /* by address */
	struct return_site *sites;      /* the trap engine's, by address */
	struct activation *activations; /* by frame */
	struct call_stack moving;       /* those on stacks that move */
	struct ifunc *ifuncs;
	struct nonlocal *nonlocals;
	struct untraced *untraced;
	struct clocked_point *clocked;
	bool code_repaired; /* what another calltrap left in code … */
	bool repaired;      /* … and in slots */
	bool is_go;         /* stacks are moved */
	bool closed;        /* its calls are told of no more */
	struct asked_function asked[ASKED_FUNCTIONS];
	struct script_binding *scripts; /* its interpreters', if somebody … */
	bool scripts_searched;          /* … has looked for them */
	taddr_t thread_size; /* where the size of struct pthread is, or 0 */
	taddr_t mapping_low, mapping_high; /* see mapping_is_one() */
};

static inline struct probe_space *probe_space_of(struct space *space)
{
	return space->client;
}

static inline struct task_calls *task_calls_of(const struct task *task)
{
	return task->client;
}

/*
 * To all sinks. Before that, engines tell what they know of the time before
 * it.
 */
void prober_emit(struct prober *prober, const struct event *event);

/* The same from an engine that has been asked, or of many calls at once. */
void prober_tell(struct prober *prober, const struct event *event);
void prober_tell_wholes(struct prober *prober, const struct whole_run *run);
void prober_count(struct prober *prober, const struct call_count *count);

/*
 * Who has called the function at whose entry the moment is, or (a system call)
 * the frames that the task was in. STACK_NONE when nobody asked.
 */
stack_id prober_callers(const struct moment *moment, bool at_entry);

/*
 * What was ours of the time since a call began. Of those that return on another
 * thread it isn't known; there were two stops at least.
 */
struct event_cost prober_cost_since(const struct moment *moment,
				    const struct call *call);

/* ---- clocked.c ---- */

/* The time of the call that begins is wanted as exactly as can be: it stands for many. */
void clocked_begin(struct moment *moment);

/* Where stops wait for processors, for long, some of all that begin by them are, too. */
void clocked_begin_some(struct moment *moment, taddr_t point);

void clocked_forget(struct probe_space *space);

/* What was ours of its time is told by what the kernel has booked, if that is known. */
void clocked_end(const struct moment *moment, const struct call *call,
		 struct event_cost *cost);

/* ---- unwatched.c ---- */

/* Whether an entry is a tail call of the call that was noted last. */
bool unwatched_goes_on(const struct moment *moment,
		       const struct function *function, taddr_t slot,
		       taddr_t return_address);
void unwatched_note(const struct moment *moment,
		    const struct activation *activation);

/* The same of numbers. */
bool unwatched_is_same(struct task_calls *calls,
		       const struct unwatched_call *call);

/* ---- whole.c ---- */

/*
 * A call of an engine's that is over, the next one's place in the run, all but its .id
 * filled in, is added to it: who does that tells of the run before anything else.
 * slot: where its return address lies. False, and it isn't added, when something runs
 * that it may have to do with: then it goes by moments.
 */
bool whole_add(struct probe_space *space, struct task *task,
	       struct whole_run *run, taddr_t slot, taddr_t return_address);

/* To all sinks; none are left in it. */
void whole_tell(struct probe_space *space, struct whole_run *run);

/* ---- engine.c ---- */

/* Once the configuration is there. */
void engines_init(struct prober *prober);

/*
 * Has the first engine that promises all that is needed, and can, catch it.
 * Returns why the last one couldn't.
 */
int point_plant(struct point *point, unsigned needs) MUST_CHECK;

/* Nothing happens to a point that nobody catches. See engine_ops' unplant. */
void point_unplant(struct point *point, bool gone);

static inline bool point_is_within(const struct point *point, taddr_t low,
				   taddr_t high)
{
	return point->address >= low && point->address < high;
}

/* Those that are planted at an address; the others by .same_address. */
struct point *points_at(const struct probe_space *space, taddr_t address);

/*
 * Asks the engine, and those after it. NULL when none can tell of the call's
 * return.
 */
struct return_watch *engine_watch_return(struct engine *engine,
					 struct probe_space *space,
					 const struct call *call);

/* These tell all engines: see engine_ops. */
void engines_forget_range(struct probe_space *space, taddr_t low, taddr_t high);
void engines_forget_frames(const struct moment *moment, taddr_t limit);
bool engines_are_on_the_way(const struct engine *engine);
void engines_close(struct probe_space *space);
bool engines_are_awaited(const struct engine *engine);
void engines_leave(struct probe_space *space);
void engines_end(struct probe_space *space);
void engines_prepare(struct probe_space *space);
void engines_forked(struct probe_space *parent, struct probe_space *child);
bool engines_have_code(struct probe_space *space, taddr_t address);
/* Whether such a function runs, by what engines have passed over. */
bool engines_passed_over(const struct moment *moment, unsigned group);
/* Once for each stop, however many events come of it. */
void engines_catch_up(struct prober *prober, uint64_t time, pid_t tid);

/* ---- probe.c: planting ---- */

/* Where a function is to be caught. */
struct probe_place {
	taddr_t address;
	const struct module *caller; /* these as of struct point */
	taddr_t slot, shared_slot, stub_slot;
	bool at_jump;
};

void refusal_note(struct prober *prober, const struct function *function,
		  int err);

/*
 * An equal one that is there already serves as well; what can't be caught is
 * counted.
 */
void probe_plant(struct probe_space *space, const struct function *function,
		 const struct probe_place *place);
void probes_forget_range(struct probe_space *space, taddr_t low, taddr_t high);

/* The module that they were limited to is gone. */
void probes_forget_caller(struct probe_space *space,
			  const struct module *caller);

/* ---- entries.c, call_sites.c: filters → probes ---- */

void entries_plant(struct probe_space *space, struct module *module);
void call_sites_plant(struct probe_space *space, struct module *module);

/* ---- ifunc.c ---- */

/*
 * Catches the functions that a resolver has chosen or will choose, under the
 * name of function.
 */
void ifunc_follow(struct probe_space *space, const struct module *module,
		  const struct symbol *symbol, const struct function *function,
		  const struct module *caller, taddr_t slot);

/* The resolver as a function, if it is to be shown as a call; then no more. */
const struct function *ifunc_take_shown(struct ifunc *ifunc);

/* Reads what GOT slots tell of resolvers that have run already. */
void ifuncs_read_slots(struct probe_space *space);
void ifunc_resolved(struct probe_space *space, struct ifunc *ifunc,
		    taddr_t target);
void ifuncs_forget_caller(struct probe_space *space,
			  const struct module *caller);
void ifuncs_forget_range(struct probe_space *space, taddr_t low, taddr_t high);

/* ---- pairing.c: entries ↔ returns ---- */

/*
 * A watched function was entered, or (jumped) a jump leads to it whose target
 * may be trapped too. Emits the event.
 */
void pairing_enter_call(const struct moment *moment,
			const struct function *function, taddr_t return_address,
			bool jumped);

/*
 * The function that a trapped jump has led to, in the frame that is being
 * entered; or NULL.
 */
const struct function *pairing_jumped_to(const struct moment *moment,
					 taddr_t return_address);

/*
 * A call is about to be entered, and those of the same frame that the moment's
 * engine has told of will never return.
 */
void pairing_forget_frame(const struct moment *moment);

/* As pairing_enter_call(), of an IFUNC's resolver, mostly without an event. */
void pairing_enter_resolver(const struct moment *moment, struct ifunc *ifunc);

/* pairing_return(): see probe/engine.h */

/*
 * Everything that runs on this task's stack below limit (and not below from)
 * is thrown away.
 */
void pairing_abandon_frames(const struct moment *moment, taddr_t from,
			    taddr_t limit, enum call_end end);
void pairing_abandon_stack(struct probe_space *space, struct call_stack *stack,
			   enum call_end end, uint64_t time);

/*
 * A child begins in the middle of a call of its parent's, and will return from
 * it too; pairing_watch_inherited() is to be called when its modules are known.
 */
void pairing_inherit(const struct moment *child,
		     const struct activation *activation);
void pairing_watch_inherited(struct probe_space *space);

/*
 * The engines behind that of the watch are to tell of returns that it stands for:
 * of the thread's calls, or all (0), and of those from low to high whose return
 * address lies where it belongs.
 */
void pairing_watch_otherwise(struct probe_space *space,
			     struct return_watch *watch, pid_t tid, taddr_t low,
			     taddr_t high);

/* Its resolver's activations mean nothing any more. */
void pairing_forget_ifunc(struct probe_space *space, const struct ifunc *ifunc);

/* ---- fork.c ---- */

/* A process was made that is traced as well. */
void fork_begin(struct task *parent, struct tracee *child);

/* ---- return_site.c: the trap engine's part of engine_ops ---- */

struct return_watch *return_site_watch(struct engine *engine,
				       struct probe_space *space,
				       const struct call *call);
void return_site_unwatch(struct return_watch *watch);
void return_sites_forget_range(struct engine *engine, struct probe_space *space,
			       taddr_t low, taddr_t high);

/* ---- code_place.c ---- */

/*
 * What lies on top of the stack at an entry isn't always a return address:
 * _start and what the dynamic linker jumps to have other things there, and a
 * trap in data would destroy it. Code outside of modules is made at run time;
 * where its memory is shared, a trap would be in other processes, too.
 */
enum code_place { PLACE_DATA, PLACE_CODE, PLACE_SHARED_CODE };

enum code_place code_place_of(struct probe_space *space, taddr_t address);

/* ---- frame.c ---- */

/*
 * The key of the frame whose return address lies at slot, and whether the
 * return has its own rules (a stack that moves).
 */
struct frame_key frame_key(const struct moment *moment, taddr_t slot);
bool frame_is_below(const struct frame_key *key, taddr_t slot);

/* As the process is now: what a stop is asked for. */
bool mapping_is_one(const struct moment *moment, taddr_t a, taddr_t b);

/* ---- fp.c: floating-point registers, where a prototype needs them ---- */

/* The call has begun: those of its entry; freed with the activation. */
void fp_enter(struct activation *activation, const struct moment *moment);

/* It has returned: those of the return, in space, or NULL. */
const struct fp_regs *fp_return(const struct activation *activation,
				const struct moment *moment,
				struct fp_regs *space);

/* ---- stacked.c: arguments on the stack, which callees write to ---- */

void stacked_enter(struct activation *activation, const struct moment *moment);

/* Memory in which they are as they were, for who is told of the return. */
struct memory *stacked_memory(const struct activation *activation,
			      const struct moment *moment,
			      struct memory_before *space);

/* ---- nonlocal.c: longjmp and exceptions ---- */

void nonlocals_plant(struct probe_space *space, struct module *module);

/*
 * Its exceptions are thrown by code of its own, which has no names: not that of
 * a library, nor is it found by who calls it. any: one name of those that throw is
 * enough. To know __cxa_throw alone isn't otherwise: what was caught is thrown again
 * by others (std::rethrow_exception).
 */
bool nonlocals_are_hidden(const struct module *module, bool any);
void nonlocals_forget_range(struct probe_space *space, taddr_t low,
			    taddr_t high);

/* ---- untraced.c: children that would be kept from every tracer ---- */

void untraced_plant(struct probe_space *space, const struct module *module);
void untraced_forget_range(struct probe_space *space, taddr_t low,
			   taddr_t high);

/* ---- functions.c ---- */

struct functions *functions_new(void);
void functions_free(struct functions *functions);

/*
 * The one function of these names; definer and caller may be NULL.
 */
struct function *function_get(struct prober *prober, const char *name,
			      enum function_place place,
			      const struct module *definer,
			      const struct module *caller);

/* Whether the C library is part of this module: a static program. */
bool function_is_linked_in(const struct module *module);

/*
 * It is a global symbol of this module. In a static program it may come from
 * a library that has a file of prototypes, unless debug information knows it
 * as something else.
 */
void function_linked(struct prober *prober, struct function *function,
		     const struct module *module);

/*
 * Where one of them begins, as an address of the module's image: if no file
 * has its prototype, debug information may. That is read when the function is
 * called for the first time, which function_called() says.
 */
void function_defined(struct prober *prober, const struct function *function,
		      const struct module *module, uint64_t address);
void function_called(struct prober *prober, const struct function *function);

/* ---- errno.c ---- */

/* Where a task of the moment's has its errno; false when that isn't known. */
bool errno_place(const struct moment *moment, taddr_t *ret);

/* errno of that moment, or 0 when it can't be known. */
int errno_read(const struct moment *moment);

/* ---- asked.c ---- */

/*
 * What such a function would return to a task with these registers. False: there
 * is none, it does too much, or the memory can't be read (any more).
 */
bool asked_evaluate(struct probe_space *space, enum asked which,
		    const struct regs *regs, struct memory *memory,
		    const uint64_t *argument, uint64_t *ret);

/* The list of modules has changed. */
void asked_forget(struct probe_space *space);

/* ---- script.c: where interpreters are in their programs ---- */

/*
 * The script frames that the task was in, to be freed; NULL when there
 * are none, or nobody wants to know.
 */
struct script_frames *script_where(const struct moment *moment);

/*
 * The stack of the script that calls at the moment: in place of the
 * interpreter's own frames, behind the innermost of these. The native one if no
 * script is there.
 */
stack_id script_stack(const struct moment *moment, stack_id native);

/* The list of modules has changed. */
void scripts_forget(struct probe_space *space);

/* Says that --script was without effect, if it was. */
void script_report(const struct prober *prober);

/* ---- outcome.c ---- */

/* Fills in whether the call that has returned says that it has failed. */
void outcome_judge(const struct moment *moment, struct event *event);

/* ---- system_calls.c ---- */

/* All that were seen of the kernel's, to be freed at the end. */
struct system_functions;
void system_functions_free(struct system_functions *functions);

void system_call_entered(struct prober *prober, struct task *task,
			 const struct syscall_stop *stop);
void system_call_returned(struct prober *prober, struct task *task,
			  const struct syscall_stop *stop, bool again);

/* The running call of a task is another's from now on. */
void system_call_move(struct task *from, struct task *to);

/* execve was successful, as nobody will say a second time. */
void system_call_executed(struct prober *prober, struct task *task);

/* Something comes before the call is made again: it did end. */
void system_call_settle(struct prober *prober, struct task *task);
void system_call_abandon(struct prober *prober, struct task *task,
			 enum call_end end, uint64_t time);

/* ---- wanted.c: filters that haven't matched ---- */

struct wanted *wanted_new(const struct prober_config *config);
void wanted_free(struct wanted *wanted);

/* A probe was planted for the symbol, by -x. */
void wanted_found_entry(struct wanted *wanted, const char *symbol,
			const struct filter_library *library);

/* The same by -e or -l; to is NULL when nothing defines the symbol yet. */
void wanted_found_call(struct wanted *wanted, const char *symbol,
		       const struct filter_library *from,
		       const struct filter_library *to);

/*
 * The list of modules has changed. With the first complete one the user is
 * told what is missing, and which names are near.
 */
void wanted_modules(struct wanted *wanted, struct space *space);
void wanted_report_never(const struct wanted *wanted);

/* ---- elsewhere.c: where calls are that weren't asked for ---- */

/* The list of modules has changed. */
void elsewhere_look(struct prober *prober, const struct space *space);

/* At the end: tells the user if hardly any call was seen, and why. */
void elsewhere_report(const struct prober *prober);

static inline struct filter_library
filter_library_of(const struct module *module)
{
	return (struct filter_library){
		.path = module->path,
		.soname = image_soname(module->image),
		.is_main = module->is_main,
	};
}

#endif
