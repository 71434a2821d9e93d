/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap/private.h"

/* So many can be told apart in a live block. */
#define THREADS_MAX UINT16_MAX

struct library_name {
	char *name;
	UT_hash_handle hh;
};

struct library_pointer {
	const char *given;
	const char *name;
	UT_hash_handle hh;
};

static size_t recent_slot(const void *pointer)
{
	return ((uintptr_t)pointer * 0x9e3779b97f4a7c15u) >> 32 & (RECENT - 1);
}

/* Modules come with texts of their own for each name. */
static const struct library_pointer *find_pointer(struct heap *heap,
						  const char *library)
{
	struct library_pointer *pointer;
	struct library_name *name;

	HASH_FIND_PTR(heap->library_pointers, &library, pointer);
	if (pointer)
		return pointer;
	HASH_FIND_STR(heap->libraries, library, name);
	if (!name) {
		name = xcalloc(1, sizeof(*name));
		name->name = xstrdup(library);
		HASH_ADD_KEYPTR(hh, heap->libraries, name->name,
				strlen(name->name), name);
	}
	pointer = xcalloc(1, sizeof(*pointer));
	pointer->given = library;
	pointer->name = name->name;
	HASH_ADD_PTR(heap->library_pointers, given, pointer);
	return pointer;
}

const char *heap_library(struct heap *heap, const char *library)
{
	const struct library_pointer **recent;

	if (!library)
		return NULL;
	recent = &heap->recent_pointers[recent_slot(library)];
	if (!*recent || (*recent)->given != library)
		*recent = find_pointer(heap, library);
	return (*recent)->name;
}

static struct known_act *place_of(const struct heap *heap,
				  const struct family_function *function,
				  stack_id stack)
{
	const uint64_t hash =
		(stack ^ (uintptr_t)function) * 0x9e3779b97f4a7c15u;

	return &heap->known_acts[hash >> 32 & (KNOWN_ACTS - 1)];
}

static struct known_act *known_place(const struct heap *heap,
				     const struct heap_act *act)
{
	return place_of(heap, act->function, act->stack);
}

const struct known_act *heap_known(const struct heap *heap,
				   const struct family_function *function,
				   stack_id stack)
{
	const struct known_act *known;

	if (!heap->known_acts)
		return NULL;
	known = place_of(heap, function, stack);
	return known->stack == stack && known->function == function ? known :
								      NULL;
}

void heap_recognise(struct heap *heap, struct heap_act *act)
{
	struct known_act *known;

	if (!heap->known_acts)
		heap->known_acts =
			xcalloc(KNOWN_ACTS, sizeof(*heap->known_acts));
	known = known_place(heap, act);
	if (known->stack != act->stack || known->function != act->function ||
	    known->given != act->library)
		*known = (struct known_act){
			.function = act->function,
			.given = act->library,
			.library = heap_library(heap, act->library),
			.stack = act->stack,
			.is_plain = heap_is_plain(heap, act->function),
		};
	act->library = known->library;
	act->use = known->use;
	if (!act->site)
		act->site = known->site;
}

/* Still the act's; or NULL. */
static struct known_act *known_of(const struct heap *heap,
				  const struct heap_act *act)
{
	struct known_act *known = heap->known_acts ? known_place(heap, act) :
						     NULL;

	return known && known->stack == act->stack &&
			       known->function == act->function &&
			       known->library == act->library ?
		       known :
		       NULL;
}

/* Where there are too many, those of other stacks share one. */
void heap_know_site(struct heap *heap, const struct heap_act *act,
		    const struct site *site)
{
	struct known_act *known = known_of(heap, act);

	if (known && site->stack == act->stack && site->library == act->library)
		known->site = site->number;
}

void heap_know_use(struct heap *heap, const struct heap_act *act,
		   struct heap_use *use)
{
	struct known_act *known = known_of(heap, act);

	if (known)
		known->use = use;
}

struct thread_number {
	pid_t tid;
	uint16_t number;
	bool gone;
	char name[HEAP_THREAD_NAME];
	UT_hash_handle hh;
};

/* One that is gone keeps the name that it had. */
static void name_thread(const struct heap *heap, struct thread_number *thread)
{
	char name[HEAP_THREAD_NAME] = "";

	if (!heap->options.thread_name || thread->gone)
		return;
	heap->options.thread_name(thread->tid, name);
	if (*name)
		memcpy(thread->name, name, sizeof(name));
	else
		thread->gone = true;
}

void heap_name_threads(struct heap *heap, bool all)
{
	for (size_t i = all ? 0 : heap->named_count; i < heap->thread_count;
	     i++) {
		struct thread_number *thread;

		HASH_FIND_INT(heap->threads, &heap->tids[i], thread);
		if (thread)
			name_thread(heap, thread);
	}
	heap->named_count = heap->thread_count;
}

void heap_set_thread_name(struct heap *heap, pid_t tid, const char *name)
{
	struct thread_number *thread;

	HASH_FIND_INT(heap->threads, &tid, thread);
	if (thread)
		snprintf(thread->name, sizeof(thread->name), "%s", name);
}

const char *heap_thread_name(const struct heap *heap, pid_t tid)
{
	struct thread_number *thread;

	HASH_FIND_INT(heap->threads, &tid, thread);
	return thread ? thread->name : "";
}

pid_t heap_site_thread(const struct heap *heap, const struct site *site)
{
	return site->thread ? heap->tids[site->thread - 1] : 0;
}

uint16_t heap_find_thread(struct heap *heap, pid_t tid)
{
	struct thread_number *thread;

	HASH_FIND_INT(heap->threads, &tid, thread);
	if (!thread && heap->thread_count == THREADS_MAX)
		return 0;
	if (!thread) {
		thread = xcalloc(1, sizeof(*thread));
		thread->tid = tid;
		heap->tids = xgrow(heap->tids, heap->thread_count,
				   &heap->thread_room, sizeof(*heap->tids));
		heap->tids[heap->thread_count++] = tid;
		thread->number = heap->thread_count;
		HASH_ADD_INT(heap->threads, tid, thread);
		name_thread(heap, thread);
	}
	heap->last_tid = tid;
	heap->last_thread = thread->number;
	return thread->number;
}

struct use_key {
	const struct family_function *function;
	const char *library;
	uint64_t component;
};

struct use_entry {
	struct use_key key;
	struct heap_use use;
	UT_hash_handle hh;
};

static struct use_entry *find_use(struct heap *heap,
				  const struct family_function *function,
				  const char *library, unsigned component)
{
	struct use_key key = { function, library, component };
	struct use_entry *entry;

	HASH_FIND(hh, heap->uses, &key, sizeof(key), entry);
	if (entry)
		return entry;
	entry = xcalloc(1, sizeof(*entry));
	entry->key = key;
	entry->use.function = function;
	entry->use.library = library;
	entry->use.component = component;
	HASH_ADD(hh, heap->uses, key, sizeof(key), entry);
	heap->use_list = xgrow(heap->use_list, heap->use_count, &heap->use_room,
			       sizeof(*heap->use_list));
	heap->use_list[heap->use_count++] = entry;
	return entry;
}

struct heap_use *heap_use(struct heap *heap,
			  const struct family_function *function,
			  const char *library, unsigned component)
{
	size_t place = recent_slot(function) ^ recent_slot(library);
	struct use_entry **recent = &heap->recent_uses[place];

	if (!*recent || (*recent)->key.function != function ||
	    (*recent)->key.library != library ||
	    (*recent)->key.component != component)
		*recent = find_use(heap, function, library, component);
	return &(*recent)->use;
}

size_t heap_use_count(const struct heap *heap)
{
	return heap->use_count;
}

const struct heap_use *heap_use_at(const struct heap *heap, size_t index)
{
	return &heap->use_list[index]->use;
}

struct holder_key {
	const struct family *family;
	const char *library;
	uint64_t component;
};

struct holder_entry {
	struct holder_key key;
	struct heap_holder holder;
	UT_hash_handle hh;
};

struct heap_holder *heap_holder(struct heap *heap, const struct family *family,
				const char *library, unsigned component)
{
	struct holder_key key = { family, library, component };
	struct holder_entry *entry;

	HASH_FIND(hh, heap->holders, &key, sizeof(key), entry);
	if (entry)
		return &entry->holder;
	entry = xcalloc(1, sizeof(*entry));
	entry->key = key;
	entry->holder.family = family;
	entry->holder.library = library;
	entry->holder.component = component;
	HASH_ADD(hh, heap->holders, key, sizeof(key), entry);
	heap->holder_list = xgrow(heap->holder_list, heap->holder_count,
				  &heap->holder_room,
				  sizeof(*heap->holder_list));
	heap->holder_list[heap->holder_count++] = entry;
	return &entry->holder;
}

size_t heap_holder_count(const struct heap *heap)
{
	return heap->holder_count;
}

const struct heap_holder *heap_holder_at(const struct heap *heap, size_t index)
{
	return &heap->holder_list[index]->holder;
}

static void libraries_fini(struct heap *heap)
{
	struct library_pointer *pointer, *next_pointer;
	struct library_name *name, *next_name;

	HASH_ITER(hh, heap->library_pointers, pointer, next_pointer) {
		HASH_DEL(heap->library_pointers, pointer);
		free(pointer);
	}
	HASH_ITER(hh, heap->libraries, name, next_name) {
		HASH_DEL(heap->libraries, name);
		free(name->name);
		free(name);
	}
}

void heap_registry_fini(struct heap *heap)
{
	struct thread_number *thread, *next;

	HASH_ITER(hh, heap->threads, thread, next) {
		HASH_DEL(heap->threads, thread);
		free(thread);
	}
	free(heap->tids);
	free(heap->known_acts);
	HASH_CLEAR(hh, heap->uses);
	for (size_t i = 0; i < heap->use_count; i++)
		free(heap->use_list[i]);
	free(heap->use_list);
	HASH_CLEAR(hh, heap->holders);
	for (size_t i = 0; i < heap->holder_count; i++)
		free(heap->holder_list[i]);
	free(heap->holder_list);
	libraries_fini(heap);
}

size_t heap_registry_bytes(const struct heap *heap)
{
	return (heap->known_acts ? KNOWN_ACTS * sizeof(struct known_act) : 0) +
	       heap->use_count * sizeof(struct use_entry) +
	       heap->holder_count * sizeof(struct holder_entry) +
	       heap->thread_count * sizeof(struct thread_number);
}
