/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/footprint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "heap/live.h"
#include "report/file/path_pattern.h"
#include "report/file/spool.h"
#include "report/file/whole_file.h"

/* One process. */
struct footprint {
	pid_t pid;
	struct live *ids; /* by family: a block's .site is its number */
	size_t families;
	uint32_t *unused; /* numbers that were given back */
	size_t unused_count, unused_room;
	uint32_t last; /* the largest number so far */
	uint64_t calls;
	struct spool spool;
	UT_hash_handle hh; /* by pid */
};

struct heap_footprint {
	char *path;
	struct footprint *processes;
};

/* ---- numbers ---- */

static uint32_t number_take(struct footprint *own)
{
	return own->unused_count ? own->unused[--own->unused_count] :
				   ++own->last;
}

static void number_give_back(struct footprint *own, uint32_t id)
{
	if (!id)
		return;
	own->unused = xgrow(own->unused, own->unused_count, &own->unused_room,
			    sizeof(*own->unused));
	own->unused[own->unused_count++] = id;
}

/* 0 when there is no block of that handle. */
static uint32_t block_remove(struct live *ids, uint64_t handle)
{
	struct live_block block;

	return live_remove(ids, handle, &block) ? block.site : 0;
}

static void block_add(struct live *ids, uint64_t handle, uint32_t id)
{
	live_add(ids, &(struct live_block){ .handle = handle, .site = id });
}

/* ---- lines ---- */

static void end_line(struct footprint *own)
{
	strbuf_putc(&own->spool.text, '\n');
	own->calls++;
	spool_added(&own->spool);
}

static void put_release(struct footprint *own, uint32_t id)
{
	strbuf_printf(&own->spool.text, "f %" PRIu32, id);
	end_line(own);
	number_give_back(own, id);
}

static void put_acquisition(struct footprint *own, const struct heap_act *act,
			    uint32_t id)
{
	struct strbuf *out = &own->spool.text;

	if (act->function->size.kind == OPERAND_PRODUCT)
		strbuf_printf(out, "c %" PRIu32 " %" PRIu64 " %" PRIu64, id,
			      act->count, act->item);
	else
		strbuf_printf(out, "m %" PRIu32 " %" PRIu64, id, act->size);
	end_line(own);
}

static void put_resize(struct footprint *own, const struct heap_act *act,
		       uint32_t id, uint32_t old)
{
	strbuf_printf(&own->spool.text, "r %" PRIu32 " %" PRIu32 " %" PRIu64,
		      id, old, act->size);
	end_line(own);
}

/* ---- acts ---- */

/* A replay has no pages of its own, and no descriptors. */
static bool is_block(const struct heap_act *act)
{
	return act->function->family->has_size &&
	       !act->function->family->granularity;
}

static struct footprint *add_process(struct heap_footprint *footprint,
				     pid_t pid)
{
	struct footprint *own = xcalloc(1, sizeof(*own));
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	int err;

	own->pid = pid;
	path_pattern_expand(footprint->path, pid, &path);
	err = spool_open(&own->spool, strbuf_text(&path));
	if (err)
		own->spool = (struct spool){ .fd = -1, .error = err };
	HASH_ADD_INT(footprint->processes, pid, own);
	return own;
}

static struct footprint *find_process(const struct heap_footprint *footprint,
				      pid_t pid)
{
	struct footprint *own;

	HASH_FIND_INT(footprint->processes, &pid, own);
	return own;
}

static struct footprint *of_act(struct heap_footprint *footprint,
				const struct observed_act *act)
{
	struct footprint *own = find_process(footprint, act->process->pid);

	return own ? own : add_process(footprint, act->process->pid);
}

/* Those of a recording become known while it is read. */
static struct live *ids_of(struct footprint *own, const struct heap_act *act)
{
	const size_t index = act->function->family->index;

	if (index >= own->families) {
		own->ids =
			xreallocarray(own->ids, index + 1, sizeof(*own->ids));
		memset(&own->ids[own->families], 0,
		       (index + 1 - own->families) * sizeof(*own->ids));
		own->families = index + 1;
	}
	return &own->ids[index];
}

/* Where another block still is, its release was not seen. */
static void settle(struct footprint *own, const struct heap_act *act,
		   uint64_t handle, uint32_t id)
{
	struct live *ids = ids_of(own, act);
	uint32_t there = block_remove(ids, handle);

	if (there)
		put_release(own, there);
	block_add(ids, handle, id);
}

static bool is_done_at_entry(const struct heap_act *act)
{
	return act->function->act == FAMILY_RELEASE &&
	       act->function->success.compare == COMPARE_ALWAYS;
}

uint64_t heap_footprint_taken(struct heap_footprint *footprint,
			      const struct observed_act *act)
{
	const struct heap_act *it = act->act;
	bool resize = it->function->act == FAMILY_RESIZE;
	struct footprint *own;
	uint32_t id;

	if (!is_block(it))
		return 0;
	own = of_act(footprint, act);
	id = block_remove(ids_of(own, it), resize ? it->old : it->handle);
	if (!is_done_at_entry(it))
		return id;
	put_release(own, id);
	return 0;
}

static void end_release(struct footprint *own, const struct observed_act *act)
{
	const struct heap_act *it = act->act;

	if (is_done_at_entry(it))
		return;
	if (!act->outcome.done && act->token)
		settle(own, it, it->handle, act->token);
	put_release(own, act->outcome.done ? act->token : 0);
}

static void end_resize(struct footprint *own, const struct observed_act *act)
{
	const struct heap_act *it = act->act;
	uint32_t old = act->token, id = 0;

	if (!act->outcome.done && old)
		settle(own, it, it->old, old);
	if (act->outcome.done && it->handle) {
		id = number_take(own);
		settle(own, it, it->handle, id);
	}
	put_resize(own, it, id, old);
	if (act->outcome.done)
		number_give_back(own, old);
}

static void end_acquisition(struct footprint *own,
			    const struct observed_act *act)
{
	const struct heap_act *it = act->act;
	uint32_t id = 0;

	if (act->outcome.done) {
		id = number_take(own);
		settle(own, it, it->handle, id);
	}
	put_acquisition(own, it, id);
}

void heap_footprint_ended(struct heap_footprint *footprint,
			  const struct observed_act *act)
{
	struct footprint *own;

	if (!is_block(act->act))
		return;
	own = of_act(footprint, act);
	switch (act->act->function->act) {
	case FAMILY_RELEASE:
		end_release(own, act);
		break;
	case FAMILY_RESIZE:
		end_resize(own, act);
		break;
	case FAMILY_ACQUIRE:
		end_acquisition(own, act);
		break;
	case FAMILY_REPLACE:
	case FAMILY_MOVE:
		break;
	}
}

/* What it was going to give back is held, as far as one knows. */
void heap_footprint_abandoned(struct heap_footprint *footprint,
			      const struct observed_act *act)
{
	const struct heap_act *it = act->act;
	bool resize = it->function->act == FAMILY_RESIZE;

	if (is_block(it) && act->token)
		settle(of_act(footprint, act), it,
		       resize ? it->old : it->handle, act->token);
}

/* ---- files ---- */

static void forget(struct heap_footprint *footprint, struct footprint *own)
{
	HASH_DEL(footprint->processes, own);
	for (size_t i = 0; i < own->families; i++)
		live_fini(&own->ids[i]);
	spool_fini(&own->spool);
	free(own->unused);
	free(own->ids);
	free(own);
}

int heap_footprint_new(const char *path, struct heap_footprint **ret)
{
	struct heap_footprint *footprint;
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct spool spool;
	int err = 0;

	/* That it can't be written is better known now than in an hour. */
	if (!path_pattern_expand(path, 0, &text)) {
		err = spool_open(&spool, strbuf_text(&text));
		if (!err)
			spool_fini(&spool);
	}
	if (err)
		return err;
	footprint = xcalloc(1, sizeof(*footprint));
	footprint->path = xstrdup(path);
	*ret = footprint;
	return 0;
}

void heap_footprint_free(struct heap_footprint *footprint)
{
	struct footprint *own, *next;

	if (!footprint)
		return;
	HASH_ITER(hh, footprint->processes, own, next)
		forget(footprint, own);
	free(footprint->path);
	free(footprint);
}

static int write_file(const struct heap_footprint *footprint,
		      struct footprint *own)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	CLEANUP(strbuf_fini) struct strbuf head = { 0 };
	int err = spool_rewind(&own->spool);
	bool predictable;

	if (err)
		return err;
	predictable = path_pattern_expand(footprint->path, own->pid, &path);
	strbuf_printf(&head, "%" PRIu64 "\n\n", own->calls);
	return whole_file_write_from(strbuf_text(&path), head.text, head.length,
				     own->spool.fd, predictable);
}

int heap_footprint_close(struct heap_footprint *footprint, pid_t pid)
{
	struct footprint *own = find_process(footprint, pid);
	int err;

	if (!own)
		own = add_process(footprint, pid);
	err = write_file(footprint, own);
	forget(footprint, own);
	return err;
}
