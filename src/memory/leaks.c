/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/leaks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "memory/allocator.h"
#include "memory/block_names.h"
#include "memory/copy.h"
#include "memory/heap_read.h"
#include "memory/kept_graph.h"
#include "memory/object_blocks.h"
#include "memory/object_links.h"
#include "memory/php_tables.h"
#include "memory/python_garbage.h"
#include "memory/with_constants.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/procmem.h"
#include "sysdeps/linux/vitals.h"
#include "tracee/attach.h"

/* ---- the picture ---- */

/* Of a process that has swapped, which of its mappings have is told by smaps,
   which takes longer. */
static bool has_swapped(pid_t pid)
{
	struct vitals vitals;

	return !vitals_read("", pid, &vitals) && vitals.swapped_bytes;
}

/* Who didn't ask for it mustn't have to wait for long. */
static char *refuse_size(const struct leaks *leaks, uint64_t bytes,
			 bool stopped)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	strbuf_printf(&text, "process %d has ", (int)leaks->pid);
	strbuf_add_grouped(&text, bytes);
	strbuf_puts(&text, " bytes to be looked through");
	if (stopped && leaks->uncopied)
		strbuf_printf(&text,
			      ", and would have to stand still "
			      "meanwhile: %s",
			      leaks->uncopied);
	return xstrdup(strbuf_text(&text));
}

/* Whether there are too few addresses for so much more. */
static bool is_limited(uint64_t bytes)
{
	struct rlimit limit;
	struct vitals own;

	return !getrlimit(RLIMIT_AS, &limit) &&
	       limit.rlim_cur != RLIM_INFINITY &&
	       !vitals_read("", getpid(), &own) &&
	       (limit.rlim_cur < own.virtual_bytes ||
		limit.rlim_cur - own.virtual_bytes < bytes);
}

static int prepare(struct leaks *leaks, const struct leaks_options *options,
		   bool swapped, struct copy *copy, char **message_ret)
{
	uint64_t bytes = 0, most = options->most;
	int err = mappings_read(leaks->pid, swapped, &leaks->mappings);

	if (err)
		return err;
	if (copy)
		leaks->uncopied =
			copy_refuse(leaks->pid, &leaks->mappings, copy);
	if (!copy || leaks->uncopied)
		most = options->most_stopped;
	err = picture_prepare(&leaks->mappings, most, &leaks->picture, &bytes);
	mappings_fini(&leaks->mappings);
	if (err == -EFBIG)
		*message_ret = refuse_size(leaks, bytes, most != options->most);
	if (err == -ENOMEM)
		*message_ret = xasprintf(
			"process %d has %llu bytes to be looked through, and "
			"%s",
			(int)leaks->pid, (unsigned long long)bytes,
			is_limited(leaks->picture.room_bytes) ?
				"calltrap may not have so much "
				"(ulimit -v)" :
				"so much isn't free on this machine");
	return err;
}

static int read_process(struct leaks *leaks, pid_t pid, bool swapped)
{
	struct procmem memory;
	int err = mappings_read(pid, swapped, &leaks->mappings);

	if (err)
		return err;
	procmem_init(&memory, pid);
	err = picture_take(&memory, &leaks->mappings, leaks->pid,
			   &leaks->picture);
	procmem_fini(&memory);
	leaks->mappings.pid = leaks->pid;
	return err;
}

static int read_copy(struct leaks *leaks, struct copy *copy, bool swapped)
{
	int err = read_process(leaks, copy->pid, swapped);
	uint64_t again;
	bool reaped;

	if (!err && !procfs_is_alive(copy->pid))
		err = -ERR_GONE;
	again = copy_end(copy, &reaped);
	if (again > leaks->pause_ns)
		leaks->pause_ns = again;
	leaks->copied = true;
	leaks->zombie = !reaped;
	return err;
}

static int read_frozen(struct leaks *leaks, bool swapped, char **message_ret)
{
	int err = freeze_begin(leaks->pid, &leaks->freeze, message_ret);

	if (err)
		return err;
	err = read_process(leaks, leaks->pid, swapped);
	leaks->pause_ns = freeze_end(&leaks->freeze);
	return err;
}

static int read_somehow(struct leaks *leaks,
			const struct leaks_options *options, struct copy *copy,
			bool swapped, char **message_ret)
{
	const uint64_t most = options->most_stopped;

	leaks->copied = false;
	if (copy && !leaks->uncopied) {
		if (!copy_begin(copy, leaks->pid, &leaks->freeze,
				&leaks->pause_ns))
			return read_copy(leaks, copy, swapped);
		leaks->uncopied = "none of its tasks could make one";
	}
	if (most && leaks->picture.room_bytes > most) {
		*message_ret =
			refuse_size(leaks, leaks->picture.room_bytes, true);
		return -EFBIG;
	}
	return read_frozen(leaks, swapped, message_ret);
}

/* What grows fast is prepared for anew, so often. */
#define ATTEMPTS 5

static int take_picture(struct leaks *leaks,
			const struct leaks_options *options, char **message_ret)
{
	bool copied = options->copy;
	const bool swapped = has_swapped(leaks->pid);
	struct copy copy;
	int err = -EAGAIN;

	for (unsigned i = 0; err == -EAGAIN && i < ATTEMPTS; i++) {
		picture_fini(&leaks->picture);
		err = prepare(leaks, options, swapped, copied ? &copy : NULL,
			      message_ret);
		if (err)
			return err;
		err = read_somehow(leaks, options, copied ? &copy : NULL,
				   swapped, message_ret);
		if (!err)
			break;
		mappings_fini(&leaks->mappings);
		freeze_fini(&leaks->freeze);
		if (err == -ERR_GONE && leaks->copied) {
			leaks->uncopied = "it was killed";
			copied = false;
			err = -EAGAIN;
		}
	}
	if (err == -EAGAIN)
		*message_ret = xasprintf("process %d grows faster than it can "
					 "be read: try again",
					 (int)leaks->pid);
	return err;
}

/* ---- groups ---- */

struct group_key {
	uint64_t size;
	const char *name; /* as heads_class() returned it: one for one table */
	uint32_t kind;
	uint32_t has_text;
};

struct group_entry {
	struct group_key key;
	struct leak_group group;
	UT_hash_handle hh;
};

static void add_to_group(struct group_entry **table, struct block_names *names,
			 const struct block *block)
{
	const uint64_t size = block_usable(block);
	const char *name = block_names_class(names, block);
	char *text = name ? NULL : block_names_text(names, block);
	struct group_entry *entry;
	struct group_key key;

	memset(&key, 0, sizeof(key));
	key = (struct group_key){ size, name, block->mark, text != NULL };
	HASH_FIND(hh, *table, &key, sizeof(key), entry);
	if (!entry) {
		entry = xcalloc(1, sizeof(*entry));
		entry->key = key;
		entry->group = (struct leak_group){
			.kind = block->mark,
			.size = size,
			.name = name ? xstrdup(name) : NULL,
			.text = text,
			.first = block->address,
		};
		text = NULL;
		HASH_ADD(hh, *table, key, sizeof(key), entry);
	}
	free(text);
	entry->group.blocks++;
}

static int compare_groups(const void *a, const void *b)
{
	const struct leak_group *x = a, *y = b;
	const uint64_t first = x->blocks * x->size;
	const uint64_t second = y->blocks * y->size;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (first != second)
		return first > second ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void take_groups(struct leaks *leaks, struct group_entry *table)
{
	struct group_entry *entry, *next;

	leaks->groups = xcalloc(HASH_COUNT(table) + 1, sizeof(*leaks->groups));
	HASH_ITER(hh, table, entry, next) {
		leaks->groups[leaks->group_count++] = entry->group;
		HASH_DEL(table, entry);
		free(entry);
	}
	qsort(leaks->groups, leaks->group_count, sizeof(*leaks->groups),
	      compare_groups);
}

void leaks_group(struct leaks *leaks, struct block_names *names)
{
	const struct blocks *blocks = &leaks->glibc.blocks;
	struct group_entry *table = NULL;

	for (size_t i = 0; i < blocks->count; i++) {
		const struct block *block = &blocks->list[i];

		if (block_is_used(block) && block->mark != REACH_REACHED)
			add_to_group(&table, names, block);
	}
	take_groups(leaks, table);
}

static void add_objects(struct leaks *leaks)
{
	struct with_constants both;
	struct procmem constants;

	procmem_init(&constants, leaks->pid);
	with_constants_init(&both, &leaks->picture, &leaks->mappings,
			    &constants.memory);
	if (object_blocks_add(&both.memory, &leaks->mappings, &leaks->glibc))
		leaks->links = object_links_new(&leaks->picture,
						&leaks->mappings,
						&leaks->glibc);
	procmem_fini(&constants);
}

static char *tell_no_heap(const struct leaks *leaks)
{
	const char *other = allocator_other(&leaks->mappings, true);

	return xasprintf(
		"process %d (%s): no heap of glibc's or musl's malloc was "
		"found, and %s is understood%s%s",
		(int)leaks->pid, leaks->name,
		other ? "none but theirs" : "no other",
		other ? "; this one's is " : "", other ? other : "");
}

static int find(struct leaks *leaks, const struct leaks_options *options,
		char **message_ret)
{
	struct block_names *names;
	int err = take_picture(leaks, options, message_ret);

	if (err)
		return err;
	err = heap_read(&leaks->picture.memory, &leaks->mappings,
			&leaks->glibc);
	if (err) {
		*message_ret = tell_no_heap(leaks);
		return err;
	}
	if (options->listed)
		python_garbage_find(&leaks->picture, &leaks->mappings,
				    &leaks->freeze, &leaks->glibc);
	if (options->objects)
		add_objects(leaks);
	php_tables_mark(&leaks->picture, &leaks->mappings, &leaks->glibc);
	reach_find(&leaks->picture, &leaks->mappings, &leaks->freeze,
		   &leaks->glibc,
		   &(struct reach_options){
			   .ways = options->ways,
			   .rule = object_links_rule(leaks->links),
		   },
		   &leaks->reach);
	names = block_names_new(leaks);
	leaks_group(leaks, names);
	block_names_free(names);
	return 0;
}

int leaks_find(pid_t pid, const struct leaks_options *options,
	       struct leaks *ret, char **message_ret)
{
	int err;

	*ret = (struct leaks){ .pid = pid };
	*message_ret = NULL;
	procfs_comm(pid, ret->name);
	err = find(ret, options, message_ret);
	if (!err)
		return 0;
	if (!*message_ret)
		*message_ret = attach_explain(pid, err);
	leaks_fini(ret);
	return err;
}

bool leaks_pages_known(const struct leaks *leaks)
{
	return !leaks->swapped && (leaks->kept || leaks->picture.count);
}

bool leaks_huge_known(const struct leaks *leaks)
{
	return leaks_pages_known(leaks) && leaks->picture.huge_known;
}

struct page_sums leaks_pages(const struct leaks *leaks,
			     const struct block *block, size_t *hint)
{
	if (leaks->kept)
		return kept_graph_pages(leaks->kept,
					block - leaks->glibc.blocks.list);
	return picture_count(&leaks->picture, hint, block->address,
			     block->address + block_usable(block));
}

void leaks_fini(struct leaks *leaks)
{
	kept_graph_free(leaks->kept);
	object_links_free(leaks->links);
	for (size_t i = 0; i < leaks->group_count; i++) {
		free(leaks->groups[i].name);
		free(leaks->groups[i].text);
	}
	free(leaks->groups);
	reach_result_fini(&leaks->reach);
	glibc_fini(&leaks->glibc);
	picture_fini(&leaks->picture);
	mappings_fini(&leaks->mappings);
	freeze_fini(&leaks->freeze);
}
