/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/dictionary.h"

#include <stdlib.h>

#include "base/hash.h"
#include "recording/numbers.h"
#include "recording/recorded.h"
#include "stack/unwind.h"

/* What tells an entry from others of its kind. Zeroed where it isn't used. */
struct numbered_key {
	uint64_t first, second, third;
};

struct numbered {
	struct numbered_key key;
	uint32_t number;
	/* As they were told last: a thread's name; of a family whether it
	   has acquisitions that can't be seen. */
	char name[HEAP_THREAD_NAME];
	UT_hash_handle hh;
};

static void free_all(struct numbered **all)
{
	struct numbered *numbered, *next;

	HASH_ITER(hh, *all, numbered, next) {
		HASH_DEL(*all, numbered);
		free(numbered);
	}
}

void dictionary_fini(struct dictionary *dictionary)
{
	for (size_t i = 0; i < ARRAY_SIZE(dictionary->numbered); i++)
		free_all(&dictionary->numbered[i]);
	strbuf_fini(&dictionary->text);
	free(dictionary->frames);
	*dictionary = (struct dictionary){ 0 };
}

static struct numbered *find(const struct dictionary *dictionary,
			     enum entry_kind kind,
			     const struct numbered_key *key)
{
	struct numbered *numbered;

	HASH_FIND(hh, dictionary->numbered[kind], key, sizeof(*key), numbered);
	return numbered;
}

static struct numbered *add(struct dictionary *dictionary, enum entry_kind kind,
			    const struct numbered_key *key)
{
	struct numbered *numbered = xcalloc(1, sizeof(*numbered));

	numbered->key = *key;
	numbered->number = ++dictionary->last[kind];
	HASH_ADD(hh, dictionary->numbered[kind], key, sizeof(numbered->key),
		 numbered);
	return numbered;
}

/* An entry: its kind, its length, its number, the rest. */
static void put_entry(struct dictionary *dictionary, enum entry_kind kind,
		      uint32_t number, const struct strbuf *body)
{
	CLEANUP(strbuf_fini) struct strbuf all = { 0 };

	put_varint(&all, number);
	strbuf_add(&all, strbuf_text(body), body->length);
	put_varint(&dictionary->text, kind);
	put_bytes(&dictionary->text, all.text, all.length);
	dictionary->count++;
}

/* ---- families ---- */

static void put_family(struct dictionary *dictionary,
		       const struct family *family, bool missing)
{
	CLEANUP(strbuf_fini) struct strbuf body = { 0 };
	const struct numbered_key key = { .first = family->index };
	struct numbered *known = find(dictionary, ENTRY_FAMILY, &key);

	if (known && (known->name[0] != 0) == missing)
		return;
	if (!known)
		known = add(dictionary, ENTRY_FAMILY, &key);
	known->name[0] = missing;
	put_text(&body, family->name);
	put_text(&body, family->unit);
	put_varint(&body,
		   FAMILY_HAS_SIZE * family->has_size |
			   FAMILY_NULL_IS_NOTHING * family->null_is_nothing |
			   FAMILY_SHARED * family->shared |
			   FAMILY_PARTLY * family->partly |
			   FAMILY_COLLECTED * family->collected |
			   FAMILY_MISSING * missing);
	put_varint(&body, family->granularity);
	put_entry(dictionary, ENTRY_FAMILY, known->number, &body);
}

void dictionary_families(struct dictionary *dictionary,
			 const struct families *families, const bool *missing)
{
	for (size_t i = 0; i < families_count(families); i++)
		put_family(dictionary, families_at(families, i),
			   missing && missing[i]);
}

static bool is_there(const struct operand *operand)
{
	return operand->kind != OPERAND_NONE;
}

static unsigned flags_of(const struct family_function *function)
{
	return FUNCTION_ALWAYS_SUCCEEDS *
		       (function->success.compare == COMPARE_ALWAYS) |
	       FUNCTION_HAS_HANDLE * is_there(&function->handle) |
	       FUNCTION_HAS_OLD * is_there(&function->old) |
	       FUNCTION_HAS_SIZE * is_there(&function->size) |
	       FUNCTION_HAS_OLD_SIZE * is_there(&function->old_size) |
	       FUNCTION_HAS_PRODUCT * (function->size.kind == OPERAND_PRODUCT) |
	       FUNCTION_HAS_FORM * (function->form != NULL);
}

static uint32_t number_of_function(struct dictionary *dictionary,
				   const struct family_function *function)
{
	const struct numbered_key key = { .first = (uintptr_t)function };
	struct numbered *known = find(dictionary, ENTRY_FUNCTION, &key);
	CLEANUP(strbuf_fini) struct strbuf body = { 0 };

	if (known)
		return known->number;
	known = add(dictionary, ENTRY_FUNCTION, &key);
	put_varint(&body, function->family->index + 1);
	put_varint(&body, function->act);
	put_varint(&body, flags_of(function));
	put_text(&body, function->name);
	put_text(&body, function->form);
	put_entry(dictionary, ENTRY_FUNCTION, known->number, &body);
	return known->number;
}

/* ---- stacks ---- */

static uint32_t number_of_code(struct dictionary *dictionary,
			       const struct code *code)
{
	const struct numbered_key key = { .first = (uintptr_t)code };
	struct numbered *known = find(dictionary, ENTRY_CODE, &key);
	CLEANUP(strbuf_fini) struct strbuf body = { 0 };
	const uint8_t *id = NULL;
	size_t size = 0;

	if (known)
		return known->number;
	known = add(dictionary, ENTRY_CODE, &key);
	if (code->image)
		id = image_build_id(code->image, &size);
	put_text(&body, code->path);
	put_varint(&body, CODE_HAS_IMAGE * (code->image != NULL));
	put_bytes(&body, id ? (const char *)id : "", id ? size : 0);
	put_entry(dictionary, ENTRY_CODE, known->number, &body);
	return known->number;
}

static uint32_t number_of_frame(struct dictionary *dictionary,
				const struct frame *frame)
{
	const struct numbered_key key = { (uintptr_t)frame->code,
					  frame->address, frame->method };
	struct numbered *known = find(dictionary, ENTRY_FRAME, &key);
	CLEANUP(strbuf_fini) struct strbuf body = { 0 };
	uint32_t code;

	if (known)
		return known->number;
	code = number_of_code(dictionary, frame->code);
	known = add(dictionary, ENTRY_FRAME, &key);
	put_varint(&body, code);
	put_varint(&body, frame->address);
	put_varint(&body, frame->method);
	put_entry(dictionary, ENTRY_FRAME, known->number, &body);
	dictionary->frames = xgrow(dictionary->frames, known->number - 1,
				   &dictionary->frame_room,
				   sizeof(*dictionary->frames));
	dictionary->frames[known->number - 1] = *frame;
	return known->number;
}

static uint32_t add_stack(struct dictionary *dictionary, stack_id stack,
			  uint64_t outer)
{
	const struct numbered_key key = { .first = stack };
	CLEANUP(strbuf_fini) struct strbuf body = { 0 };
	struct numbered *added;
	struct frame frame;
	uint32_t number;

	(void)stacks_frames(dictionary->stacks, stack, &frame, 1);
	number = number_of_frame(dictionary, &frame);
	added = add(dictionary, ENTRY_STACK, &key);
	put_varint(&body, outer);
	put_varint(&body, number);
	put_entry(dictionary, ENTRY_STACK, added->number, &body);
	return added->number;
}

#define ENDS 3

/* What is outside of the stack's innermost frame: an end, or a stack. */
static uint64_t outside_of(const struct dictionary *dictionary, stack_id stack)
{
	const struct numbered_key key = {
		.first = stacks_caller(dictionary->stacks, stack),
	};
	const struct numbered *outer;

	if (key.first == STACK_NONE)
		return stacks_end(dictionary->stacks, stack);
	outer = find(dictionary, ENTRY_STACK, &key);
	return ENDS + (outer ? outer->number : 0);
}

/* Outer frames come first. 0: there are no frames. */
static uint32_t number_of_stack(struct dictionary *dictionary, stack_id stack)
{
	stack_id path[UNWIND_DEPTH_MAX];
	unsigned count = 0;
	uint32_t number = 0;

	while (stack != STACK_NONE && count < ARRAY_SIZE(path)) {
		const struct numbered_key key = { .first = stack };
		struct numbered *known = find(dictionary, ENTRY_STACK, &key);

		if (known) {
			number = known->number;
			break;
		}
		path[count++] = stack;
		stack = stacks_caller(dictionary->stacks, stack);
	}
	while (count--)
		number = add_stack(dictionary, path[count],
				   outside_of(dictionary, path[count]));
	return number;
}

uint32_t dictionary_site(struct dictionary *dictionary,
			 const struct family_function *function, stack_id stack)
{
	const struct numbered_key key = { .first = (uintptr_t)function,
					  .second = stack };
	struct numbered *known = find(dictionary, ENTRY_SITE, &key);
	CLEANUP(strbuf_fini) struct strbuf body = { 0 };

	if (known)
		return known->number;
	put_varint(&body, number_of_function(dictionary, function));
	put_varint(&body, number_of_stack(dictionary, stack));
	known = add(dictionary, ENTRY_SITE, &key);
	put_entry(dictionary, ENTRY_SITE, known->number, &body);
	return known->number;
}

/* ---- processes and threads ---- */

uint32_t dictionary_process(struct dictionary *dictionary,
			    const struct watched *process)
{
	const struct numbered_key key = { .first = process->pid,
					  .second = process->start };
	struct numbered *known = find(dictionary, ENTRY_PROCESS, &key);
	CLEANUP(strbuf_fini) struct strbuf body = { 0 };

	if (known)
		return known->number;
	known = add(dictionary, ENTRY_PROCESS, &key);
	put_varint(&body, process->pid);
	put_varint(&body, process->start);
	put_varint(&body,
		   PROCESS_COMPLETE * process->complete |
			   PROCESS_INHERITED * (process->inherited != NULL));
	put_text(&body, process->program);
	put_text(&body, process->name);
	put_varint(&body, process->inherited_count);
	for (size_t i = 0; i < process->inherited_count; i++)
		put_varint(&body, process->inherited[i]);
	put_entry(dictionary, ENTRY_PROCESS, known->number, &body);
	return known->number;
}

static void put_thread(struct dictionary *dictionary, uint64_t process,
		       pid_t tid, struct numbered *thread, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf body = { 0 };

	strncpy(thread->name, name, sizeof(thread->name) - 1);
	put_varint(&body, process);
	put_varint(&body, tid);
	put_text(&body, thread->name);
	put_entry(dictionary, ENTRY_THREAD, thread->number, &body);
}

uint32_t dictionary_thread(struct dictionary *dictionary,
			   const struct watched *process, pid_t tid)
{
	const struct numbered_key key = {
		.first = dictionary_process(dictionary, process),
		.second = tid,
	};
	struct numbered *known = find(dictionary, ENTRY_THREAD, &key);

	if (known)
		return known->number;
	known = add(dictionary, ENTRY_THREAD, &key);
	put_thread(dictionary, key.first, tid, known,
		   heap_thread_name(process->heap, tid));
	return known->number;
}

void dictionary_rename(struct dictionary *dictionary,
		       const struct watched *process)
{
	const uint32_t number = dictionary_process(dictionary, process);
	struct numbered *thread, *next;

	HASH_ITER(hh, dictionary->numbered[ENTRY_THREAD], thread, next) {
		pid_t tid = thread->key.second;
		const char *name = heap_thread_name(process->heap, tid);

		if (thread->key.first == number && strcmp(name, thread->name))
			put_thread(dictionary, number, tid, thread, name);
	}
}

/* ---- names ---- */

static void put_name(const struct frame_name *name, struct strbuf *out)
{
	put_text(out, name->function);
	put_text(out, name->linkage);
	put_varint(out, name->offset);
	put_text(out, name->file);
	put_varint(out, name->line);
	put_varint(out, name->start_line);
	put_varint(out, NAME_INLINED * name->inlined);
}

static void put_names(struct namer *namer, const struct frame *frame,
		      struct strbuf *out)
{
	const struct frame_name *names;
	size_t count = namer_names(namer, frame, &names);

	put_varint(out, count);
	for (size_t i = 0; i < count; i++)
		put_name(&names[i], out);
}

#define NAMES_TEXT_MAX (1u << 20)

static void hand_over(struct dictionary *dictionary,
		      void (*taken)(void *context), void *context)
{
	if (dictionary->text.length > NAMES_TEXT_MAX)
		taken(context);
}

static uint32_t known_frame(const struct dictionary *dictionary,
			    const struct frame *frame)
{
	const struct numbered_key key = { (uintptr_t)frame->code,
					  frame->address, frame->method };
	const struct numbered *known = find(dictionary, ENTRY_FRAME, &key);

	return known ? known->number : 0;
}

/* Between a frame and the one inside of it, or what it has called. */
static void put_tails(struct dictionary *dictionary, struct namer *namer,
		      const struct frame *outer, const struct frame *inner,
		      const char *callee)
{
	const struct numbered_key key = {
		.first = known_frame(dictionary, outer),
		.second = inner ? known_frame(dictionary, inner) : 0,
		.third = inner ? 0 : (uintptr_t)callee,
	};
	CLEANUP(strbuf_fini) struct strbuf body = { 0 };
	struct frame tails[NAMER_TAILS_MAX];
	size_t count;

	if (!key.first || (inner && !key.second))
		return;
	count = namer_tails(namer, outer, inner, callee, tails);
	if (!count || find(dictionary, ENTRY_TAILS, &key))
		return;
	put_varint(&body, key.first);
	put_varint(&body, key.second);
	put_text(&body, inner ? "" : callee);
	put_varint(&body, count);
	for (size_t i = 0; i < count; i++) {
		put_varint(&body, tails[i].address);
		put_names(namer, &tails[i], &body);
	}
	put_entry(dictionary, ENTRY_TAILS,
		  add(dictionary, ENTRY_TAILS, &key)->number, &body);
}

static void put_all_tails(struct dictionary *dictionary, struct namer *namer,
			  void (*taken)(void *context), void *context)
{
	struct numbered *each, *next;
	struct frame frames[2];

	HASH_ITER(hh, dictionary->numbered[ENTRY_STACK], each, next) {
		if (stacks_frames(dictionary->stacks, each->key.first, frames,
				  2) == 2)
			put_tails(dictionary, namer, &frames[1], &frames[0],
				  NULL);
		hand_over(dictionary, taken, context);
	}
	HASH_ITER(hh, dictionary->numbered[ENTRY_SITE], each, next) {
		const struct family_function *function =
			(const void *)(uintptr_t)each->key.first;

		if (stacks_frames(dictionary->stacks, each->key.second, frames,
				  1))
			put_tails(dictionary, namer, &frames[0], NULL,
				  function->name);
		hand_over(dictionary, taken, context);
	}
}

void dictionary_names(struct dictionary *dictionary, struct namer *namer,
		      void (*taken)(void *context), void *context)
{
	const uint32_t count = dictionary->last[ENTRY_FRAME];

	namer_prepare(namer, dictionary->frames, count);
	for (uint32_t i = 0; i < count; i++) {
		CLEANUP(strbuf_fini) struct strbuf body = { 0 };

		put_names(namer, &dictionary->frames[i], &body);
		put_entry(dictionary, ENTRY_NAMES, i + 1, &body);
		hand_over(dictionary, taken, context);
	}
	put_all_tails(dictionary, namer, taken, context);
}
