/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/interpreter.h"
#include "base/page_memory.h"
#include "base/xalloc.h"
#include "probe/private.h"

/* A variable of the interpreter's, where it was found in its module. */
struct script_place {
	bool found;
	bool per_thread;
	taddr_t address;                   /* of one that all threads share */
	struct image_thread_object object; /* of others */
};

/* A script, and the module that it is about. */
struct script_binding {
	const struct script *script;
	const struct module *module;
	struct script_place *places; /* by the objects of the script */
	struct script_binding *next;
};

/* The moment that is asked about. */
struct asked_task {
	struct script_thread thread;
	const struct script_binding *binding;
	const struct moment *moment;
};

static struct script_place find_place(const struct module *module,
				      const struct script_object *object)
{
	struct script_place place = { .per_thread = object->per_thread };

	if (object->per_thread)
		place.found = image_find_thread_object(module->image,
						       object->name,
						       &place.object);
	else
		place.found = image_find_object(module->image, object->name,
						&place.address);
	place.address += module->bias;
	return place;
}

/* NULL when nothing that the script speaks of is in the module. */
static struct script_binding *bind(const struct script *script,
				   const struct module *module)
{
	size_t count, i, found = 0;
	const struct script_object *objects = script_objects(script, &count);
	struct script_place *places = xcalloc(count + 1, sizeof(*places));
	struct script_binding *binding;

	for (i = 0; i < count; i++) {
		places[i] = find_place(module, &objects[i]);
		found += places[i].found;
	}
	if (!found) {
		free(places);
		return NULL;
	}
	binding = xcalloc(1, sizeof(*binding));
	binding->script = script;
	binding->module = module;
	binding->places = places;
	return binding;
}

static struct script_binding *bind_module(const struct prober *prober,
					  const struct module *module)
{
	struct prototypes *prototypes = prober->config.prototypes;
	struct script_binding *binding = NULL;
	const struct script *script;

	for (size_t i = 0;
	     !binding &&
	     (script = prototypes_script(prototypes, module->name, i));
	     i++)
		binding = bind(script, module);
	return binding;
}

/* glibc tells debuggers (nptl_db/structs.def). */
static void find_thread_size(struct probe_space *space,
			     const struct module *module)
{
	taddr_t address;

	if (image_find_object(module->image, "_thread_db_sizeof_pthread",
			      &address))
		space->thread_size = module->bias + address;
}

static void find_scripts(struct probe_space *space)
{
	struct script_binding **end = &space->scripts;
	struct module *module;

	space->thread_size = 0;
	for (module = space->space->modules; module; module = module->next) {
		if (!space->prober->interpreter && interpreter_is(module->name))
			space->prober->interpreter = xstrdup(module->name);
		if (!space->thread_size)
			find_thread_size(space, module);
		*end = bind_module(space->prober, module);
		if (*end)
			end = &(*end)->next;
	}
}

void scripts_forget(struct probe_space *space)
{
	struct script_binding *binding = space->scripts, *next;

	for (; binding; binding = next) {
		next = binding->next;
		free(binding->places);
		free(binding);
	}
	space->scripts = NULL;
	space->scripts_searched = false;
}

static int read_word(const struct asked_task *asked, taddr_t address,
		     uint64_t *ret)
{
	return memory_read_word(asked->thread.memory, address,
				asked->moment->arch->word_size, ret);
}

/*
 * glibc, nptl/descr.h and sysdeps/generic/dl-dtv.h: the thread's vector has
 * entries of two words, in which the block of the module of a number is. The
 * entry before the first says how many there are; what was never used has no
 * block yet.
 */
static int find_block(const struct asked_task *asked, taddr_t pointer,
		      uint64_t number, taddr_t *ret)
{
	const unsigned word = asked->moment->arch->word_size;
	const uint64_t unused = word == 4 ? UINT32_MAX : UINT64_MAX;
	uint64_t vector, count;
	int err = read_word(asked, pointer + asked->moment->arch->thread_vector,
			    &vector);

	if (!err)
		err = read_word(asked, vector - 2 * word, &count);
	if (!err && (!number || number > count))
		return -ENOENT;
	if (!err)
		err = read_word(asked, vector + number * 2 * word, ret);
	if (!err && *ret == unused)
		return -ENOENT;
	return err;
}

static uint64_t aligned(uint64_t size, uint64_t align)
{
	uint64_t rest = align ? size % align : 0;

	return rest ? size + (align - rest) : size;
}

/* Of the program itself. */
static taddr_t own_block(const struct arch_ops *arch,
			 const struct image_thread_object *object,
			 taddr_t pointer)
{
	if (arch->thread_head)
		return pointer +
		       aligned(arch->thread_head, object->block_align);
	return pointer - aligned(object->block_size, object->block_align);
}

/* A variable of the block of a module, whose number is at that address. */
static int find_numbered(const struct asked_task *asked, taddr_t pointer,
			 taddr_t address, uint64_t offset, taddr_t *ret)
{
	uint64_t number;
	int err = read_word(asked, address, &number);

	if (!err)
		err = find_block(asked, pointer, number, ret);
	if (!err)
		*ret += offset;
	return err;
}

/* Its words are the dynamic linker's function, and what it is called for. */
static int find_described(const struct asked_task *asked,
			  const struct image_thread_object *object,
			  taddr_t pointer, taddr_t *ret)
{
	const struct arch_ops *arch = asked->moment->arch;
	const taddr_t slot =
		asked->binding->module->bias + object->descriptor_slot;
	uint64_t function, value;
	int err = read_word(asked, slot, &function);

	if (!err)
		err = read_word(asked, slot + arch->word_size, &value);
	if (err)
		return err;
	if (!arch->tls_finds_place(asked->thread.memory, function))
		return find_numbered(asked, pointer, value, object->offset,
				     ret);
	*ret = pointer + value + object->behind_descriptor;
	return 0;
}

static int thread_object(const struct asked_task *asked,
			 const struct image_thread_object *object, taddr_t *ret)
{
	const struct module *module = asked->binding->module;
	const struct arch_ops *arch = asked->moment->arch;
	const taddr_t pointer = arch->thread_pointer(asked->moment->regs);
	int err;

	if (object->place_slot) {
		err = read_word(asked, module->bias + object->place_slot, ret);
		*ret += pointer + object->behind_place;
		return err;
	}
	if (object->number_slot)
		return find_numbered(asked, pointer,
				     module->bias + object->number_slot,
				     object->offset, ret);
	if (object->descriptor_slot)
		return find_described(asked, object, pointer, ret);
	if (!module->is_main)
		return -ENOENT;
	*ret = own_block(arch, object, pointer) + object->offset;
	return 0;
}

static int ask_object(struct script_thread *thread, size_t index, taddr_t *ret)
{
	const struct asked_task *asked = (const struct asked_task *)thread;
	const struct script_place *place = &asked->binding->places[index];

	if (!place->found)
		return -ENOENT;
	if (place->per_thread)
		return thread_object(asked, &place->object, ret);
	*ret = place->address;
	return 0;
}

/* A pthread_t is the address of struct pthread, at the pointer or before it. */
static int ask_pointer(struct script_thread *thread, taddr_t *ret)
{
	const struct asked_task *asked = (const struct asked_task *)thread;
	const struct arch_ops *arch = asked->moment->arch;
	const taddr_t size_at = asked->moment->space->thread_size;
	uint32_t size;
	int err;

	*ret = arch->thread_pointer(asked->moment->regs);
	if (!arch->thread_head)
		return 0;
	if (!size_at)
		return -ENOENT;
	err = memory_read(thread->memory, size_at, &size, sizeof(size));
	if (!err)
		*ret -= size;
	return err;
}

static const struct script_thread_ops thread_ops = {
	.object = ask_object,
	.pointer = ask_pointer,
};

static struct script_frames *ask(const struct moment *moment,
				 const struct script_binding *binding)
{
	const unsigned depth = moment->space->prober->config.stack_depth;
	struct page_memory pages;
	struct asked_task asked = {
		.thread = { &thread_ops, &pages.memory },
		.binding = binding,
		.moment = moment,
	};
	struct script_frames *frames = NULL;
	int err;

	page_memory_init(&pages, moment->memory);
	err = script_ask(binding->script, &asked.thread, depth ? depth : 1,
			 &frames);
	if (err)
		diag(DIAG_DEBUG, DIAG_PROBE, "%d: %s has no script frame: %s",
		     (int)moment->tid, binding->module->name, strerror(-err));
	return frames;
}

/* The interpreter that answers, or NULL. */
static const struct script_binding *ask_all(const struct moment *moment,
					    struct script_frames **ret)
{
	struct probe_space *space = moment->space;
	const struct script_binding *binding;

	if (!space->scripts_searched)
		find_scripts(space);
	space->scripts_searched = true;
	*ret = NULL;
	for (binding = space->scripts; binding; binding = binding->next) {
		*ret = ask(moment, binding);
		if (*ret)
			break;
	}
	space->prober->has_places |= *ret != NULL;
	return binding;
}

struct script_frames *script_where(const struct moment *moment)
{
	struct script_frames *frames;

	if (!moment->space->prober->config.scripts)
		return NULL;
	(void)ask_all(moment, &frames);
	return frames;
}

/* How many frames there are up to the first one of the interpreter's. */
static size_t count_inner(const struct frame *frames, size_t count,
			  const struct module *interpreter)
{
	for (size_t i = 0; i < count; i++)
		if (frames[i].code->image == interpreter->image)
			return i + 1;
	return count;
}

stack_id script_stack(const struct moment *moment, stack_id native)
{
	const struct prober_config *config = &moment->space->prober->config;
	struct stacks *stacks = config->stacks;
	const size_t depth = config->stack_depth;
	struct script_frames *script;
	const struct script_binding *binding = ask_all(moment, &script);
	struct frame *frames CLEANUP(xfree_cleanup) = NULL;
	size_t count, i;

	if (!binding)
		return native;
	frames = xcalloc(depth + 1, sizeof(*frames));
	count = count_inner(frames,
			    stacks_frames(stacks, native, frames, depth),
			    binding->module);
	for (i = 0; i < script->count && count < depth; i++)
		frames[count++] = (struct frame){
			stacks_script(stacks, script->list[i].file,
				      script->list[i].function),
			script->list[i].line,
			FRAME_SCRIPT,
		};
	native = stacks_intern(stacks, frames, count,
			       i < script->count ? STACK_CUT : STACK_COMPLETE);
	script_frames_free(script);
	return native;
}

void script_report(const struct prober *prober)
{
	if (!(prober->config.scripts || prober->config.script_stacks) ||
	    prober->has_places || !prober->counts.calls)
		return;
	if (prober->interpreter)
		diag(DIAG_NOTE, DIAG_PROBE,
		     "--script: no call had a place: no prototype file knows "
		     "where %s, of this version, keeps it",
		     prober->interpreter);
	else
		diag(DIAG_NOTE, DIAG_PROBE,
		     "--script: no call had a place: no interpreter that is "
		     "known was there");
}
